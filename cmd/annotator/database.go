package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"annotator"
	"annotator/corpus"
	"annotator/corpus/ingest"
	"annotator/policy"
	"annotator/storage"

	"github.com/spf13/pflag"
)

// databasePatterns match the names of runs' databases.
var databasePatterns = [...]string{
	"*.annotator.db", "*.annotator-*.db", "*.annotator.db" + storage.RescuedSuffix,
	"*.annotator-*.db" + storage.RescuedSuffix,
}

func databaseFlag(flags *pflag.FlagSet, path *string) {
	flags.StringVar(path, "db", "", "database `FILE` of the run; empty: the only one in this folder")
}

// databasesIn returns the databases of runs in a folder; none for anything else.
func databasesIn(folder string) (found []string, err error) {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return nil, nil
	}
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if isRunName(e.Name()) {
			found = append(found, filepath.Join(folder, e.Name()))
		}
	}
	return found, err
}

// isRunName reports whether the name of a file is that of a run's database.
func isRunName(name string) bool {
	return slices.ContainsFunc(databasePatterns[:], func(pattern string) bool {
		matches, _ := filepath.Match(pattern, name)
		return matches
	})
}

// findDatabase returns the named database, else the only one in the working folder.
func findDatabase(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	found, err := databasesIn(".")
	if err == nil && len(found) == 0 {
		return "", annotator.Errorf(annotator.NotFound, "there is no database (*.annotator.db) in this folder").
			WithAdvice("name one with --db, or start with `annotator run SOURCE`")
	}
	return onlyOne(found, "in this folder", err)
}

// onlyOne returns the only database of those found in a place, or an error that lists them.
func onlyOne(found []string, place string, err error) (string, error) {
	if err != nil || len(found) == 1 {
		return strings.Join(found, ""), err
	}
	const few = 5
	names := strings.Join(found[:min(len(found), few)], ", ")
	if len(found) > few {
		names += fmt.Sprintf(" and %d more", len(found)-few)
	}
	return "", annotator.Errorf(annotator.Misused, "there are several databases %s: %s", place, names).
		WithAdvice("name one or its story as the first argument, or with --db")
}

// findExisting is findDatabase, and refuses a file that is not there: commands that write would create it.
func findExisting(named string) (string, error) {
	path, err := findDatabase(named)
	if err == nil && !exists(path) {
		return "", annotator.Errorf(annotator.NotFound, "there is no database at %s", path).
			WithAdvice("name another with --db")
	}
	return path, err
}

// refuseDatabase refuses to overwrite a database with something else.
func refuseDatabase(out string) error {
	if !ingest.IsDatabase(out) {
		return nil
	}
	return annotator.Errorf(annotator.Misused, "%s is a database, and would be overwritten", out).
		WithAdvice("name another file")
}

// withDatabase opens a database for reading while body runs.
func withDatabase(ctx context.Context, named string, body func(*storage.DB) error) error {
	return withOpened(ctx, named, storage.Open, body)
}

// withWriter opens a database that exists for writing while body runs.
func (a *app) withWriter(ctx context.Context, named string, body func(*storage.DB) error) error {
	return withOpened(ctx, named, a.openWriter, body)
}

func withOpened(ctx context.Context, named string,
	open func(context.Context, string) (*storage.DB, error), body func(*storage.DB) error,
) error {
	path, err := findExisting(named)
	if err != nil {
		return err
	}
	db, err := open(ctx, path)
	if err != nil {
		return explainCorpus(ctx, path, err)
	}
	return cmp.Or(body(db), db.Close()) // not joined: the advice is printed on a separate line
}

// explainCorpus replaces the error for a file that is not a run's database if the file is a corpus.
func explainCorpus(ctx context.Context, path string, err error) error {
	if e := (*annotator.Error)(nil); !errors.As(err, &e) || e.Reason != annotator.ReasonForeignDatabase {
		return err
	}
	story, notCorpus := corpus.Open(ctx, path)
	if notCorpus != nil {
		return err
	}
	_ = story.Close()
	is := annotator.Errorf(annotator.Misused, "%s is a corpus, the story itself, and not the database of a run", path)
	if run := databaseOf(path); exists(run) {
		return is.WithAdvice("name the run's: --db %s", quoted(run))
	}
	return is.WithAdvice("name the database of a run of it, or start one with `annotator run %s`", quoted(path))
}

// autoCorpus names the corpus that the run was made from.
const autoCorpus = "auto"

// corpusFlag declares --corpus.
func corpusFlag(flags *pflag.FlagSet, path *string, usage string) {
	flags.StringVar(path, "corpus", autoCorpus, usage+"; auto: the run's own, at its path or beside the database")
}

// corpusOfRun returns the path of a run's corpus: the recorded path, or the folder of the database; "" if it is in
// neither. A file that this user can read takes precedence.
func corpusOfRun(run *storage.RunStatus, database string) string {
	moved := filepath.Join(filepath.Dir(database), baseName(run.Corpus.Path))
	found := ""
	for _, path := range []string{run.Corpus.Path, moved} {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		found = cmp.Or(found, path)
		if !info.Mode().IsRegular() { // opening a pipe would wait for its writer
			continue
		}
		if file, err := os.Open(path); err == nil {
			_ = file.Close()
			return path
		}
	}
	return found
}

// windowsRoot matches how an absolute path of Windows begins.
var windowsRoot = regexp.MustCompile(`^([A-Za-z]:[\\/]|\\\\)`)

// baseName returns the last element of an absolute path that was recorded on this system or another.
func baseName(path string) string {
	if windowsRoot.MatchString(path) {
		return path[strings.LastIndexAny(path, `\/`)+1:]
	}
	return filepath.Base(path)
}

// openCorpus opens the named corpus, else the run's own. It returns nil for a missing corpus, or an error if required.
func openCorpus(ctx context.Context, db *storage.DB, database, named string, required bool) (*corpus.DB, error) {
	if named != autoCorpus {
		return corpus.Open(ctx, named)
	}
	run, err := db.Run.Status(ctx)
	if err != nil {
		return nil, err
	}
	path := corpusOfRun(&run, database)
	if path == "" && required {
		return nil, annotator.Errorf(annotator.NotFound, "the corpus of %s is neither at %s nor beside it", database,
			run.Corpus.Path).
			WithAdvice("name it with --corpus, or make it again with `annotator import SOURCE --corpus FILE`")
	}
	if path == "" {
		return nil, nil
	}
	return corpus.Open(ctx, path)
}

// require reads the item that a flag selects, so that a mistyped number gives an error and not an empty answer. It
// accepts the zero value: the flag is not set.
func require[K comparable, T any](ctx context.Context, selected K, read func(context.Context, K) (T, error)) error {
	var none K
	if selected == none {
		return nil
	}
	_, err := read(ctx, selected)
	return err
}

// requireTool is called when no call was found: a model may also have called tools that do not exist.
func requireTool(name string) error {
	return requireKnown(name, append([]string{policy.SelectIntent}, toolNames()...),
		"there is no tool %q, and the model called none of that name", "the tools are %s")
}

// requireIntent is called when no call was found: another policy may have other intents than the default one.
func requireIntent(name string) error {
	names := []string{storage.NoIntent}
	for _, intent := range policy.Default().Intents(policy.Annotate) {
		names = append(names, intent.Name)
	}
	return requireKnown(name, names, "there is no intent %q, and the model declared none of that name",
		"the intents are %s")
}

// requireKnown returns NotFound for an unknown name. It accepts the empty name: the flag is not set.
func requireKnown(name string, known []string, missing, advice string) error {
	if name == "" || slices.Contains(known, name) {
		return nil
	}
	err := annotator.Errorf(annotator.NotFound, missing, name)
	if near := nearest(name, known); near != "" {
		return err.WithAdvice("did you mean %s?", near)
	}
	return err.WithAdvice(advice, strings.Join(known, ", "))
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"annotator"
	"annotator/corpus/ingest"
	"annotator/storage"
)

// corpusOf is where a source that has to be imported is imported to: beside it, under its name.
func corpusOf(source string) string { return stemOf(source) + ".corpus.db" }

// databaseOf is where the run of a source keeps its database: beside it, under its name.
func databaseOf(source string) string { return stemOf(source) + ".annotator.db" }

// stemOf is a source's path without what its name ends in. A folder's name has no such ending.
func stemOf(source string) string {
	source = filepath.Clean(source)
	if full, err := filepath.Abs(source); err == nil && !isName(filepath.Base(source)) {
		source = full
	}
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		return source
	}
	folder, name := filepath.Split(source)
	for _, ending := range []string{".corpus.db", filepath.Ext(name)} {
		if stem := strings.TrimSuffix(name, ending); stem != "" && stem != name {
			return folder + stem
		}
	}
	return source
}

// isName reports whether a path's last part names something: "." and ".." do not.
func isName(base string) bool { return base != "." && base != ".." }

// prepareCorpus returns the corpus that a run reads: the source itself where it is one, else what is imported from it.
func (o *runOptions) prepareCorpus(ctx context.Context) (string, error) {
	if ingest.IsDatabase(o.source) {
		return o.source, refuseRun(ctx, o.source)
	}
	target := o.corpus
	if target == "" {
		target = corpusOf(o.source)
	}
	report, err := ingest.Import(ctx, ingest.Options{
		Sources: []string{o.source}, Corpus: target, Format: ingest.Format(o.config.Format), Encoding: o.config.Encoding,
		SceneTokens: o.config.SceneTokens, Replace: o.reimport,
	}, o.progress.importing)
	if err != nil {
		return "", importAdvice(err)
	}
	if !report.Existing {
		o.progress.say(strings.TrimRight(clean(report.String()), "\n"))
	}
	return report.Corpus, nil
}

// refuseRun refuses the database of a run where a story is asked for. What is no such database, the reader of stories judges.
func refuseRun(ctx context.Context, source string) (refused error) {
	_ = withDatabase(ctx, source, func(db *storage.DB) error {
		run, err := db.Run.Status(ctx)
		if err == nil {
			story := cmp.Or(corpusOfRun(&run, source), run.Corpus.Path)
			refused = annotator.Errorf(annotator.Misused, "%s is the database of a run, not a story", source).
				WithAdvice("go on with it by `annotator run %s --db %s`", quoted(story), quoted(source))
		}
		return err
	})
	return refused
}

// importAdvice says what can be done about an import that cannot write beside its source.
func importAdvice(err error) error {
	if annotator.KindOf(err) != annotator.Storage || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return annotator.Errorf(annotator.Misused, "%w", err).WithAdvice("put the corpus elsewhere with --corpus, and the database with --db")
}

// prepareDatabase returns the database of the run. With --no-resume it is a new one, with --from-snapshot a branch.
func (o *runOptions) prepareDatabase(ctx context.Context) (string, error) {
	path := o.db
	if path == "" {
		path = databaseOf(o.source)
	}
	if o.fromSnapshot != 0 {
		return o.branch(ctx)
	}
	if !o.noResume || !exists(path) {
		return path, nil
	}
	if o.db != "" {
		return "", annotator.Errorf(annotator.Misused, "%s exists, and --no-resume begins a new database", path).
			WithAdvice("choose another name with --db, or leave --no-resume out to go on with it")
	}
	free := freeName(path)
	o.progress.say(fmt.Sprintf("%s is kept as it is; this run is in %s: go on with it by --db %s", path, free, quoted(free)))
	return free, nil
}

// branch makes the database that the run goes on in out of another, as that was at a snapshot.
func (o *runOptions) branch(ctx context.Context) (string, error) {
	from, to := o.fromDB, o.db
	if from == "" {
		from = databaseOf(o.source)
	}
	if to == "" {
		to = freeName(databaseOf(o.source))
	}
	err := untilSignal(ctx, func(ctx context.Context) error { return storage.Branch(ctx, from, to, o.fromSnapshot) })
	if err == nil {
		o.progress.say(fmt.Sprintf("%s is kept as it is; this run goes on from its snapshot %d in %s: go on with it by --db %s",
			from, o.fromSnapshot, to, quoted(to)))
	}
	return to, err
}

// checkBranch refuses what makes no sense with a branch, or without one.
func (o *runOptions) checkBranch() error {
	switch {
	case o.fromSnapshot < 0:
		return outOfRange("from-snapshot", "the number of a snapshot", o.fromSnapshot)
	case o.fromSnapshot != 0 && o.noResume:
		return annotator.Errorf(annotator.Misused, "--from-snapshot goes on with a run, --no-resume begins one").WithAdvice("leave one of them out")
	case o.fromSnapshot == 0 && o.fromDB != "":
		return annotator.Errorf(annotator.Misused, "--from-db is of use with --from-snapshot only")
	}
	return nil
}

// freeName counts up a database's name until nothing goes by it.
func freeName(path string) string {
	stem := strings.TrimSuffix(path, ".db")
	for n := 2; ; n++ {
		if free := fmt.Sprintf("%s-%d.db", stem, n); !exists(free) {
			return free
		}
	}
}

// corpusOfRun returns where the corpus of a run is: where it was, or beside the database that it was moved with; empty where it
// is in neither place.
func corpusOfRun(run *storage.RunStatus, database string) string {
	moved := filepath.Join(filepath.Dir(database), filepath.Base(run.Corpus.Path))
	for _, path := range []string{run.Corpus.Path, moved} {
		if exists(path) {
			return path
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// acceptable are the changes that a user can agree to with --accept.
var acceptable = [...]string{"model", "prompt", "counts"}

func accepted(named []string) (map[string]bool, error) {
	agreed := map[string]bool{}
	for _, name := range named {
		if !slices.Contains(acceptable[:], name) {
			return nil, annotator.Errorf(annotator.Misused, "--accept takes %s, not %q", strings.Join(acceptable[:], ", "), name)
		}
		agreed[name] = true
	}
	return agreed, nil
}

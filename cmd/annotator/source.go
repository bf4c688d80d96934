package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"annotator"
	"annotator/corpus/ingest"
	"annotator/storage"
)

// corpusOf returns the corpus that a source is imported into: in its folder, with its name.
func corpusOf(source string) string { return stemOf(source) + ".corpus.db" }

// databaseOf returns the database of a source's run: in its folder, with its name.
func databaseOf(source string) string { return stemOf(source) + ".annotator.db" }

// stemOf returns a file's path without its extension, or the path of a folder.
func stemOf(source string) string {
	source = filepath.Clean(source)
	if base := filepath.Base(source); base == "." || base == ".." {
		if full, err := filepath.Abs(source); err == nil {
			source = full
		}
	}
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		return source
	}
	folder, name := filepath.Split(source)
	for _, extension := range []string{".corpus.db", filepath.Ext(name)} {
		if stem := strings.TrimSuffix(name, extension); stem != "" && stem != name {
			return folder + stem
		}
	}
	return source
}

// requireSource returns an error if a source does not exist.
func requireSource(path string) error {
	if exists(path) {
		return nil
	}
	return annotator.Errorf(annotator.NotFound, "there is nothing at %s to read", path).
		WithAdvice("name a book, an archive, a folder of them or a corpus; `annotator import --help` says what " +
			"can be read")
}

// prepareCorpus returns the corpus of a run: the source itself if it is a database, else its import.
func (o *runOptions) prepareCorpus(ctx context.Context) (string, error) {
	if ingest.IsDatabase(o.source) {
		return o.source, refuseRunDatabase(ctx, o.source)
	}
	options := o.Import
	options.Sources, options.Corpus = []string{o.source}, cmp.Or(o.corpus, corpusOf(o.source))
	options.After, options.Replace, options.Convert = o.former.corpus, o.reimport, o.convert
	report, err := ingest.Import(ctx, options, o.progress.importing)
	if isReadOnly(err) && o.corpus == "" && o.db != "" {
		options.Corpus = filepath.Join(filepath.Dir(o.db), filepath.Base(options.Corpus))
		report, err = ingest.Import(ctx, options, o.progress.importing)
	}
	if e := (*annotator.Error)(nil); isReadOnly(err) && errors.As(err, &e) {
		return "", annotator.Errorf(annotator.Misused, "%w", e.Err).
			WithAdvice("put the database elsewhere with --db, and the corpus goes there, too, or where --corpus says")
	}
	if err != nil {
		return "", err
	}
	if !report.Existing {
		o.progress.say(strings.TrimRight(clean(reportText(report)), "\n"))
	}
	return report.Corpus, unread(report)
}

// isReadOnly reports whether an import failed because the folder of the corpus cannot be written.
func isReadOnly(err error) bool {
	return annotator.KindOf(err) == annotator.Storage &&
		(errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS))
}

// refuseRunDatabase refuses the database of a run as a story. The corpus reader reports other databases that are not a
// corpus.
func refuseRunDatabase(ctx context.Context, source string) (refused error) {
	_ = withDatabase(ctx, source, func(db *storage.DB) error {
		run, err := db.Run.Status(ctx)
		if err == nil {
			story := cmp.Or(corpusOfRun(&run, source), run.Corpus.Path)
			refused = annotator.Errorf(annotator.Misused, "%s is the database of a run, not a story", source).
				WithAdvice("resume it with `annotator run %s --db %s`", quoted(story), quoted(source))
		}
		return err
	})
	return refused
}

// databasePath returns where the database of the run is, or will be.
func (o *runOptions) databasePath() string { return cmp.Or(o.db, databaseOf(o.source)) }

// prepareDatabase returns the database of the run: with --no-resume a new one, with --from-snapshot a branch.
func (o *runOptions) prepareDatabase(ctx context.Context) (string, error) {
	path := o.databasePath()
	if o.fromSnapshot != 0 {
		return o.branch(ctx)
	}
	if !o.noResume {
		return o.resumeRescued(ctx, path)
	}
	if !exists(path) {
		return path, nil
	}
	if o.db != "" {
		return "", annotator.Errorf(annotator.Misused, "%s exists, and --no-resume starts a new database", path).
			WithAdvice("choose another name with --db, or leave out --no-resume to resume the run")
	}
	free := unusedName(path)
	o.progress.say(fmt.Sprintf("%s is kept; this run writes to %s: resume it with --db %s", path, free, quoted(free)))
	return free, nil
}

// branch copies a database as it was at a snapshot.
func (o *runOptions) branch(ctx context.Context) (string, error) {
	from, to := cmp.Or(o.fromDB, databaseOf(o.source)), o.db
	if to == "" {
		to = unusedName(databaseOf(o.source))
	}
	err := untilSignal(ctx, func(ctx context.Context) error { return storage.Branch(ctx, from, to, o.fromSnapshot) })
	if err == nil {
		o.progress.say(fmt.Sprintf("%s is kept; this run continues from its snapshot %d in %s: resume it with --db %s",
			from, o.fromSnapshot, to, quoted(to)))
	}
	return to, err
}

// checkBranch checks the flags of a branch.
func (o *runOptions) checkBranch() error {
	switch {
	case o.fromSnapshot != 0 && o.noResume:
		return annotator.Errorf(annotator.Misused, "--from-snapshot continues a run, --no-resume starts one").
			WithAdvice("leave out one of them")
	case o.fromSnapshot == 0 && o.fromDB != "":
		return annotator.Errorf(annotator.Misused, "--from-db requires --from-snapshot").
			WithAdvice("name the snapshot to branch from with it")
	}
	return nil
}

// unusedName numbers a database's name until no file has it.
func unusedName(path string) string {
	stem := strings.TrimSuffix(path, ".db")
	for n := 2; ; n++ {
		if name := fmt.Sprintf("%s-%d.db", stem, n); !exists(name) {
			return name
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Package ingest imports stories into a corpus: EPUB books, plain text, Markdown and HTML, posts as JSON lines, and the
// thread files of forum archives.
//
// A book's chapter becomes a thread. It is cut into scenes of a size that a model reads well, and each scene is one
// post. A forum's threads and posts are not changed. If nothing names the author of the story, it is the author of the
// opening post. The same sources and options always give the same rows: no clock and no randomness is involved.
//
// Sources come from anywhere. No part of an archive is written to disk. Sizes and nesting are limited as they are read.
// What cannot be used is left out, and the Report says so: nothing is dropped silently.
//
// The importer of a book's format makes nodes: paragraphs, breaks and headings, with the evidence that the format has
// (node.go). One outline decides for all formats what begins a chapter (outline.go), which parts are not the story
// (contents.go, matter.go), and what the chapters are (assemble.go). The words of headings are data (wording.json). An
// account counts each character as kept or as left out (account.go).
package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"annotator"
	"annotator/corpus"
	"annotator/internal/atomicfile"
)

// Format is what a source is written in.
type Format string

// The formats. Auto recognises them by content, and by the file's name only if the content does not show it.
const (
	Auto   Format = "auto"
	EPUB   Format = "epub"
	Text   Format = "text" // plain text and Markdown
	HTML   Format = "html" // a book in one page
	FB2    Format = "fb2"  // a FictionBook
	JSONL  Format = "jsonl"
	Board  Format = "board"  // {"posts": [...]}, a thread as imageboards publish it
	SQLite Format = "sqlite" // a corpus: it needs no import
)

// Formats lists them all.
func Formats() []Format { return []Format{Auto, EPUB, Text, HTML, FB2, JSONL, Board, SQLite} }

// DefaultSceneTokens is the size of a book's scenes.
const DefaultSceneTokens = 1500

// Options say what to import.
type Options struct {
	// files and folders, in the story's order; of a folder, its story files by name
	Sources     []string
	Corpus      string   // the file to make
	Format      Format   // of all sources; "" is Auto
	Encoding    string   // of all sources, by its name on the web ("windows-1252"); "" finds out
	SceneTokens int      // towards which a book's scenes are cut, estimated; 0 is DefaultSceneTokens
	Replace     bool     // an import that is there already
	Keep        []string // parts of books to take in after all, of Parts
	StoryAuthor string   // of a forum, by name, trip code or id; "" detects the author

	// Check is asked about the finished corpus before it is put in its place. What was there stays where it returns an
	// error. It may be nil.
	Check func(ctx context.Context, path string) error
}

// Progress says how far an import has come.
type Progress struct {
	Source      string
	Done, Total int64 // bytes of all sources
}

// importerVersion is increased when the same source gives other rows than before. A corpus of another version is
// refused.
const importerVersion = "4"

// digestForm begins what is hashed.
const digestForm = "1"

// Import makes the corpus. It appears under its name when it is complete. An existing file is kept. If it is the same
// import, its report is returned. If not, the error is annotator.Misused, unless Options.Replace is set. A single
// source that is a corpus already is not copied; the report then names it as the corpus to use. Progress may be nil.
func Import(ctx context.Context, o Options, progress func(Progress)) (*Report, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if len(o.Sources) == 1 && IsDatabase(o.Sources[0]) {
		return reportOf(ctx, o.Sources[0])
	}
	found := &Report{}
	sources, err := findSources(o, found)
	if err != nil {
		return nil, err
	}
	sum, err := digestsOf(ctx, o, sources)
	if err != nil {
		return nil, err
	}
	if report, err := existing(ctx, o, sum); report != nil || err != nil {
		return report, err
	}
	return build(ctx, o, sources, found, sum, progress)
}

// IsDatabase reports whether a regular file is a SQLite database: a corpus then, or nothing that can be imported.
func IsDatabase(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false // to open a pipe would wait for its other end
	}
	head, err := readHead(path)
	return err == nil && isDatabase(head)
}

func (o *Options) complete() error {
	switch {
	case len(o.Sources) == 0:
		return annotator.Errorf(annotator.Misused, "there is nothing to import").WithAdvice("name a file or a folder")
	case o.Corpus == "":
		return annotator.Errorf(annotator.Misused,
			"no corpus is named to import into").WithReason(annotator.ReasonNoCorpusNamed)
	case o.SceneTokens < 0:
		return annotator.Errorf(annotator.Misused, "a scene cannot have %d tokens", o.SceneTokens)
	}
	if o.Format == "" {
		o.Format = Auto
	}
	if !slices.Contains(Formats(), o.Format) {
		return annotator.Errorf(annotator.Misused, "there is no format %q", o.Format).WithAdvice("the formats are %v",
			Formats())
	}
	if o.SceneTokens == 0 {
		o.SceneTokens = DefaultSceneTokens
	}
	for _, part := range o.Keep {
		if !slices.Contains(Parts(), part) {
			return annotator.Errorf(annotator.Misused, "there is no part %q to keep",
				part).WithAdvice("the parts are %s", strings.Join(Parts(), ", "))
		}
	}
	o.Keep = slices.Compact(slices.Sorted(slices.Values(o.Keep)))
	return checkEncoding(o.Encoding)
}

// digests has the hash of everything that determines the result of an import, and the hash of its sources, after their
// names. Two imports with one digest give one corpus.
type digests struct{ all, sources string }

func digestsOf(ctx context.Context, o Options, sources []source) (digests, error) {
	var files []byte
	for _, s := range sources {
		sum, err := s.digest(ctx)
		if err != nil {
			return digests{}, err
		}
		files = fmt.Appendf(files, "%q %x\n", filepath.Base(s.path), sum)
	}
	with := func(o Options) string {
		all := fmt.Appendf(nil, "%s %q %q %d\n", digestForm, o.Format, o.Encoding, o.SceneTokens)
		if len(o.Keep) > 0 || o.StoryAuthor != "" {
			all = fmt.Appendf(all, "%q %q\n", o.Keep, o.StoryAuthor)
		}
		sum := sha256.Sum256(append(all, files...))
		return hex.EncodeToString(sum[:])
	}
	return digests{with(o), namesOf(o) + with(Options{})}, nil
}

// namesOf is the beginning of a digest of sources: one with other names is of another story.
func namesOf(o Options) string {
	var names []string
	for _, path := range o.Sources {
		names = append(names, filepath.Base(path))
	}
	return fmt.Sprintf("%q ", names)
}

// refuseChanged compares the sources with their digest after they were read. A source that is written to at the same
// time would be imported in part, or in two states.
func refuseChanged(ctx context.Context, o Options, before digests) error {
	sources, err := findSources(o, &Report{})
	now := digests{}
	if err == nil {
		now, err = digestsOf(ctx, o, sources)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, annotator.NotFound) {
		return err
	}
	if err != nil || now.sources != before.sources {
		return annotator.Errorf(annotator.Misused, "%s changed while it was imported", sourceNames(o.Sources)).
			WithAdvice("import it again when nothing writes to it")
	}
	return nil
}

// existing examines a file with the corpus' name. Only a corpus that an import made may ever be replaced.
func existing(ctx context.Context, o Options, now digests) (*Report, error) {
	if _, err := os.Lstat(o.Corpus); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	db, err := corpus.Open(ctx, o.Corpus)
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "%s exists and is no corpus: %w", o.Corpus, err).
			WithReason(annotator.ReasonCorpusTaken)
	}
	before, err := db.Meta(ctx, corpus.MetaDigest)
	version, versionErr := db.Meta(ctx, corpus.MetaImporter)
	content, contentErr := db.Meta(ctx, corpus.MetaSources)
	if err := errors.Join(err, versionErr, contentErr, db.Close()); err != nil {
		return nil, err
	}
	switch {
	case before == now.all && version == importerVersion:
		return reportOf(ctx, o.Corpus)
	case before == "":
		return nil, annotator.Errorf(annotator.Misused, "%s exists and was not made by an import", o.Corpus).
			WithReason(annotator.ReasonCorpusTaken)
	case !o.Replace && version != importerVersion:
		return nil, annotator.Errorf(annotator.Misused, "%s was imported by another version of this program", o.Corpus).
			WithReason(annotator.ReasonOtherImport)
	case !o.Replace && strings.HasPrefix(content, namesOf(o)) && content != now.sources:
		return nil, annotator.Errorf(annotator.Misused, "%s has changed since %s was made of it",
			sourceNames(o.Sources), o.Corpus).
			WithReason(annotator.ReasonSourceChanged)
	case !o.Replace:
		return nil, annotator.Errorf(annotator.Misused, "%s exists and holds another import", o.Corpus).
			WithReason(annotator.ReasonOtherImport)
	}
	return nil, nil
}

// build writes the corpus to another file in the same folder, and renames it when it is complete.
func build(ctx context.Context, o Options, sources []source, report *Report, sum digests,
	progress func(Progress),
) (*Report, error) {
	file, err := atomicfile.Create(o.Corpus)
	if err != nil {
		return nil, annotator.Errorf(annotator.Storage, "make the corpus %s: %w", o.Corpus, atomicfile.Cause(err)).
			WithAdvice("check that its folder exists and can be written")
	}
	defer file.Discard()
	j := &job{options: o, report: report, progress: newMeter(sources, progress)}
	err = j.write(ctx, file.Path, sources, sum)
	if ctx.Err() == nil {
		// What is wrong with a source that changed is not what is wrong with the story.
		err = cmp.Or(refuseChanged(ctx, o, sum), err)
	}
	if err != nil {
		return nil, err
	}
	if err := count(ctx, file.Path, report); err != nil {
		return nil, err
	}
	if report.StoryPosts == 0 {
		return nil, report.nothingFound("found no story in %s", sourceNames(o.Sources))
	}
	if o.Check != nil {
		if err := o.Check(ctx, file.Path); err != nil {
			return nil, err
		}
	}
	if err := file.Commit(); err != nil {
		return nil, annotator.Errorf(annotator.Storage, "put the corpus in its place: %w", err)
	}
	report.Corpus = o.Corpus
	return report, nil
}

func (j *job) write(ctx context.Context, path string, sources []source, sum digests) error {
	var err error
	if j.writer, err = corpus.Create(ctx, path); err != nil {
		return err
	}
	if err := j.run(ctx, sources); err != nil {
		return abandon(j.writer, err)
	}
	said, err := json.Marshal(j.report)
	if err != nil {
		return abandon(j.writer, err)
	}
	for key, value := range map[string]string{
		corpus.MetaTitle:    j.report.Title,
		corpus.MetaAuthor:   j.report.Author,
		corpus.MetaDigest:   sum.all,
		corpus.MetaSources:  sum.sources,
		corpus.MetaReport:   string(said),
		corpus.MetaImporter: importerVersion,
	} {
		if err := j.writer.Meta(ctx, key, value); err != nil {
			return abandon(j.writer, err)
		}
	}
	return j.writer.Close(ctx)
}

// abandon gives up the draft for an error, which stays as it is: its advice is shown on a line of its own.
func abandon(w *corpus.Writer, err error) error {
	_ = w.Abort()
	return err
}

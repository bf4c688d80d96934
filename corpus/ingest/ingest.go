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
	TEI    Format = "tei"  // a text encoded as the guidelines of the TEI say
	DOCX   Format = "docx" // a Word document
	ODT    Format = "odt"  // an OpenDocument text
	RTF    Format = "rtf"
	MOBI   Format = "mobi" // a Kindle book: MOBI or AZW3
	PDF    Format = "pdf"  // a PDF document with text
	JSONL  Format = "jsonl"
	Board  Format = "board"  // {"posts": [...]}, a thread as imageboards publish it
	SQLite Format = "sqlite" // a corpus: it needs no import
)

// Formats lists them all.
func Formats() []Format {
	return []Format{Auto, EPUB, Text, HTML, FB2, TEI, DOCX, ODT, RTF, MOBI, PDF, JSONL, Board, SQLite}
}

// DefaultSceneTokens is the size of a book's scenes.
const DefaultSceneTokens = 1500

// Options say what to import.
type Options struct {
	// files and folders, in the story's order; of a folder, its story files by name
	Sources     []string
	Corpus      string   // the file to make
	Format      Format   // of all sources; "" is Auto
	Encoding    string   // of all sources, by its name on the web ("windows-1252"); "" finds out
	Convert     string   // the program of Converters that converts all sources first; "" for none
	SceneTokens int      // towards which a book's scenes are cut, estimated; 0 is DefaultSceneTokens
	After       string   // the corpus of the books before, for the next book of a series; "" for none
	Replace     bool     // whatever another import has made
	Keep        []string // parts of books to take in after all, of Parts
	// of a forum, by names, trip codes or ids that are one author; nil detects the author
	StoryAuthors []string
}

// Progress says how far an import has come.
type Progress struct {
	Source      string
	Done, Total int64 // bytes of all sources
}

// importerVersion is increased when the same source gives other rows than before. A corpus of another version is used
// as it is, and takes no changes of its source.
const importerVersion = "10"

// digestForm begins what is hashed.
const digestForm = "1"

// Import makes the corpus. It appears under its name when it is complete. If it was made of the same sources with the
// same options, it is kept, and the report has no counts. If the sources have changed since, it takes what is new, and
// keeps the former text: see corpus.Merge. Any other file is kept, and the error is annotator.Misused; Options.Replace
// replaces one that an import has made. A single source that is a corpus already is not copied; the report then names
// it as the corpus to use. Progress may be nil.
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
	there, report, err := existing(ctx, o, sum)
	if err != nil || report != nil {
		atomicfile.RemoveStale(o.Corpus) // a process that is killed after its rename leaves its lock
		return report, err
	}
	return build(ctx, o, sources, found, sum, there, progress)
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
	switch {
	case o.Convert == "":
	case !slices.Contains(Converters(), o.Convert):
		return annotator.Errorf(annotator.Misused, "there is no converter %q", o.Convert).
			WithAdvice("the converters are %s", strings.Join(Converters(), ", "))
	case o.Format != Auto:
		return annotator.Errorf(annotator.Misused, "a source that %s converts is not in the format %s", o.Convert,
			o.Format).WithAdvice("name a format or a converter, not both")
	}
	for _, part := range o.Keep {
		if !slices.Contains(Parts(), part) {
			return annotator.Errorf(annotator.Misused, "there is no part %q to keep",
				part).WithAdvice("the parts are %s", strings.Join(Parts(), ", "))
		}
	}
	o.Keep = slices.Compact(slices.Sorted(slices.Values(o.Keep)))
	o.StoryAuthors = slices.Compact(slices.Sorted(slices.Values(o.StoryAuthors)))
	return checkEncoding(o.Encoding)
}

// digests are the hash of the options that determine the result of an import, and that of its sources, after their
// names. Two imports with the same digests give the same corpus.
type digests struct{ options, sources string }

func digestsOf(ctx context.Context, o Options, sources []source) (digests, error) {
	var files []byte
	for _, s := range sources {
		sum, err := s.digest(ctx)
		if err != nil {
			return digests{}, err
		}
		files = fmt.Appendf(files, "%q %x\n", filepath.Base(s.path), sum)
	}
	options := fmt.Appendf(nil, "%s %q %q %d\n", digestForm, o.Format, o.Encoding, o.SceneTokens)
	if len(o.Keep) > 0 || len(o.StoryAuthors) > 0 {
		options = fmt.Appendf(options, "%q %q\n", o.Keep, strings.Join(o.StoryAuthors, "\n"))
	}
	if o.Convert != "" {
		options = fmt.Appendf(options, "convert %s\n", o.Convert)
	}
	hash := func(data []byte) string {
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:])
	}
	return digests{hash(options), namesOf(o) + hash(files)}, nil
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

// presence is what is there under the name of the corpus.
type presence string

const (
	absent   presence = "nothing"
	outdated presence = "a corpus of the source as it was before"
	other    presence = "a corpus that is to be replaced"
)

// existing examines a file with the corpus' name. Only a corpus that an import made may ever be replaced. The report is
// that of a corpus that is to be used as it is; else it is nil.
func existing(ctx context.Context, o Options, now digests) (presence, *Report, error) {
	if _, err := os.Lstat(o.Corpus); errors.Is(err, fs.ErrNotExist) {
		return absent, nil, nil
	}
	db, err := corpus.Open(ctx, o.Corpus)
	if err != nil {
		return "", nil, annotator.Errorf(annotator.Misused, "%s exists and is no corpus: %w", o.Corpus, err).
			WithReason(annotator.ReasonCorpusTaken)
	}
	var before digests
	var errs [3]error
	before.options, errs[0] = db.Meta(ctx, corpus.MetaOptions)
	before.sources, errs[1] = db.Meta(ctx, corpus.MetaSources)
	version, err := db.Meta(ctx, corpus.MetaImporter)
	errs[2] = err
	if err := errors.Join(append(errs[:], db.Close())...); err != nil {
		return "", nil, err
	}
	switch {
	case before == now && (version == importerVersion || !o.Replace):
		report, err := reportOf(ctx, o.Corpus)
		return "", report, err
	case before.options == "":
		return "", nil, annotator.Errorf(annotator.Misused, "%s exists and was not made by an import", o.Corpus).
			WithReason(annotator.ReasonCorpusTaken)
	case o.Replace:
		return other, nil, nil
	case !strings.HasPrefix(before.sources, namesOf(o)):
		return "", nil, annotator.Errorf(annotator.Misused, "%s exists and holds another import", o.Corpus).
			WithReason(annotator.ReasonOtherImport)
	case before.options != now.options:
		return "", nil, annotator.Errorf(annotator.Misused, "%s was imported with other options", o.Corpus).
			WithReason(annotator.ReasonOtherImport)
	case version != importerVersion:
		return "", nil, annotator.Errorf(annotator.Misused,
			"%s has changed, and %s was imported by another version of this program", sourceNames(o.Sources), o.Corpus).
			WithReason(annotator.ReasonOtherImport)
	}
	return outdated, nil, nil
}

// build writes the corpus to another file in the same folder, and renames it when it is complete.
func build(ctx context.Context, o Options, sources []source, report *Report, sum digests, there presence,
	progress func(Progress),
) (*Report, error) {
	file, err := atomicfile.Create(o.Corpus)
	if err != nil {
		return nil, annotator.Errorf(annotator.Storage, "make the corpus %s: %w", o.Corpus, atomicfile.Cause(err)).
			WithAdvice("check that its folder exists and can be written")
	}
	defer file.Discard()
	j := &job{options: o, report: report, progress: newMeter(sources, progress)}
	if there == outdated {
		if j.former, err = readCuts(ctx, o.Corpus); err != nil {
			return nil, err
		}
	}
	err = j.write(ctx, file.Path, sources, sum)
	if ctx.Err() == nil {
		// What is wrong with a source that changed is not what is wrong with the story.
		err = cmp.Or(refuseChanged(ctx, o, sum), err)
	}
	if err != nil {
		return nil, err
	}
	if err := report.Count(ctx, file.Path); err != nil {
		return nil, err
	}
	if report.StoryPosts == 0 {
		return nil, report.nothingFound("found no story in %s", sourceNames(o.Sources))
	}
	if there == outdated {
		merged, err := merge(ctx, o, file.Path, report)
		if err != nil {
			return nil, err
		}
		defer merged.Discard()
		file.Discard()
		file = merged
	}
	if there != outdated && o.After != "" {
		series, err := atomicfile.Create(o.Corpus)
		if err != nil {
			return nil, annotator.Errorf(annotator.Storage, "make the corpus %s: %w", o.Corpus, atomicfile.Cause(err))
		}
		defer series.Discard()
		if err := corpus.Append(ctx, o.After, file.Path, series.Path); err != nil {
			return nil, err
		}
		file.Discard()
		file = series
	}
	if err := file.Commit(); err != nil {
		return nil, annotator.Errorf(annotator.Storage, "put the corpus in its place: %w", err)
	}
	report.Corpus = o.Corpus
	return report, nil
}

// merge makes a file of the corpus that is there and of a draft, which is the corpus of the changed source.
func merge(ctx context.Context, o Options, draft string, report *Report) (*atomicfile.File, error) {
	file, err := atomicfile.Create(o.Corpus)
	if err != nil {
		return nil, annotator.Errorf(annotator.Storage, "make the corpus %s: %w", o.Corpus, atomicfile.Cause(err))
	}
	changes, err := corpus.Merge(ctx, o.Corpus, draft, file.Path)
	if err == nil {
		report.Changes = &changes
		err = report.Count(ctx, file.Path)
	}
	if err != nil {
		file.Discard()
		return nil, changedError(err, o)
	}
	return file, nil
}

// changedError names the source of another story.
func changedError(err error, o Options) error {
	e := (*annotator.Error)(nil)
	if !errors.As(err, &e) || e.Reason != annotator.ReasonOtherStory {
		return err
	}
	return annotator.Errorf(annotator.Misused, "%s holds another story than %s was made of: %w", sourceNames(o.Sources),
		o.Corpus, e.Err).WithReason(annotator.ReasonOtherStory)
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
		corpus.MetaOptions:  sum.options,
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

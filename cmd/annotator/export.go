package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"annotator"
	"annotator/exporters"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
)

// exportOptions are the options of `annotator export`.
type exportOptions struct {
	*app
	format string
	out    string
	asOf   string
	filter *filter
	corpus string
	book   string
	edit   bool
	yes    bool
	query  string // selects what a search finds; empty: all
}

func newExport(a *app) *cobra.Command {
	o := &exportOptions{app: a}
	names, list := formats()
	cmd := &cobra.Command{
		Use:   "export [QUERY]",
		Short: "Write the codex as a file for other programs",
		Long: longHelp(`
Write the codex in the format of another program: every live entry with its names, its facts and the quotations that
support them. The same codex always gives the same bytes. With --as-of, export the codex as it was at a point of the
story, without anything that is told later.

A file is written whole or not at all. A format of several files is written to a folder, or to an archive if the name
ends in .zip. A folder is exported to again without a loss: files that you have added stay, and if you have changed one
of the export's, nothing is written. docs/formats.md describes each format, and what reads it.

With --edit, the editor of VISUAL or EDITOR opens on what a search for QUERY finds, or on all of the codex, as yaml,
json or names. What you change there is shown and applied as by import-edits.

The formats:
`+list, exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator export --format json -o book.json
  annotator export --db book.annotator.db --format yaml --tag person
  annotator export --format json --status all | jq .count
  annotator export --format json --as-of scene:40
  annotator export --format world-info --as-of thread:12 -o book-until-12.json
  annotator export --format csv -o tables.zip
  annotator export --format yaml --edit "old harbour"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.edit {
				return nil
			}
			return arguments(0, 0)(cmd, args)
		},
		// Before the database is opened: closing a second descriptor of the same file would release SQLite's locks.
		PreRunE: func(*cobra.Command, []string) error { return refuseDatabase(o.out) },
	}
	flags := cmd.Flags()
	wordFlag(flags, &o.format, "format", names, "", "`FORMAT`: "+alternatives(names))
	flags.StringVarP(&o.out, "output", "o", "-",
		"`FILE` to write, or the folder of a format of several files; - is standard output")
	asOfFlag(flags, &o.asOf)
	corpusFlag(flags, &o.corpus, "corpus `FILE` of the formats that hold text of the story")
	flags.StringVar(&o.book, "book", "",
		"the `EPUB` that the story was imported from; empty: the one beside the corpus")
	flags.BoolVar(&o.edit, "edit", false, "open an editor, and apply what is changed there")
	flags.BoolVarP(&o.yes, "yes", "y", false, "with --edit: apply without a question")
	o.filter = filterFlags(flags)
	return onRun(cmd, func(ctx context.Context, named string, args []string) error {
		path, err := findDatabase(named)
		switch {
		case err != nil:
			return err
		case o.edit:
			return o.editInEditor(ctx, path, strings.Join(args, " "))
		}
		return withDatabase(ctx, path, func(db *storage.DB) error { return o.run(ctx, db) })
	})
}

// formats returns the names of the formats, and a list of them for the help.
func formats() (names []string, list string) {
	for _, f := range exporters.All() {
		names = append(names, f.Name)
		list += fmt.Sprintf("\n  %-14s %s", f.Name, f.About)
	}
	return names, list
}

func (o *exportOptions) run(ctx context.Context, db *storage.DB) error {
	if o.out == "" {
		return annotator.Errorf(annotator.Misused, "there is no file to export to").
			WithAdvice("name one with -o, or leave out -o for standard output")
	}
	format, err := exporters.ByName(o.format)
	if err != nil {
		return err
	}
	shown, codex, err := o.read(ctx, db)
	if err != nil {
		return err
	}
	if !format.Story {
		return o.write(ctx, &format, codex)
	}
	posts, err := openCorpus(ctx, db, db.Path(), o.corpus, true)
	if err != nil {
		return err
	}
	codex.Book = cmp.Or(o.book, bookOf(posts.Path()))
	codex.Text = &storyText{view: shown, corpus: posts}
	return cmp.Or(o.write(ctx, &format, codex), posts.Close())
}

// read returns what the user has selected of the codex.
func (o *exportOptions) read(ctx context.Context, db *storage.DB) (*view.View, *exporters.Codex, error) {
	run, err := db.Run.Status(ctx)
	if err != nil {
		return nil, nil, err
	}
	shown, err := viewAt(ctx, db, o.asOf)
	if err != nil {
		return nil, nil, err
	}
	selection := exporters.Selection{}
	if selection.Statuses, selection.Tags, err = o.filter.resolve(); err != nil {
		return nil, nil, err
	}
	document, err := documentOf(ctx, db, shown, &run.Corpus, &selection)
	if err != nil {
		return nil, nil, err
	}
	if document.Count == 0 {
		if err := o.filter.explainNone(ctx, shown, selection.Tags); err != nil {
			return nil, nil, err
		}
	}
	if err := o.keepFound(ctx, shown, &selection, document); err != nil {
		return nil, nil, err
	}
	codex := &exporters.Codex{
		Document: document, Selection: selection, History: shown, Name: storyName(run.Corpus.Path),
		Updated: time.UnixMilli(run.Updated),
	}
	if codex.Former, err = shown.FormerPosts(ctx); err != nil {
		return nil, nil, err
	}
	for i := range document.Entries {
		document.Entries[i].MarkFormer(codex.Former)
	}
	codex.Scenes, err = db.Scenes.Orders(ctx)
	return shown, codex, err
}

// keepFound keeps the entries of a document that a search for the query finds.
func (o *exportOptions) keepFound(ctx context.Context, shown *view.View, selection *exporters.Selection,
	document *exporters.Document,
) error {
	if o.query == "" {
		return nil
	}
	page, err := shown.Find(ctx, annotator.Query{Text: o.query, Tags: selection.Tags, Statuses: selection.Statuses})
	found := map[int64]bool{}
	for i := range page.Entries {
		found[page.Entries[i].ID] = true
	}
	document.Entries = slices.DeleteFunc(document.Entries, func(e exporters.Entry) bool { return !found[e.ID] })
	document.Count = len(document.Entries)
	return err
}

// bookOf returns the path of the book in the folder of the corpus that was imported from it.
func bookOf(corpus string) string {
	return filepath.Join(filepath.Dir(corpus), storyName(corpus)+".epub")
}

// storyName returns the name of a corpus without its extensions, which is the name of its book.
func storyName(corpus string) string {
	name := baseName(corpus)
	return strings.TrimSuffix(strings.TrimSuffix(name, filepath.Ext(name)), ".corpus")
}

// write writes a codex to the file, the folder or the standard output that the user named.
func (o *exportOptions) write(ctx context.Context, format *exporters.Format, codex *exporters.Codex) error {
	if format.WriteFiles != nil && !isStdout(o.out) && !strings.EqualFold(filepath.Ext(o.out), ".zip") {
		return format.WriteFolder(ctx, o.out, codex)
	}
	write := func(w io.Writer) error { return format.WriteOne(ctx, w, codex) }
	if !isStdout(o.out) {
		return exporters.WriteFile(o.out, write)
	}
	if !o.isTerminal(o.app.out) {
		return write(o.app.out)
	}
	if format.WriteFiles != nil {
		return annotator.Errorf(annotator.Misused, "the format %s has several files, and standard output is a terminal",
			format.Name).
			WithAdvice("name a folder or a zip archive: -o codex or -o codex.zip")
	}
	var text strings.Builder // a terminal gets clean text, a program the exact bytes
	if err := write(&text); err != nil {
		return err
	}
	fmt.Fprint(o.app.out, clean(text.String()))
	return nil
}

// isStdout reports whether the value of -o means standard output.
func isStdout(out string) bool { return out == "-" || out == "/dev/stdout" }

// documentOf returns the entries of a view that the user has selected.
func documentOf(ctx context.Context, db *storage.DB, shown *view.View, c *storage.Corpus,
	selection *exporters.Selection,
) (*exporters.Document, error) {
	entries, err := allEntries(ctx, shown)
	if err != nil {
		return nil, err
	}
	totals, err := shown.Totals(ctx)
	if err != nil {
		return nil, err
	}
	at := view.NewPositions(ctx, db)
	story := exporters.Story{Title: c.Title, CorpusHash: c.Hash, Threads: totals.Threads, Scenes: totals.Scenes}
	document := exporters.Build(story, exporters.Select(entries, selection.Statuses, selection.Tags), at.At)
	document.AsOf = positionOf(shown, at)
	threads, err := shown.Threads(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range threads {
		document.Chapters = append(document.Chapters, exporters.Chapter{
			Thread: t.ID, Title: t.Title, FromScene: t.First, ToScene: t.Last,
		})
	}
	document.Summaries, err = summaries(ctx, shown)
	return &document, cmp.Or(err, at.Err)
}

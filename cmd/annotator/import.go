package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"annotator"
	"annotator/corpus"
	"annotator/corpus/ingest"

	"github.com/spf13/cobra"
)

// importOptions are the options of `annotator import`.
type importOptions struct {
	*app
	ingest.Options
	list bool
}

func newImport(a *app) *cobra.Command {
	o := &importOptions{app: a}
	cmd := &cobra.Command{
		Use:   "import SOURCE...",
		Short: "Make a corpus from books or forum archives",
		Long: longHelp(`
Make a corpus database from books (EPUB, Kindle, PDF, Word, OpenDocument, RTF, TEI, text, Markdown, HTML,
FictionBook), also in archives (zip, tar, gzip), or from posts of a forum (JSON lines, thread files, chats).
The report lists what was left out, how much that is and how it begins; --keep takes a part in after all.
--list shows the chapters of the result and writes nothing.

A folder stands for all story files below it, in the order of its SUMMARY.md or Book.txt, else of the weights in their
front matter, else in the natural order of their names (2 before 10, a prologue first, an epilogue last). Hidden
files, images, databases, exports of annotator and other files without a story are left out; text is read from files
with the extension .txt, .text, .md or .markdown, or without one. With --format, every file that can be in that format
is read. A file that is named itself is always read. In the repository of a novel, the series of numbered files with
the most prose is the story; drafts, translations, plots and notes beside it are left out and listed.

--convert has an installed pandoc or ebook-convert (of calibre) convert a file in another format first.

A file that cannot be read ends the import. In an archive, a file whose name is not numbered as others are is left out
and reported; the exit status is 2 all the same, and run begins only if the corpus is named.

A chapter becomes a thread that is cut into scenes; the threads of a forum stay as they are. The same sources and
options give the same corpus. If the sources have changed, the corpus takes what is new, and keeps the former text.
--reimport replaces it as a whole, also by another story.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator import book.epub
  annotator import book.txt --list
  annotator import book.txt --corpus book.corpus.db --keep dedication
  annotator import old.txt --corpus old.corpus.db --encoding windows-1252
  annotator import threads/ --corpus quest.corpus.db --format board
  annotator import book.tex --convert pandoc`,
		Args: arguments(1, unlimited),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Corpus, "corpus", "",
		"`FILE` to make; empty: beside the SOURCE, with its name, where there is one only")
	importFlags(flags, &o.Options)
	flags.BoolVar(&o.list, "list", false, "show the chapters of the result and write nothing")
	convertFlag(flags, &o.Convert)
	reimportFlag(flags, &o.Replace)
	var asJSON bool
	jsonFlag(flags, &asJSON)
	return untilSignalled(cmd, func(ctx context.Context, args []string) error {
		o.Sources = args
		made, err := o.run(ctx)
		if err != nil {
			return err
		}
		return cmp.Or(a.printResult(made, asJSON), unread(made.Report))
	})
}

// unread is the error of an import that found files which it could not read; nil if there were none.
func unread(r *ingest.Report) error {
	if r.Unread == 0 {
		return nil
	}
	return annotator.Errorf(annotator.Misused, "%s of the source cannot be read; the corpus has the others",
		annotator.Quantity(r.Unread, "file")).
		WithAdvice("put whole copies in their place, or read the others: annotator run %s", quoted(r.Corpus))
}

func (o *importOptions) run(ctx context.Context) (*imported, error) {
	for _, source := range o.Sources {
		if err := requireSource(source); err != nil {
			return nil, err
		}
	}
	p := newProgress(o.app, false, 0)
	defer p.close()
	if o.list {
		report, chapters, err := ingest.List(ctx, o.Options, p.importing)
		if err != nil {
			return nil, err
		}
		report.Corpus = "nothing written"
		return &imported{report, "", false, report.Stats, chapters}, nil
	}
	if len(o.Sources) == 1 {
		o.Corpus = cmp.Or(o.Corpus, corpusOf(o.Sources[0]))
	}
	report, err := ingest.Import(ctx, o.Options, p.importing)
	if err == nil && report.Existing {
		err = report.Count(ctx, report.Corpus)
	}
	if err != nil {
		return nil, err
	}
	return &imported{report, report.Corpus, report.Existing, report.Stats, nil}, nil
}

// reportText returns the report of an import with advice.
func reportText(r *ingest.Report) string {
	text := r.String()
	for _, reason := range r.Unsure {
		text += advice(reason, nil) + "\n"
	}
	return text
}

// imported is what import prints.
type imported struct {
	*ingest.Report
	Corpus   string          `json:"corpus"`
	Existing bool            `json:"existing"` // it was there before, and nothing was written
	Stats    corpus.Stats    `json:"contents"`
	Chapters []ingest.Listed `json:"chapters,omitempty"` // only with --list
}

func (i *imported) print(w io.Writer) {
	for n, c := range i.Chapters {
		fmt.Fprintf(w, "%4d  %7d words  %s: %s\n", n+1, c.Words, clean(c.Title), clean(c.Begins))
	}
	fmt.Fprint(w, wrapLines(clean(reportText(i.Report)), terminalWidth(w)))
}

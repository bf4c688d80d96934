package main

import (
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
	json bool
}

func newImport(a *app) *cobra.Command {
	o := &importOptions{app: a}
	cmd := &cobra.Command{
		Use:   "import SOURCE...",
		Short: "Make a corpus from books or forum archives",
		Long: longHelp(`
Make a corpus database from books (EPUB, text, Markdown, HTML) or from the posts of a forum (JSON lines, thread files).
The report lists what was left out, and why.

A folder stands for all story files below it, in the natural order of their names (2 before 10). Hidden files, images,
databases, exports of annotator and other files without a story are left out; text is read from files with the extension
.txt, .text, .md or .markdown, or without one. With --format, every file that can be in that format is read. A file that
is named itself is always read.

A chapter becomes a thread that is cut into scenes; the threads of a forum stay as they are. The same sources and
options give the same corpus. An existing corpus is kept; --reimport replaces it if the sources have changed.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator import book.epub --corpus book.corpus.db
  annotator import old.txt --corpus old.corpus.db --encoding windows-1252
  annotator import threads/ --corpus quest.corpus.db --format board`,
		Args: arguments(1, unlimited),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Corpus, "corpus", "", "`FILE` to make")
	importFlags(flags, &o.Format, &o.Encoding, &o.SceneTokens)
	jsonFlag(flags, &o.json)
	flags.BoolVar(&o.Replace, "reimport", false, "replace an import of other sources or options")
	return untilSignalled(cmd, func(ctx context.Context, args []string) error {
		o.Sources = args
		return o.run(ctx)
	})
}

func (o *importOptions) run(ctx context.Context) error {
	if o.Corpus == "" {
		return annotator.Errorf(annotator.Misused, "there is no corpus to import into").WithAdvice("name the file to make with --corpus")
	}
	p := newProgress(o.app, false, 0)
	defer p.close()
	report, err := ingest.Import(ctx, o.Options, p.importing)
	if err != nil {
		return err
	}
	p.close()
	return o.printResult(&imported{report, report.Corpus, report.Existing, report.Stats}, o.json)
}

// imported is what import prints.
type imported struct {
	*ingest.Report
	Corpus   string       `json:"corpus"`
	Existing bool         `json:"existing"` // it was there before, and nothing was written
	Stats    corpus.Stats `json:"contents"`
}

func (i *imported) print(w io.Writer) { fmt.Fprint(w, clean(i.Report.String())) }

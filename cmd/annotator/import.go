package main

import (
	"context"
	"fmt"
	"strings"

	"annotator"
	"annotator/corpus/ingest"

	"github.com/spf13/cobra"
)

// importOptions are what `annotator import` is told.
type importOptions struct {
	*app
	ingest.Options
	format string
}

func newImport(a *app) *cobra.Command {
	o := &importOptions{app: a}
	cmd := &cobra.Command{
		Use:   "import SOURCE...",
		Short: "Make a corpus out of a book or an archive",
		Long: described(`
Make a corpus database out of books (EPUB, text, Markdown, HTML) or a forum's posts (JSON lines, thread files). The report says
what was left out, and why.

A folder stands for the files in it and in its folders that tell a story, in the order of their names, 2 before 10. Hidden files,
images, databases, annotator's own exports and what else is no story are left out; text is taken from files whose names end in .txt,
.text, .md, .markdown or in nothing. With a --format, all files are taken that can be in it. A file that is named itself is always read.

A chapter becomes a thread, cut into scenes; a forum's threads stay what they are. The same sources and options give the same
corpus. One that is there already is not written again; --reimport replaces it where the sources have changed.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator import book.epub --corpus book.corpus.db
  annotator import old.txt --corpus old.corpus.db --encoding windows-1252
  annotator import threads/ --corpus quest.corpus.db --format board`,
		Args: arguments(1, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Sources, o.Format = args, ingest.Format(o.format)
			return untilSignal(cmd.Context(), o.run)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Corpus, "corpus", "", "`FILE` to make")
	flags.StringVar(&o.format, "format", string(ingest.Auto), "the `FORMAT` that the sources are written in: "+strings.Join(formatNames(), ", "))
	flags.StringVar(&o.Encoding, "encoding", "", "character encoding of the sources, by its `NAME`; empty: found out")
	flags.IntVar(&o.SceneTokens, "scene-tokens", ingest.DefaultSceneTokens, "length towards which the scenes of a book are cut, in `TOKENS`")
	flags.BoolVar(&o.Replace, "reimport", false, "replace an import of other sources or options")
	return cmd
}

func (o *importOptions) run(ctx context.Context) error {
	if o.Corpus == "" {
		return annotator.Errorf(annotator.Misused, "no corpus is named to import into").WithAdvice("name the file to make with --corpus")
	}
	p := newProgress(o.app, false, 0)
	defer p.close()
	report, err := ingest.Import(ctx, o.Options, p.importing)
	if err != nil {
		return err
	}
	p.close()
	_, err = fmt.Fprint(o.out, clean(report.String()))
	return err
}

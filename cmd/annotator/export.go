package main

import (
	"context"
	"io"
	"strings"

	"annotator"
	"annotator/exporters"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// exportOptions are what `annotator export` is told.
type exportOptions struct {
	*app
	db     string
	format string
	out    string
	asOf   string
	filter *filter
}

func newExport(a *app) *cobra.Command {
	o := &exportOptions{app: a}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the codex as a file for other programs",
		Long: described(`
Write the codex as JSON or YAML: every live entry with its names, its claims and the quotations that they rest on. One
codex gives the same bytes whenever it is exported. A file is written whole or not at all. With --as-of it is the codex as it
stood at a point of the story, before anything was known of what comes later.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator export --format json -o book.json
  annotator export --db book.annotator.db --format yaml --tag person
  annotator export --format json --status all | jq .count
  annotator export --format json --as-of scene:40`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := spareDatabase(o.out); err != nil { // before it is opened: to look into it later would drop its locks
				return err
			}
			return untilSignal(cmd.Context(), func(ctx context.Context) error {
				return withDatabase(ctx, o.db, func(db *storage.DB) error { return o.run(ctx, db) })
			})
		},
	}
	flags := cmd.Flags()
	databaseFlag(flags, &o.db)
	flags.StringVar(&o.format, "format", "", "the `FORMAT`: "+strings.Join(exporterNames(), " or "))
	flags.StringVarP(&o.out, "output", "o", "-", "`FILE` to write; - is standard output")
	asOfFlag(flags, &o.asOf)
	o.filter = filterFlags(flags)
	return cmd
}

func exporterNames() []string {
	var names []string
	for _, e := range exporters.All() {
		names = append(names, e.Name())
	}
	return names
}

func (o *exportOptions) run(ctx context.Context, db *storage.DB) error {
	if o.format == "" {
		return annotator.Errorf(annotator.Misused, "no format is named to export to").
			WithAdvice("name one: --format %s", strings.Join(exporterNames(), " or --format "))
	}
	if o.out == "" {
		return annotator.Errorf(annotator.Misused, "no file is named to export to").WithAdvice("name one with -o, or leave it out for standard output")
	}
	exporter, err := exporters.ByName(o.format)
	if err != nil {
		return err
	}
	document, err := o.document(ctx, db)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return exporter.Write(w, document) }
	if o.out == "-" || o.out == "/dev/stdout" {
		return o.toStdout(write)
	}
	return exporters.WriteFile(o.out, write)
}

// toStdout leaves the bytes as they are for a program, and makes them fit to be looked at for people.
func (o *exportOptions) toStdout(write func(io.Writer) error) error {
	if !o.isTerminal(o.app.out) {
		return write(o.app.out)
	}
	var text strings.Builder
	if err := write(&text); err != nil {
		return err
	}
	_, err := io.WriteString(o.app.out, clean(text.String()))
	return err
}

func (o *exportOptions) document(ctx context.Context, db *storage.DB) (*exporters.Document, error) {
	chosen, tags, err := o.filter.resolve()
	if err != nil {
		return nil, err
	}
	run, err := db.Run.Status(ctx)
	if err != nil {
		return nil, err
	}
	entries, moment, err := entriesAt(ctx, db, o.asOf)
	if err != nil {
		return nil, err
	}
	filter := exporters.Filter{Statuses: chosen, Tags: tags}
	story := exporters.Story{
		Title: run.Corpus.Title, CorpusHash: run.Corpus.Hash, Threads: run.Corpus.Threads, Scenes: run.Corpus.Scenes,
	}
	places := newPlaces(ctx, db)
	document := exporters.Build(story, filter.Select(entries), places.at)
	document.AsOf = places.asOf(moment)
	return &document, places.err
}

// Command measure reads stories with the scripted model in its own process, and writes what that costs in tokens into
// the tables of docs/performance.md and docs/compaction.md.
//
//	go run ./internal/measure -what tokens
//	go run ./internal/measure -what novel -source BOOK
//	go run ./internal/measure -what compaction
//
// Stories are made from fixed seeds and the server counts tokens by bytes, so the figures do not vary with the machine.
// Figures that do are in the benchmarks. Those of several stories at once are in the tests of cmd/annotator.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"annotator/internal/tables"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// options are the command's flags.
type options struct {
	what     string
	document string
	folder   string
	scenes   int
	source   string
}

func measure(ctx context.Context, args []string) error {
	var o options
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	flags.StringVar(&o.what, "what", "tokens", "tokens, novel or compaction: what is measured")
	flags.StringVar(&o.document, "o", "", "the document whose tables are written, in place of the one in docs; - "+
		"for standard output")
	flags.IntVar(&o.scenes, "scenes", 0, "scenes of the generated story (default 800 for tokens, 1000 for compaction)")
	flags.StringVar(&o.source, "source", "", "the book that is read as the novel")
	if err := flags.Parse(args); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "measure")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	o.folder = folder
	measured, document := o.tokenTables, "docs/performance.md"
	switch o.what {
	case "tokens":
	case "novel":
		measured = o.novelTables
	case "compaction":
		measured, document = o.compactionTables, "docs/compaction.md"
	default:
		return fmt.Errorf("-what takes tokens, novel or compaction, not %q", o.what)
	}
	written, err := measured(ctx)
	if err != nil {
		return err
	}
	return tables.Write(cmp.Or(o.document, document), written)
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"annotator"
	"annotator/eval"
	"annotator/exporters"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
)

// evalOptions are the options of `annotator eval`.
type evalOptions struct {
	gold   string
	form   string
	sheet  string
	corpus string
}

// goldForms are the readers of gold lists, by the name of their form.
var goldForms = []struct {
	name string
	read func([]byte) (*eval.Gold, error)
}{{"list", eval.Read}, {"pdnc", eval.FromPDNC}, {"litbank", eval.FromLitBank}}

func newEval(a *app) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure a codex against a list of what its story tells",
		Long: longHelp(`
Measure a codex against a list of what its story tells: things with their names, kinds and facts, made from the text by
a careful reader. docs/eval.md describes the form of a list, and each figure. Names pair the entries with the things.
Each figure is followed by an interval of 95 %, from a bootstrap, and by what it counts.

With --sheet, the answers of a judge on a sheet that "annotator sample" has written are figures, too.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator eval --gold book.gold.yaml
  annotator eval --gold book.gold.yaml --as-of scene:40 --json
  annotator eval --gold character_info.csv --gold-form pdnc
  annotator sample --n 100 -o sheet.csv && annotator eval --sheet sheet.csv`,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.gold, "gold", "", "`FILE` with the list")
	var names []string
	for _, f := range goldForms {
		names = append(names, f.name)
	}
	wordFlag(flags, &o.form, "gold-form", names, names[0], "`FORM` of the list: "+alternatives(names))
	flags.StringVar(&o.sheet, "sheet", "", "`FILE` with the answers of a judge")
	corpusFlag(flags, &o.corpus, "corpus `FILE` in which names are counted")
	return a.answersAsOf(cmd, func(ctx context.Context, v *codexView, _ []string) (result, error) {
		return o.run(ctx, v)
	})
}

func (o *evalOptions) run(ctx context.Context, v *codexView) (*evaluation, error) {
	e := &evaluation{}
	if o.gold == "" && o.sheet == "" {
		return nil, annotator.Errorf(annotator.Misused, "there is nothing to compare the codex with").
			WithAdvice("name a list with --gold, or a sheet with --sheet")
	}
	if o.gold != "" {
		gold, err := o.readGold()
		if err != nil {
			return nil, err
		}
		if e.Figures, err = o.compare(ctx, v, gold); err != nil {
			return nil, err
		}
		e.Gold = gold.String()
	}
	if o.sheet != "" {
		text, err := readNamed(o.sheet)
		if err != nil {
			return nil, err
		}
		judged, err := eval.ReadSheet(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		e.Figures = append(e.Figures, judged...)
	}
	return e, nil
}

func (o *evalOptions) readGold() (*eval.Gold, error) {
	text, err := readNamed(o.gold)
	if err != nil {
		return nil, err
	}
	for _, f := range goldForms {
		if f.name == o.form {
			return f.read(text)
		}
	}
	return nil, nil
}

// readNamed reads a file that the user has named.
func readNamed(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "read %s: %w", path, err)
	}
	return text, nil
}

// compare returns the figures of a codex. Names are counted where its corpus is.
func (o *evalOptions) compare(ctx context.Context, v *codexView, gold *eval.Gold) ([]eval.Figure, error) {
	entries, err := evalEntries(ctx, v)
	if err != nil {
		return nil, err
	}
	posts, err := openCorpus(ctx, v.db, v.db.Path(), o.corpus, false)
	if err != nil || posts == nil {
		return eval.Compare(gold, entries, nil), err
	}
	counter, text := eval.NewCounter(gold, entries), &storyText{view: v.View, corpus: posts}
	threads, err := text.Threads(ctx)
	for i := range threads {
		for post, err := range text.Posts(ctx, threads[i].ID) {
			if err != nil {
				return nil, err
			}
			counter.Add(post.Body)
		}
	}
	if err != nil {
		return nil, err
	}
	return eval.Compare(gold, entries, counter.Weights()), posts.Close()
}

// evalEntries returns the live entries of a codex.
func evalEntries(ctx context.Context, v *codexView) ([]eval.Entry, error) {
	all, err := allEntries(ctx, v.View)
	var entries []eval.Entry
	for i := range all {
		if e := &all[i]; e.Status.Live() {
			entries = append(entries, evalEntry(e, v))
		}
	}
	return entries, err
}

func evalEntry(e *annotator.Entry, v *codexView) eval.Entry {
	entry := eval.Entry{ID: e.ID, Names: append([]string{e.Term}, e.Names()...), Kinds: e.Tags}
	for i := range e.Claims {
		c := &e.Claims[i]
		if c.Settled() {
			continue
		}
		s := eval.Statement{
			Entry: e.ID, ID: c.ID, Term: e.Name(), Text: c.Text, Kind: string(c.Kind), Speaker: c.Speaker,
			Position: describe(v.positions.At(c.From)), Open: c.Until == 0,
		}
		for _, q := range c.Evidence {
			s.Quotes = append(s.Quotes, eval.Quote{Post: q.Post, Text: q.Quote, Weak: q.Weak})
		}
		entry.Facts = append(entry.Facts, s)
	}
	return entry
}

// evaluation is what eval prints.
type evaluation struct {
	Gold    string        `json:"gold,omitempty"` // the size of the list
	Figures []eval.Figure `json:"figures"`
}

func (e *evaluation) print(w io.Writer) {
	if e.Gold != "" {
		fmt.Fprintln(w, "the list has", e.Gold)
	}
	for _, f := range e.Figures {
		fmt.Fprintln(w, clean(f.String()))
	}
}

// sampleOptions are the options of `annotator sample`.
type sampleOptions struct {
	out  string
	asOf string
	n    int
	seed uint64
}

func newSample(a *app) *cobra.Command {
	var o sampleOptions
	var path string
	cmd := &cobra.Command{
		Use:   "sample",
		Short: "Write a sheet of sampled facts for a judge",
		Long: longHelp(`
Write a table (CSV) of facts that hold, drawn at random from the codex, with their quotations and empty columns for a
judge's answers: yes, partly or no. "annotator eval --sheet FILE" reads them back. The same seed draws the same facts.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator sample --n 100 -o sheet.csv
  annotator sample --n 50 --seed 7 --as-of scene:40 > sheet.csv`,
		PreRunE: func(*cobra.Command, []string) error { return refuseDatabase(o.out) },
	}
	flags := cmd.Flags()
	flags.IntVar(&o.n, "n", 100, "`FACTS` to draw")
	flags.Uint64Var(&o.seed, "seed", 1, "`NUMBER` that selects the draw")
	flags.StringVarP(&o.out, "output", "o", "-", "`FILE` to write; - is standard output")
	asOfFlag(flags, &o.asOf)
	databaseFlag(flags, &path)
	return untilSignalled(cmd, func(ctx context.Context, _ []string) error {
		return withDatabase(ctx, path, func(db *storage.DB) error { return o.run(ctx, a, db) })
	})
}

func (o *sampleOptions) run(ctx context.Context, a *app, db *storage.DB) error {
	shown, err := viewAt(ctx, db, o.asOf)
	if err != nil {
		return err
	}
	v := &codexView{View: shown, db: db, point: o.asOf, positions: view.NewPositions(ctx, db)}
	entries, err := evalEntries(ctx, v)
	if err != nil || v.positions.Err != nil {
		return cmp.Or(err, v.positions.Err)
	}
	write := func(w io.Writer) error { return eval.WriteSheet(w, eval.Sample(entries, o.n, o.seed)) }
	if isStdout(o.out) {
		return write(a.out)
	}
	return exporters.WriteFile(o.out, write)
}

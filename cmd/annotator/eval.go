package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"annotator"
	"annotator/eval"
	"annotator/exporters"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// evalOptions are the options of `annotator eval`.
type evalOptions struct {
	database string
	asOf     string
	gold     string
	form     string
	sheet    string
	corpus   string
}

// goldForms are the forms of gold lists, each with its reader, and with the file of a story's list in a folder.
var goldForms = []struct {
	name  string
	read  func([]byte) (*eval.Gold, error)
	files []string
}{
	{"list", eval.Read, []string{"%s.gold.yaml", "%s.gold.json"}},
	{"pdnc", eval.FromPDNC, []string{"%s/character_info.csv"}},
	{"litbank", eval.FromLitBank, []string{"%s.ann"}},
}

func newEval(a *app) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval [DATABASE...]",
		Short: "Measure a codex against a list of what its story tells",
		Long: longHelp(`
Measure a codex against a list of what its story tells: things with their names, kinds and facts, made from the text by
a careful reader. docs/eval.md describes the form of a list, and each figure. Names pair the entries with the things.
Each figure is followed by an interval of 95 %, from a bootstrap, and by what it counts.

With several databases, or a folder as --gold, it prints a table of the stories and the figures of all together. The
list of NAME.annotator.db is NAME.gold.yaml or NAME.gold.json of the folder; in the form pdnc NAME/character_info.csv,
in the form litbank NAME.ann.

With --sheet, the answers of a judge on a sheet that "annotator sample" has written are figures, too.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator eval --gold book.gold.yaml
  annotator eval --gold book.gold.yaml --as-of scene:40 --json
  annotator eval --gold character_info.csv --gold-form pdnc
  annotator eval --gold lists/ *.annotator.db
  annotator sample --n 100 -o sheet.csv && annotator eval --sheet sheet.csv`,
		Args: cobra.ArbitraryArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.gold, "gold", "", "`FILE` with the list, or folder with a list for each database")
	var names []string
	for _, f := range goldForms {
		names = append(names, f.name)
	}
	wordFlag(flags, &o.form, "gold-form", names, names[0], "`FORM` of the list: "+alternatives(names))
	flags.StringVar(&o.sheet, "sheet", "", "`FILE` with the answers of a judge")
	corpusFlag(flags, &o.corpus, "corpus `FILE` in which names are counted")
	asOfFlag(flags, &o.asOf)
	databaseFlag(flags, &o.database)
	return a.prints(cmd, func(ctx context.Context, databases []string) (result, error) {
		return o.run(ctx, databases)
	})
}

func (o *evalOptions) run(ctx context.Context, databases []string) (result, error) {
	if o.gold == "" && o.sheet == "" {
		return nil, annotator.Errorf(annotator.Misused, "there is nothing to compare the codex with").
			WithAdvice("name a list with --gold, or a sheet with --sheet")
	}
	folder, err := os.Stat(o.gold)
	if len(databases) > 1 || err == nil && folder.IsDir() {
		return o.compareAll(ctx, databases)
	}
	return o.evaluate(ctx, databases)
}

// evaluate measures one codex.
func (o *evalOptions) evaluate(ctx context.Context, databases []string) (*evaluation, error) {
	e := &evaluation{}
	if o.gold != "" {
		gold, err := o.readGold(o.gold)
		if err != nil {
			return nil, err
		}
		path := o.database
		if len(databases) > 0 {
			path = databases[0]
		}
		if err := o.compare(ctx, path, gold, e); err != nil {
			return nil, err
		}
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

// compareAll measures the codices of several stories, each against its list of the folder --gold.
func (o *evalOptions) compareAll(ctx context.Context, databases []string) (*evaluations, error) {
	all := &evaluations{}
	var figures [][]eval.Figure
	for _, path := range databases {
		name, _, _ := strings.Cut(filepath.Base(path), ".annotator.db")
		gold, err := o.readGold(o.listOf(name))
		if err != nil {
			return nil, err
		}
		e := evaluation{Story: name}
		if err := o.compare(ctx, path, gold, &e); err != nil {
			return nil, err
		}
		figures, all.Stories = append(figures, e.Figures), append(all.Stories, e)
	}
	if len(figures) == 0 {
		return nil, annotator.Errorf(annotator.Misused, "a folder of lists needs databases").
			WithAdvice("name them: annotator eval --gold %s *.annotator.db", o.gold)
	}
	all.All = eval.Pool(figures)
	return all, nil
}

// listOf returns the path of a story's list.
func (o *evalOptions) listOf(name string) (path string) {
	for _, f := range goldForms {
		for _, file := range f.files {
			if f.name != o.form {
				continue
			}
			path = filepath.Join(o.gold, fmt.Sprintf(file, name))
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	return path
}

func (o *evalOptions) readGold(path string) (*eval.Gold, error) {
	text, err := readNamed(path)
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

// compare measures the codex in a database. Names are counted where its corpus is.
func (o *evalOptions) compare(ctx context.Context, path string, gold *eval.Gold, e *evaluation) error {
	e.Gold = gold.String()
	return withDatabase(ctx, path, func(db *storage.DB) error {
		v, err := codexAt(ctx, db, o.asOf)
		if err != nil {
			return err
		}
		entries, err := evalEntries(ctx, v)
		if err != nil {
			return err
		}
		weights, err := o.countNames(ctx, v, gold, entries)
		e.Figures, e.Merges = eval.Compare(gold, entries, weights), eval.WrongMerges(gold, entries)
		return cmp.Or(err, v.positions.Err)
	})
}

// countNames returns how often the story has each name; nil if its corpus is missing.
func (o *evalOptions) countNames(ctx context.Context, v *codexView, gold *eval.Gold,
	entries []eval.Entry,
) (map[string]float64, error) {
	posts, err := openCorpus(ctx, v.db, v.db.Path(), o.corpus, false)
	if err != nil || posts == nil {
		return nil, err
	}
	defer func() { _ = posts.Close() }()
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
	return counter.Weights(), err
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
			Position: v.at(v.positions.At(c.From)), Open: c.Until == 0,
			Relation: c.Relation, Object: c.Object,
		}
		for _, q := range c.Evidence {
			s.Quotes = append(s.Quotes, eval.Quote{Post: q.Post, Text: q.Quote, Weak: q.Weak})
		}
		entry.Facts = append(entry.Facts, s)
	}
	return entry
}

// evaluation is what eval prints of one codex.
type evaluation struct {
	Story   string        `json:"story,omitempty"`
	Gold    string        `json:"gold,omitempty"` // the size of the list
	Figures []eval.Figure `json:"figures"`
	Merges  []eval.Merge  `json:"wrong_merges,omitempty"`
}

func (e *evaluation) print(w io.Writer) {
	if e.Gold != "" {
		fmt.Fprintln(w, "the list has", e.Gold)
	}
	for _, f := range e.Figures {
		fmt.Fprintln(w, clean(f.String()))
	}
	e.printMerges(w)
}

func (e *evaluation) printMerges(w io.Writer) {
	for _, m := range e.Merges {
		printIndented(w, clean(strings.TrimSpace(e.Story+" wrong merge "))+" ", clean(m.String()))
	}
}

// evaluations are what eval prints of several codices.
type evaluations struct {
	Stories []evaluation  `json:"stories"`
	All     []eval.Figure `json:"all"`
}

// storyColumns are the figures of the table of stories, with their heads.
var storyColumns = []struct{ head, figure string }{
	{"things", "things with an entry"},
	{"major", "– major"},
	{"per person", "entries a person"},
	{"mixed", "wrong merges, of entries with several names"},
	{"P", "names B³: precision"},
	{"R", "names B³: recall"},
	{"F", "names B³: F"},
	{"kinds", "right kinds of people"},
	{"once", "entries named at most once"},
}

func (e *evaluations) print(w io.Writer) {
	head := []string{"story"}
	for _, c := range storyColumns {
		head = append(head, c.head)
	}
	rows := [][]string{head}
	for i := range e.Stories {
		rows = append(rows, storyRow(clean(e.Stories[i].Story), e.Stories[i].Figures))
	}
	printTable(w, append(rows, storyRow("all", e.All)))
	fmt.Fprintf(w, "\nall %d stories together; the intervals are those for other stories\n", len(e.Stories))
	(&evaluation{Figures: e.All}).print(w)
	for i := range e.Stories {
		e.Stories[i].printMerges(w)
	}
}

// storyRow is a row of the table of stories. Of wrong merges it has the numbers, too, because they are small.
func storyRow(name string, figures []eval.Figure) []string {
	row := []string{name}
	for _, c := range storyColumns {
		cell := "–"
		for _, f := range figures {
			if f.Name == c.figure && f.Whole > 0 {
				cell = fmt.Sprintf("%.3f", f.Value)
			}
			if f.Name == c.figure && c.head == "mixed" {
				cell = fmt.Sprintf("%g of %g", f.Part, f.Whole)
			}
		}
		row = append(row, cell)
	}
	return row
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
	v, err := codexAt(ctx, db, o.asOf)
	if err != nil {
		return err
	}
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

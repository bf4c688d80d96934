package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"annotator"
	"annotator/budget"
	counting "annotator/context/tokens"
	"annotator/corpus"
	"annotator/corpus/ingest"
	"annotator/estimate"
	"annotator/runner"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// estimateOptions are the options of `annotator estimate`.
type estimateOptions struct {
	*runOptions
	probes int
	asJSON bool
}

func newEstimate(a *app) *cobra.Command {
	o := &estimateOptions{runOptions: &runOptions{app: a, settings: newSettings(), hooks: &hooks{}}}
	cmd := &cobra.Command{
		Use:   "estimate SOURCE...",
		Short: "Estimate tokens, calls, time and cost of a run beforehand",
		Long: longHelp(`
Estimate what run will use: calls, tokens of prompts and replies, what of the prompts the server has cached, the time
that the server needs, and money, by --price-in, --price-cached and --price-out. SOURCE is what run takes. The settings
come from the same places as those of run, and nothing is written beside SOURCE.

The first scenes are read as probes, into a temporary database. So a server is asked, and is paid for the probes, which
are listed. The rest is computed from the lengths of all scenes: how the window grows, is compacted, and is cached, and
what the curator asks. The range is two standard errors of the means of the probes. It says nothing of how later scenes
differ from the first, nor of failed calls.

With --parts, the parts are read at once, if the server has room for them; the questions of the join are not counted.
Several stories are read one after another.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator estimate book.epub
  annotator estimate book.epub --endpoint http://localhost:8000/v1 --price-in 3 --price-cached 0.3 --price-out 15
  annotator estimate a.epub b.epub --probes 8 --json
  annotator estimate book.epub --parts 8`,
		Args: arguments(1, unlimited),
	}
	flags := cmd.Flags()
	countFlag(flags, &o.probes, "probes", 12, 1, "`SCENES` of each story that are read as probes")
	countFlag(flags, &o.numParts, "parts", 1, 1, "estimate a run in `N` parts")
	convertFlag(flags, &o.convert)
	jsonFlag(flags, &o.asJSON)
	o.addTo(flags, without(flagNames(o.flags), []string{
		"max-tokens-total", "max-cost", "until", "log-file", "events",
	})...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) }
	return cmd
}

// estimated is the estimate of some stories. Fields of its JSON are only ever added.
type estimated struct {
	Stories []estimatedStory `json:"stories"`
	All     estimatedRange   `json:"all"`
	Probes  estimatedFigures `json:"probes"` // what the probes used
}

type estimatedStory struct {
	Source string         `json:"source"`
	Scenes int            `json:"scenes"`
	Probes int            `json:"probe_scenes"`
	Rates  estimate.Rates `json:"rates"`
	estimatedRange
}

type estimatedRange struct {
	Estimate estimatedFigures `json:"estimate"`
	Low      estimatedFigures `json:"low"`
	High     estimatedFigures `json:"high"`
}

type estimatedFigures struct {
	Calls   int     `json:"calls"`
	Prompt  int     `json:"prompt_tokens"`
	Cached  int     `json:"cached_tokens"`
	Out     int     `json:"completion_tokens"`
	Seconds float64 `json:"seconds"`
	Cost    float64 `json:"cost"` // 0 without prices
}

func (o *estimateOptions) run(ctx context.Context, sources []string) error {
	if err := o.load(o.app); err != nil {
		return err
	}
	var all estimate.Range
	var probes estimate.Figures
	out := &estimated{}
	for _, source := range sources {
		if err := requireSource(source); err != nil {
			return err
		}
		story, r, used, err := o.story(ctx, source)
		if err != nil {
			return err
		}
		story.estimatedRange = rangeOf(r)
		out.Stories = append(out.Stories, *story)
		all, probes = all.Plus(r), probes.Plus(used)
	}
	out.All, out.Probes = rangeOf(all), figuresOf(&probes)
	return o.printResult(out, o.asJSON)
}

func rangeOf(r estimate.Range) estimatedRange {
	return estimatedRange{figuresOf(&r.Figures), figuresOf(&r.Low), figuresOf(&r.High)}
}

func figuresOf(f *estimate.Figures) estimatedFigures {
	u := f.Usage()
	return estimatedFigures{
		int(f.Calls + 0.5), u.Prompt, u.Cached, u.Completion, f.Duration().Round(time.Millisecond).Seconds(),
		f.Cost,
	}
}

// story reads the probes of a story, and estimates the rest.
func (o *estimateOptions) story(ctx context.Context, source string) (
	story *estimatedStory, r estimate.Range, used estimate.Figures, err error,
) {
	folder, err := os.MkdirTemp("", "annotator-")
	if err != nil {
		return nil, r, used, annotator.Errorf(annotator.Storage, "make a folder for the probes: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	run, err := o.readProbes(ctx, source, folder)
	if err != nil {
		return nil, r, used, err
	}
	scenes, err := o.scenesOf(ctx, cmp.Or(run.corpus, source))
	if err != nil {
		return nil, r, used, err
	}
	probe, settings, err := o.measured(ctx, run.db, scenes)
	if err != nil {
		return nil, r, used, err
	}
	r = estimate.Spread(probe, func(rates estimate.Rates) estimate.Figures { return o.whole(scenes, rates, settings) })
	story = &estimatedStory{Source: source, Scenes: len(scenes), Probes: len(probe.Scenes), Rates: probe.Rates()}
	return story, r, o.priced(probe.Used()), nil
}

// readProbes reads the first scenes of a story into a database in a folder, and has the curator look at their entries.
func (o *estimateOptions) readProbes(ctx context.Context, source, folder string) (*runOptions, error) {
	quiet := *o.app
	quiet.out = io.Discard
	run := &runOptions{
		app: &quiet, settings: o.settings, hooks: &hooks{}, source: source, limit: o.probes, numParts: 1,
		convert: o.convert, quiet: true, db: filepath.Join(folder, "probe.annotator.db"),
	}
	if !ingest.IsDatabase(source) {
		run.corpus = filepath.Join(folder, "probe.corpus.db")
	}
	if err := run.annotate(ctx); err != nil && !hasReadAll(annotator.KindOf(err)) {
		return nil, err
	}
	if o.runner().Curator.Off {
		return run, nil
	}
	curate := &curateOptions{
		app: &quiet, settings: o.settings, db: run.db, corpus: cmp.Or(run.corpus, source), json: true,
	}
	return run, untilSignal(ctx, curate.run)
}

// scenesOf returns the scenes of a corpus.
func (o *estimateOptions) scenesOf(ctx context.Context, path string) (all []estimate.Scene, err error) {
	db, err := corpus.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	for scene, err := range db.Scenes(ctx, o.runner().SceneBytes) {
		if err != nil {
			return nil, err
		}
		size := 0
		for i := range scene.Posts {
			size += counting.EstimateMessage(scene.Posts[i].Body)
		}
		all = append(all, estimate.Scene{Thread: scene.Thread.ID, Tokens: size})
	}
	return all, nil
}

// measured returns what the probes used, and the settings of the run.
func (o *estimateOptions) measured(ctx context.Context, path string, scenes []estimate.Scene) (
	probe *estimate.Probe, s estimate.Settings, err error,
) {
	err = withDatabase(ctx, path, func(db *storage.DB) error {
		run, err := db.Run.Status(ctx)
		if err != nil {
			return err
		}
		config := o.runner()
		s = settingsOf(&config, &run)
		probe = &estimate.Probe{Scenes: scenes[:min(o.probes, len(scenes))], Entries: run.Entries}
		probe.Calls, err = db.Calls.Replied(ctx)
		return err
	})
	return probe, s, err
}

// settingsOf returns the settings of a run with the budget that it has found.
func settingsOf(config *runner.Config, run *storage.RunStatus) estimate.Settings {
	b := budget.Budget{Wanted: run.Budget, MaxReply: config.MaxTokens, Margin: config.SafetyMargin}
	if margin, ok := config.Margins[run.Model]; ok {
		b.Margin = margin
	}
	b.Begin()
	s := estimate.Settings{
		Policy: config.Compaction, Prompt: b.Prompt(), Batch: max(1, config.Curator.Batch),
		SummaryTokens: config.SummaryTokens, NoSummaries: config.NoThreadSummaries,
	}
	if high, ok := config.HighWater[run.Model]; ok {
		s.Policy.High = high
	}
	if config.Curator.Off {
		s.Batch = 0
	}
	return s
}

// whole returns what a story uses, in one or in parts. Parts are read at once, and end with the slowest.
func (o *estimateOptions) whole(scenes []estimate.Scene, rates estimate.Rates, s estimate.Settings) estimate.Figures {
	var sum estimate.Figures
	slowest := 0.0
	for _, part := range estimate.Parts(scenes, o.numParts) {
		f := estimate.Of(part, rates, s)
		sum, slowest = sum.Plus(f), max(slowest, f.Time)
	}
	sum.Time = slowest
	return o.priced(sum)
}

// priced returns figures with what their tokens cost.
func (o *estimateOptions) priced(f estimate.Figures) estimate.Figures {
	f.Cost = o.Bounds.Price.Of(f.Usage())
	return f
}

func (e *estimated) print(w io.Writer) {
	for i := range e.Stories {
		s := &e.Stories[i]
		fmt.Fprintf(w, "%s: %s, by the first %d\n", oneLine(s.Source), annotator.Quantity(s.Scenes, "scene"), s.Probes)
		s.print(w)
	}
	if len(e.Stories) > 1 {
		fmt.Fprintf(w, "all %d stories\n", len(e.Stories))
		e.All.print(w)
	}
	p := &e.Probes
	fmt.Fprintf(w, "the probes used %s, %s tokens in and %s out", annotator.Quantity(p.Calls, "call"),
		shortNumber(p.Prompt), shortNumber(p.Out))
	if p.Cost > 0 {
		fmt.Fprintf(w, ", at %.2f", p.Cost)
	}
	fmt.Fprintln(w)
}

func (r *estimatedRange) print(w io.Writer) {
	line := func(name string, of func(*estimatedFigures) string) {
		low, high, text := of(&r.Low), of(&r.High), of(&r.Estimate)
		if low != high {
			text += " (" + low + " to " + high + ")"
		}
		fmt.Fprintf(w, "  %-10s %s\n", name, text)
	}
	line("calls", func(f *estimatedFigures) string { return strconv.Itoa(f.Calls) })
	line("tokens in", func(f *estimatedFigures) string { return shortNumber(f.Prompt) })
	line("cached", func(f *estimatedFigures) string { return shortNumber(f.Cached) })
	line("tokens out", func(f *estimatedFigures) string { return shortNumber(f.Out) })
	line("time", func(f *estimatedFigures) string { return duration(time.Duration(f.Seconds * float64(time.Second))) })
	if r.High.Cost > 0 {
		line("cost", func(f *estimatedFigures) string { return fmt.Sprintf("%.2f", f.Cost) })
	}
}

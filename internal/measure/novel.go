package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"annotator/corpus/ingest"
	"annotator/internal/scripted"
	"annotator/internal/tables"
	"annotator/runner"
)

// novelRun reads a book with all that a run does by default, in a window of a size.
type novelRun struct {
	corpus string
	budget int  // tokens of context; the server takes no more
	recaps bool // threads are summarised at their end
}

// reading is what such a run cost.
type reading struct {
	novelRun
	facts
	scenes, refused int64
	compactions     int64
	before, after   int64 // tokens of the window, at all compactions
}

// run reads the book.
func (n novelRun) run(ctx context.Context) (r *reading, err error) {
	config := runner.Defaults()
	config.ContextBudget, config.NoThreadSummaries = n.budget, !n.recaps
	err = withRun(ctx, n.corpus, config, note, func(db string) (err error) {
		r, err = n.count(ctx, db)
		return err
	})
	return r, err
}

// count reads what the run cost from its database.
func (n novelRun) count(ctx context.Context, path string) (*reading, error) {
	r := &reading{novelRun: n}
	var err error
	if r.facts, err = readFacts(ctx, path); err != nil {
		return nil, err
	}
	rows, err := query(ctx, path, `SELECT recorded, quarantined, (SELECT count(*) FROM compaction),
		(SELECT coalesce(sum(tokens_before), 0) FROM compaction),
		(SELECT coalesce(sum(tokens_after), 0) FROM compaction) FROM run_state`)
	if err != nil {
		return nil, err
	}
	for i, into := range []*int64{&r.scenes, &r.refused, &r.compactions, &r.before, &r.after} {
		*into = rows[0][i].(int64)
	}
	return r, nil
}

// note creates entries for one to three things of each scene, and says with the last that the scene is done. It
// confirms every entry that it is asked about, and writes summaries of a plausible length.
func note(r scripted.Request) scripted.Reply {
	reply, question := scripted.Style{Done: true}.Annotate(r), r.Messages[len(r.Messages)-1].Content
	for _, part := range []struct {
		tag   string
		words int
	}{{"cumulative", storyWords}, {"chunk", chunkWords}} {
		begin, end := "<"+part.tag+">", "</"+part.tag+">"
		if len(reply.ToolCalls) > 0 || !strings.Contains(question, begin) {
			continue
		}
		written := begin + summaryWords(part.words, r.Tokens) + end
		before, rest, found := strings.Cut(reply.Text, begin)
		_, after, _ := strings.Cut(rest, end)
		switch {
		case found: // among the summaries of threads
			reply.Text = before + written + after
		case strings.Contains(reply.Text, "<"):
			reply.Text += "\n" + written
		default:
			reply.Text = written
		}
	}
	return reply
}

// novelAims are the aims for uncached tokens of the whole run to tokens of the scenes, by context budget.
var novelAims = map[int]float64{32_768: 2.2, 65_536: 1.9, 98_304: 1.7}

// novelTables reads a book in windows of several sizes, with summaries of threads and without.
func (o *options) novelTables(ctx context.Context) (map[string]string, error) {
	if o.source == "" {
		return nil, errors.New("-source names the book")
	}
	corpus := filepath.Join(o.folder, "novel.corpus.db")
	if _, err := ingest.Import(ctx, ingest.Options{Sources: []string{o.source}, Corpus: corpus}, nil); err != nil {
		return nil, err
	}
	var rows [][]string
	for _, budget := range []int{16_384, 32_768, 65_536, 98_304, 131_072} {
		for _, recaps := range []bool{true, false} {
			r, err := novelRun{corpus: corpus, budget: budget, recaps: recaps}.run(ctx)
			if err != nil {
				return nil, err
			}
			fmt.Fprintln(os.Stderr, strings.Join(r.row(), " | "))
			rows = append(rows, r.row())
		}
	}
	return map[string]string{"novel": tables.Markdown([]string{
		"context budget", "summaries of threads", "calls a scene", "prompt tokens a scene", "floor: the scene",
		"uncached: annotation", "summaries",
		"curator and summaries of threads", "all uncached / floor (aim)", "compactions", "window before, tokens",
		"after", "scenes refused",
	}, rows)}, nil
}

func (r *reading) row() []string {
	n := float64(r.scenes)
	each := func(tokens int64) string { return tables.Count(int64(float64(tokens)/n + 0.5)) }
	mean := func(tokens int64) string { return tables.Count(tokens / max(r.compactions, 1)) }
	cost := fmt.Sprintf("%.2f", r.cost())
	if most := novelAims[r.budget]; most > 0 {
		cost = fmt.Sprintf("%s; %.1f", aim(r.cost(), most, "%.2f"), most)
	}
	return []string{
		tables.Count(int64(r.budget)), map[bool]string{true: "on", false: "off"}[r.recaps],
		fmt.Sprintf("%.2f", float64(r.calls)/n), each(r.prompt), each(r.floor),
		each(r.annotate), each(r.summarise), each(r.curate), cost, tables.Count(r.compactions), mean(r.before),
		mean(r.after),
		tables.Count(r.refused),
	}
}

// cost is how many tokens the server computes for each token of the scenes.
func (r *reading) cost() float64 { return float64(r.uncached()) / float64(r.floor) }

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"annotator"
	"annotator/corpus/ingest"
	"annotator/internal/scripted"
)

// novelRun reads a book with all that a run does by default, in a window of a size.
type novelRun struct {
	corpus string
	budget int  // tokens of context; the server takes no more
	recaps bool // of threads, at their end
	scenes int  // the most; 0: all
}

// reading is what such a run cost.
type reading struct {
	novelRun
	facts
	scenes        int64
	refused       int64
	compactions   int64
	before, after int64 // tokens of the window, in all compactions together
}

// run reads the book. The server never evicts a cached prefix.
func (n novelRun) run(ctx context.Context) (*reading, error) {
	dir, err := os.MkdirTemp("", "measure")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server := scripted.New(scripted.Options{Strict: true, Script: tell, MaxModelLen: n.budget})
	job := walkJob{Corpus: n.corpus, DB: filepath.Join(cmp.Or(os.Getenv("KEEP"), dir), fmt.Sprintf("novel-%d-%v.db", n.budget, n.recaps)), Endpoint: "http://scripted/v1", ContextBudget: n.budget}
	config := job.config()
	config.NoThreadSummaries, config.Limit = !n.recaps, n.scenes
	run, err := prepare(ctx, job, config, inProcess{server})
	if err != nil {
		return nil, err
	}
	err = run.runner.Run(ctx)
	if err = errors.Join(err, run.close()); err != nil && annotator.KindOf(err) != annotator.Quarantined {
		return nil, fmt.Errorf("a novel in a window of %d: %w", n.budget, err)
	}
	if broken := server.Violations(); len(broken) > 0 {
		return nil, fmt.Errorf("a novel in a window of %d broke the template: %v", n.budget, broken[0])
	}
	return n.read(ctx, job.DB)
}

// read reads what the run cost from its database.
func (n novelRun) read(ctx context.Context, path string) (*reading, error) {
	r := &reading{novelRun: n}
	var err error
	if r.facts, err = readFacts(ctx, path); err != nil {
		return nil, err
	}
	rows, err := query(ctx, path, `SELECT (SELECT count(*) FROM scene WHERE state = 'recorded'), quarantined,
		(SELECT count(*) FROM compaction), (SELECT coalesce(sum(tokens_before), 0) FROM compaction),
		(SELECT coalesce(sum(tokens_after), 0) FROM compaction) FROM run_state`)
	if err != nil {
		return nil, err
	}
	for i, into := range []*int64{&r.scenes, &r.refused, &r.compactions, &r.before, &r.after} {
		*into = rows[0][i].(int64)
	}
	return r, nil
}

// tell answers scenes with one to three edits each, of which the last says that the scene is done, and questions with summaries of
// a plausible length.
func tell(r scripted.Request) scripted.Reply {
	style := scripted.Style{Done: true}
	reply := style.Annotate(r)
	if os.Getenv("STYLE") == "annotate" {
		reply = scripted.Annotate(r)
	}
	if len(reply.ToolCalls) > 0 || !strings.Contains(r.Messages[len(r.Messages)-1].Content, "<cumulative>") && !strings.Contains(r.Messages[len(r.Messages)-1].Content, "<chunk>") {
		return reply
	}
	return lengthened(r, reply)
}

func lengthened(r scripted.Request, reply scripted.Reply) scripted.Reply {
	text := reply.Text
	for _, part := range []struct {
		tag   string
		words int
	}{{"cumulative", storyWords}, {"chunk", chunkWords}} {
		open, end := "<"+part.tag+">", "</"+part.tag+">"
		if !strings.Contains(r.Messages[len(r.Messages)-1].Content, open) {
			continue
		}
		element := open + summaryWords(part.words, r.Tokens) + end
		if before, rest, found := strings.Cut(text, open); found {
			_, after, _ := strings.Cut(rest, end)
			text = before + element + after
		} else {
			text = element + "\n" + text
		}
	}
	return scripted.Reply{Text: text}
}

func (o *options) novel(ctx context.Context) (map[string]string, error) {
	corpus := filepath.Join(o.folder, "novel.corpus.db")
	if _, err := ingest.Import(ctx, ingest.Options{Sources: []string{o.source}, Corpus: corpus}, nil); err != nil {
		return nil, err
	}
	var rows [][]string
	for _, budget := range []int{16_384, 32_768, 65_536, 98_304, 131_072} {
		for _, on := range []bool{true, false} {
			r, err := novelRun{corpus: corpus, budget: budget, recaps: on, scenes: o.compacted}.run(ctx)
			if err != nil {
				return nil, err
			}
			rows = append(rows, r.row())
			fmt.Fprintln(os.Stderr, r.row())
		}
	}
	return map[string]string{"novel": markdown(novelHead, rows)}, nil
}

var novelHead = []string{
	"context budget", "summaries of threads", "calls a scene", "prompt tokens a scene", "scene", "uncached: annotation",
	"summaries", "curator", "all uncached / scenes", "compactions", "tokens before", "after", "summaries' prompts cached", "refused",
}

func (r *reading) row() []string {
	n := float64(r.scenes)
	each := func(tokens int64) string { return count(int64(float64(tokens)/n + 0.5)) }
	mean := func(tokens int64) string { return count(tokens / max(r.compactions, 1)) }
	with := "on"
	if !r.recaps {
		with = "off"
	}
	return []string{
		count(int64(r.budget)), with, fmt.Sprintf("%.2f", float64(r.calls)/n), each(r.prompt), each(r.floor), each(r.annotate), each(r.summarise), each(r.curate),
		fmt.Sprintf("%.2f", float64(r.uncached())/float64(r.floor)), count(r.compactions), mean(r.before), mean(r.after), cachedShare(r.facts), count(r.refused),
	}
}

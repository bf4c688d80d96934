package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// story is one length of story under one context budget.
type story struct {
	*options
	scenes int
	budget int // tokens
	bare   bool
	last   bool // the longest one
}

// outcome is the result of its runs.
type outcome struct {
	story
	program  *walked
	loop     *walked // of the bare loop; nil where it was not asked for
	resume   walked  // in the middle of several, by Start
	database int64   // bytes of the file
	facts    facts
}

// rounds is how often program and bare loop alternate on a story: a short one ends before the machine is steady. The quickest
// of each counts.
func (s *story) rounds() int { return min(max(500/s.scenes, 1), 3) }

func (s *story) measure(ctx context.Context) (*outcome, error) {
	folder, err := os.MkdirTemp(s.folder, fmt.Sprintf("%d-scenes-", s.scenes))
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	job := walkJob{Corpus: filepath.Join(folder, "story.corpus.db"), ContextBudget: s.budget, CuratorOff: s.curatorOff}
	if err := writeStory(ctx, job.Corpus, s.scenes); err != nil {
		return nil, err
	}
	o := &outcome{story: *s}
	for round := range s.rounds() {
		job.DB = filepath.Join(folder, fmt.Sprintf("%d.annotator.db", round))
		if err := o.round(ctx, job); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(job.DB)
	if err != nil {
		return nil, fmt.Errorf("look at the database: %w", err)
	}
	o.database = info.Size()
	if o.facts, err = readFacts(ctx, job.DB); err != nil {
		return nil, err
	}
	o.resume, err = resume(ctx, job)
	return o, err
}

func (o *outcome) round(ctx context.Context, job walkJob) error {
	if err := o.take(ctx, "walk", job, &o.program); err != nil || !o.bare {
		return err
	}
	job.DB += ".recorded"
	return o.take(ctx, "bare", job, &o.loop)
}

// take runs the story in a process, and keeps its result if it was the quickest so far.
func (o *outcome) take(ctx context.Context, role string, job walkJob, best **walked) error {
	server, err := startEndpoint(ctx)
	if err != nil {
		return err
	}
	job.Endpoint = server.base
	if o.last && o.profiles != "" {
		job.Profile = filepath.Join(o.profiles, role+".prof")
	}
	found, err := child(ctx, role, job)
	if err := errors.Join(err, server.stop()); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %d scenes, budget %d: %.2f ms a scene\n", role, found.Scenes, job.ContextBudget, millis(found.Processor)/float64(found.Scenes))
	if *best == nil || found.Processor < (*best).Processor {
		*best = found
	}
	return nil
}

// resume goes on with a finished run in several processes, which then have nothing left to do.
func resume(ctx context.Context, job walkJob) (walked, error) {
	server, err := startEndpoint(ctx)
	if err != nil {
		return walked{}, err
	}
	job.Endpoint, job.ListOnly = server.base, true
	var all []walked
	for range 9 {
		found, err := child(ctx, "walk", job)
		if err != nil {
			return walked{}, errors.Join(err, server.stop())
		}
		all = append(all, *found)
	}
	slices.SortFunc(all, func(a, b walked) int { return cmp.Compare(a.Start, b.Start) })
	return all[len(all)/2], server.stop()
}

// facts are read from the database of a finished run. Tokens are the endpoint's.
type facts struct {
	messages         int64 // bytes of all messages
	calls, prompt    int64
	annotate, curate int64 // uncached tokens of the prompts, by purpose
	summarise        int64
	floor            int64 // of the scenes' own text
	entries, results int64 // of the entries shown with scenes, of the tools' results
	summaries        int64
	summaryPrompt    int64
}

// uncached is what the endpoint has to compute of all prompts.
func (f *facts) uncached() int64 { return f.annotate + f.summarise + f.curate }

func readFacts(ctx context.Context, path string) (facts, error) {
	var f facts
	for _, part := range []struct {
		text    string
		targets []*int64
	}{
		{
			`SELECT sum(length(CAST(content AS BLOB)) + length(CAST(reasoning AS BLOB)) + length(CAST(arguments AS BLOB))) FROM trace`,
			[]*int64{&f.messages},
		},
		{`SELECT calls, prompt_tokens FROM run_state`, []*int64{&f.calls, &f.prompt}},
		{
			`SELECT sum((length(CAST(substr(content, 1, instr(content, '</scene>') + 7) AS BLOB)) + 3) / 4),
			sum(length(CAST(substr(content, instr(content, '</scene>') + 8) AS BLOB)) / 4) FROM trace WHERE kind = 'scene'`,
			[]*int64{&f.floor, &f.entries},
		},
		{`SELECT coalesce(sum((length(CAST(content AS BLOB)) + 3) / 4), 0) FROM trace WHERE kind = 'tool_result'`, []*int64{&f.results}},
		{
			`SELECT sum(iif(purpose = 'annotate', uncached, 0)), sum(iif(purpose = 'summarise', uncached, 0)), sum(iif(purpose = 'curate', uncached, 0)),
			sum(purpose = 'summarise'), sum(iif(purpose = 'summarise', prompt_tokens, 0))
			FROM (SELECT purpose, prompt_tokens, prompt_tokens - cached_tokens AS uncached FROM call)`,
			[]*int64{&f.annotate, &f.summarise, &f.curate, &f.summaries, &f.summaryPrompt},
		},
	} {
		rows, err := query(ctx, path, part.text)
		if err != nil {
			return f, err
		}
		for i, target := range part.targets {
			*target, _ = rows[0][i].(int64) // a sum over nothing is NULL
		}
	}
	return f, nil
}

package main

import (
	"cmp"
	"context"
	"fmt"

	"annotator/internal/scripted"
	"annotator/internal/tables"
	"annotator/runner"
)

// tokenTables reads a story in windows of two sizes.
func (o *options) tokenTables(ctx context.Context) (map[string]string, error) {
	scenes := cmp.Or(o.scenes, 800)
	corpus, err := o.story(ctx, scenes)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, window := range []struct {
		budget int
		aim    float64 // for uncached tokens to tokens of the scenes
	}{{32_768, 1.4}, {131_072, 1.15}} {
		config := runner.Defaults()
		config.ContextBudget = window.budget
		var f facts
		err := withRun(ctx, corpus, config, scripted.Style{Done: true}.Annotate, func(db string) (err error) {
			f, err = readFacts(ctx, db)
			return err
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, f.row(window.budget, scenes, window.aim))
	}
	return map[string]string{"tokens": tables.Markdown([]string{
		"context budget", "calls a scene (aim 1.3)", "prompt tokens", "floor: the scene", "entries shown",
		"tools' results", "uncached: annotation",
		"summaries", "curator", "all uncached / floor (aims 1.4, 1.15)", "summaries per 1,000 scenes",
		"of their prompts cached (aim 99 %)",
	}, rows)}, nil
}

func (f *facts) row(budget, scenes int, most float64) []string {
	n := float64(scenes)
	each := func(tokens int64) string { return tables.Count(int64(float64(tokens)/n + 0.5)) }
	return []string{
		tables.Count(int64(budget)), aim(float64(f.calls)/n, 1.3, "%.2f"), each(f.prompt), each(f.floor),
		each(f.entries),
		each(f.results),
		each(f.annotate), each(f.summarise), each(f.curate),
		aim(float64(f.uncached())/float64(f.floor), most, "%.2f"), fmt.Sprintf("%.0f", float64(f.summaries)/n*1e3),
		f.cachedShare(),
	}
}

func (f *facts) cachedShare() string {
	if f.summaryPrompt == 0 {
		return "none made"
	}
	return fmt.Sprintf("%.1f %%", 100-100*float64(f.summarise)/float64(f.summaryPrompt))
}

// facts are read from the database of a finished run. Tokens are the endpoint's.
type facts struct {
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
		{`SELECT calls, prompt_tokens FROM run_state`, []*int64{&f.calls, &f.prompt}},
		{
			`SELECT sum((length(CAST(content AS BLOB)) + 3) / 4),
			sum(length(CAST(attached AS BLOB)) / 4) FROM trace WHERE kind = 'scene'`,
			[]*int64{&f.floor, &f.entries},
		},
		{
			`SELECT coalesce(sum((length(CAST(content AS BLOB)) + 3) / 4), 0) FROM trace WHERE kind = 'tool_result'`,
			[]*int64{&f.results},
		},
		{
			`SELECT sum(iif(purpose = 'annotate', uncached, 0)), sum(iif(purpose = 'summarise', uncached, 0)),
			sum(iif(purpose = 'curate', uncached, 0)),
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

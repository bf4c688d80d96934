package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"

	"annotator/context/compaction"
	"annotator/internal/scripted"
	"annotator/runner"

	"golang.org/x/sync/errgroup"
)

// policyRun is a run of a generated story under a policy of compaction.
type policyRun struct {
	name   string
	corpus string
	scenes int
	budget int // tokens of context; the server takes no more
	policy compaction.Policy
}

// cost is what such a run costs.
type cost struct {
	policyRun
	refused   int // scenes
	calls     int // for scenes
	summaries int // calls
	prompt    int // tokens, of both
	uncached  int
	floor     int // tokens that had to be read once: scenes, entries, and what tools answered
	asked     int // prompt tokens of the summaries
	again     int // of these, not cached
	tiers     map[string]int
}

// In a window too small for replies of the usual length they are shorter. The numbers are tokens.
const (
	smallWindow = 16_384
	smallReply  = 1_024
)

// run reads the story.
func (t policyRun) run(ctx context.Context) (c *cost, err error) {
	config := runner.Defaults()
	config.ContextBudget, config.Compaction, config.Curator.Off, config.Limit = t.budget, t.policy, true, t.scenes
	config.NoThreadSummaries = true
	if t.budget < smallWindow {
		config.MaxTokens = smallReply
	}
	err = withRun(ctx, t.corpus, config, narrate, func(db string) (err error) {
		c, err = t.count(ctx, db)
		return err
	})
	return c, err
}

// count reads what the run cost from its database.
func (t policyRun) count(ctx context.Context, path string) (*cost, error) {
	c := &cost{policyRun: t, tiers: map[string]int{}}
	rows, err := query(ctx, path, `SELECT quarantined,
		(SELECT count(*) FROM call WHERE purpose = 'annotate'), (SELECT count(*) FROM call WHERE purpose = 'summarise'),
		(SELECT sum(prompt_tokens) FROM call), (SELECT sum(prompt_tokens - cached_tokens) FROM call),
		(SELECT sum((length(CAST(content AS BLOB)) + 3) / 4 + 4) FROM trace
			WHERE kind IN ('scene', 'tool_result') AND turn > 0),
		(SELECT coalesce(sum(prompt_tokens), 0) FROM call WHERE purpose = 'summarise'),
		(SELECT coalesce(sum(prompt_tokens - cached_tokens), 0) FROM call WHERE purpose = 'summarise'),
		(SELECT count(*) FROM call WHERE outcome = 'prompt too long') FROM run_state`)
	if err != nil {
		return nil, err
	}
	var over int
	for i, into := range []*int{
		&c.refused, &c.calls, &c.summaries, &c.prompt, &c.uncached, &c.floor, &c.asked,
		&c.again, &over,
	} {
		*into = int(rows[0][i].(int64))
	}
	if over > 0 {
		return nil, fmt.Errorf("%s in a window of %d: %d requests passed the limit", t.name, t.budget, over)
	}
	tiers, err := query(ctx, path, `SELECT tier, count(*) FROM compaction WHERE tier <> 'quarantine' GROUP BY tier`)
	for _, row := range tiers {
		c.tiers[row[0].(string)] = int(row[1].(int64))
	}
	return c, err
}

// runAll makes the runs, as many at once as there are processors.
func runAll(ctx context.Context, runs []policyRun) ([]*cost, error) {
	costs := make([]*cost, len(runs))
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, t := range runs {
		all.Go(func() (err error) {
			costs[i], err = t.run(ctx)
			return err
		})
	}
	return costs, all.Wait()
}

// marked is this program's policy with a low mark.
func marked(low float64) compaction.Policy {
	p := compaction.Auto()
	p.Low = low
	return p
}

// compactionTables makes all runs, and returns the tables by their names in the document.
func (o *options) compactionTables(ctx context.Context) (map[string]string, error) {
	scenes := cmp.Or(o.scenes, 1_000)
	corpus, err := o.story(ctx, scenes)
	if err != nil {
		return nil, err
	}
	at := func(name string, budget int, policy compaction.Policy) policyRun {
		return policyRun{name: name, corpus: corpus, scenes: scenes, budget: budget, policy: policy}
	}
	var presets, marks, budgets []policyRun
	for _, budget := range []int{8_192, 32_768, 131_072} {
		presets = append(presets, at("60 / 80 / 90", budget, compaction.ThreeMarks()),
			at("auto", budget, compaction.Auto()))
	}
	for _, budget := range []int{32_768, 65_536} {
		for _, low := range []float64{0, 0.15, 0.3, 0.45, 0.6} {
			marks = append(marks, at(fmt.Sprintf("%.0f %%", 100*low), budget, marked(low)))
		}
	}
	for _, budget := range []int{16_384, 24_576, 32_768, 49_152, 65_536, 131_072} {
		budgets = append(budgets, at("auto", budget, compaction.Auto()))
	}
	tables := map[string]string{}
	for name, runs := range map[string][]policyRun{"presets": presets, "marks": marks, "budgets": budgets} {
		costs, err := runAll(ctx, runs)
		if err != nil {
			return nil, err
		}
		tables[name] = costTable(costs)
	}
	return tables, nil
}

// Lengths of the generated summaries, in words: half of what a story may have, all of a chunk.
const (
	storyWords = 250
	chunkWords = 60
)

// narrate answers like the script of the tests, but writes summaries of a plausible length where they are asked for.
func narrate(r scripted.Request) scripted.Reply {
	question := r.Messages[len(r.Messages)-1].Content
	var text strings.Builder
	if strings.Contains(question, "<cumulative>") {
		fmt.Fprintf(&text, "<cumulative>%s</cumulative>\n", summaryWords(storyWords, r.Tokens))
	}
	if strings.Contains(question, "<chunk>") {
		fmt.Fprintf(&text, "<chunk>%s</chunk>", summaryWords(chunkWords, r.Tokens))
	}
	if text.Len() == 0 {
		return scripted.Annotate(r)
	}
	return scripted.Reply{Text: text.String()}
}

// summaryWords writes sentences of n words in all, which differ from question to question.
func summaryWords(n, seed int) string {
	var text strings.Builder
	for i := range n {
		if i%20 == 19 {
			text.WriteString("it. ")
		} else {
			fmt.Fprintf(&text, "Told%d ", (seed+i)%97)
		}
	}
	return strings.TrimSpace(text.String())
}

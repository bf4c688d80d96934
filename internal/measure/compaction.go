package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"annotator/context/compaction"
	"annotator/model/scripted"
)

// inProcess answers requests without a network.
type inProcess struct{ http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	p.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// trial is a run of a made-up story under a policy of compaction.
type trial struct {
	Name   string
	Budget int // tokens of context
	Reply  int // of them: the most a reply may have
	Policy compaction.Policy
}

// cost is what a trial comes to.
type cost struct {
	trial
	Scenes, Refused  int
	Calls, Summaries int
	Prompt, Uncached int // tokens, summaries included
	Floor            int // tokens that had to be read: scenes, and what tools answered
	Asked, Again     int // of the summaries: prompt tokens, and those of them that were not cached
	Tiers            map[string]int
	Largest          int // request, in tokens with its reply
	Violations       int
}

// try walks the story under the policy. The server caches prefixes for ever and refuses what does not fit.
func try(ctx context.Context, corpus string, t trial) (*cost, error) {
	dir, err := os.MkdirTemp("", "measure")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	c := &cost{trial: t, Tiers: map[string]int{}}
	server := scripted.New(scripted.Options{Strict: true, Script: narrate, MaxModelLen: t.Budget, OnRequest: func(r scripted.Request) {
		c.Largest = max(c.Largest, r.Tokens+r.MaxTokens)
	}})
	job := walkJob{Corpus: corpus, DB: filepath.Join(dir, "story.db"), Endpoint: "http://scripted/v1", ContextBudget: t.Budget}
	run, err := prepare(ctx, job, inProcess{server})
	if err != nil {
		return nil, err
	}
	defer func() { _ = run.close() }()
	run.runner.Config.Compaction, run.runner.Config.MaxTokens = t.Policy, t.Reply
	run.runner.Config.Curator.Off = true
	if err := run.runner.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	c.Violations = len(server.Violations())
	return c, c.count(ctx, job.DB)
}

// count reads the rest from the database.
func (c *cost) count(ctx context.Context, path string) error {
	rows, err := query(ctx, path, `SELECT recorded, quarantined,
		(SELECT count(*) FROM call WHERE purpose = 'annotate'), (SELECT count(*) FROM call WHERE purpose = 'summarise'),
		(SELECT coalesce(sum((length(CAST(content AS BLOB)) + 3) / 4 + 4), 0) FROM trace WHERE kind IN ('scene', 'tool_result') AND turn > 0),
		(SELECT sum(prompt_tokens) FROM call WHERE purpose IN ('annotate', 'summarise')),
		(SELECT sum(prompt_tokens - cached_tokens) FROM call WHERE purpose IN ('annotate', 'summarise')),
		(SELECT coalesce(sum(prompt_tokens), 0) FROM call WHERE purpose = 'summarise'),
		(SELECT coalesce(sum(prompt_tokens - cached_tokens), 0) FROM call WHERE purpose = 'summarise') FROM run_state`)
	if err != nil {
		return err
	}
	for i, into := range []*int{&c.Scenes, &c.Refused, &c.Calls, &c.Summaries, &c.Floor, &c.Prompt, &c.Uncached, &c.Asked, &c.Again} {
		*into = int(rows[0][i].(int64))
	}
	tiers, err := query(ctx, path, `SELECT tier, count(*) FROM compaction GROUP BY tier`)
	for _, row := range tiers {
		c.Tiers[row[0].(string)] = int(row[1].(int64))
	}
	return err
}

// Lengths of the summaries that are made up, in words: half of what may be written of a story, all of a chunk.
const (
	storyWords = 250
	chunkWords = 60
)

// narrate answers like the script of the tests, but writes summaries of a plausible length where they are asked for.
func narrate(r scripted.Request) scripted.Reply {
	question := r.Messages[len(r.Messages)-1].Content
	var text strings.Builder
	if strings.Contains(question, "<cumulative>") {
		fmt.Fprintf(&text, "<cumulative>%s</cumulative>\n", words(storyWords, r.Call))
	}
	if strings.Contains(question, "<chunk>") {
		fmt.Fprintf(&text, "<chunk>%s</chunk>", words(chunkWords, r.Call))
	}
	if text.Len() == 0 {
		return scripted.Annotate(r)
	}
	return scripted.Reply{Text: text.String()}
}

// words writes sentences of so many words in all, which differ from call to call.
func words(n, call int) string {
	var text strings.Builder
	for i := range n {
		if i%20 == 19 {
			text.WriteString("of it. ")
		} else {
			fmt.Fprintf(&text, "Told%d ", (call+i)%97)
		}
	}
	return strings.TrimSpace(text.String())
}

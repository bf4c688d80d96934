package runner

import (
	"context"
	"errors"

	"annotator"
	"annotator/context/compaction"
	"annotator/context/tokens"
	"annotator/context/window"
)

// tellStory tells the story so far of a join, from the one before and the summaries of the threads that a part has
// brought. It asks more than once if they do not fit in a question.
func (r *Runner) tellStory(ctx context.Context) error {
	for {
		untold, err := r.Store.Joins.Untold(ctx)
		if err != nil || len(untold) == 0 {
			return err
		}
		if r.stopped() {
			return annotator.Errorf(annotator.Interrupted, "stopped before the story so far was told").
				WithAdvice("run again to go on")
		}
		if err := r.tellMore(ctx, untold); err != nil {
			return err
		}
	}
}

// tellMore tells the story so far with as many more threads as fit in a question. Without an answer a rule does.
func (r *Runner) tellMore(ctx context.Context, untold []annotator.Episode) error {
	before, err := r.Store.Episodes.Newest(ctx, annotator.EpisodeCumulative, 0)
	if err != nil {
		return err
	}
	q, threads, err := r.askStory(before, untold)
	if err != nil {
		return err
	}
	story := &annotator.Episode{
		Kind: annotator.EpisodeCumulative, FromScene: threads[0].FromScene, ToScene: threads[len(threads)-1].ToScene,
		By: annotator.AuthorModel,
	}
	former := ""
	if before != nil {
		story.FromScene, story.Supersedes, former = before.FromScene, before.ID, before.Summary
	}
	row := &annotator.Trace{Kind: annotator.TraceReply}
	var call *annotator.Call
	answer, err := r.questions().summarise(ctx, q)
	if err == nil {
		call, row.Content, row.Reasoning = answer.Call, answer.Text, answer.Reasoning
		read, _ := compaction.ReadEnd(stepOf(threads), answer.Text)
		if story.Summary = read.Story; story.Summary == "" {
			call.Discard("it holds no summary", answer.Body)
		}
	} else if !errors.Is(err, window.ErrNoSummary) {
		return err
	}
	if story.Summary == "" {
		var texts []string
		for i := range threads {
			texts = append(texts, threads[i].Summary)
		}
		story.By, story.Summary = annotator.AuthorRule, compaction.RuleStory(former, texts)
		row = &annotator.Trace{
			Kind: annotator.TraceNote, Content: "The model has not told the story so far. A rule does.",
		}
	}
	row.Tokens, story.Tokens = tokens.Estimate(row.Content), r.window.Count(story.Summary)
	return r.Store.Curation.Decide(ctx, call, row, nil, &annotator.Summaries{Episodes: []annotator.Episode{*story}})
}

// askStory returns the question for the story so far, and the threads that it shows: as many as fit, or one.
func (r *Runner) askStory(before *annotator.Episode, untold []annotator.Episode) (
	*window.Question, []annotator.Episode, error,
) {
	config := &r.window.Config
	for threads := untold; ; threads = threads[:(len(threads)+1)/2] {
		text, err := compaction.EndInstruction(config.SummaryTemplate, stepOf(threads), "")
		if err != nil {
			return nil, nil, err
		}
		p, err := r.window.Before(0)
		if err != nil {
			return nil, nil, err
		}
		q := &window.Question{
			Text: compaction.Render(before, threads) + text, Prompt: p, MaxTokens: config.SummaryTokens,
			Temperature: config.SummaryTemperature,
		}
		if err := p.Ask(q.Text); err != nil {
			return nil, nil, err
		}
		if len(threads) == 1 || r.window.Budget.ReplyTo(p.Tokens()) >= q.MaxTokens {
			return q, threads, nil
		}
	}
}

// stepOf is the step of compaction that would end threads that have their summaries.
func stepOf(threads []annotator.Episode) compaction.Step {
	step := compaction.Step{Tier: compaction.TierThread}
	for i := range threads {
		step.Threads = append(step.Threads, threads[i].Thread)
	}
	step.Known = step.Threads
	return step
}

package runner

import (
	"context"
	"errors"

	"annotator"
	"annotator/context/window"
	"annotator/model"
	"annotator/snapshot"
	"annotator/storage"
	"annotator/tools"
)

// newWindow returns the window of a run, which is to be restored.
func (r *Runner) newWindow() *window.Window {
	c := &r.config
	return window.New(
		window.Config{
			Policy: c.Compaction, SummaryTemplate: c.Identity.Summariser, SummaryTokens: c.SummaryTokens, SummaryTemperature: c.SummaryTemperature,
			OnCompaction: func(c *annotator.Compaction) {
				r.publish(annotator.Notice{
					Kind: annotator.NoticeCompaction, Tier: c.State.Tier, TokensBefore: c.Before, TokensAfter: c.After, Reason: c.Reason,
				})
			},
		},
		&r.Client.Capabilities.Budget,
		func(group []annotator.Message) ([]byte, error) { return r.Client.Wire.Encode(group) },
		window.Sources{
			Journal: r.Store.Journal, Episodes: r.Store.Episodes, Calls: r.Store.Calls, Scenes: r.Store.Scenes,
			ChangedIn: r.Store.Glossary.ChangedIn, Unmended: tools.Unmended, Posts: r.corpus.Scene, Summarise: r.summarise,
		},
	)
}

// usePrompt puts a prompt in force.
func (r *Runner) usePrompt(p *storage.Prompt) error {
	prefix, err := snapshot.Prefix(p, r.Client.Wire)
	if err == nil {
		r.prompt, r.window.Prefix = *p, prefix
		r.Client.Capabilities.Workarounds |= model.ParseRendering(p.Workarounds)
	}
	return err
}

// recordWorkarounds records those that change how messages are rendered, before a request is sent so. They begin an epoch
// and hold for later processes.
func (r *Runner) recordWorkarounds(ctx context.Context) error {
	r.window.Rerendered()
	p := &r.prompt
	if p.Workarounds = r.Client.Capabilities.Workarounds.Rendering(); p.Hash == "" {
		return nil // the prompt is not in force yet, and is recorded with them
	}
	p.Hash = storage.HashPrompt(p.SystemPrompt, p.Tools, p.Workarounds)
	return r.Store.Journal.UsePrompt(ctx, *p)
}

// summarise has the model write a summary. See window.Sources.
func (r *Runner) summarise(ctx context.Context, q *window.Question) (*window.Answer, error) {
	reply, err := r.ask(ctx, annotator.PurposeSummarise, q, nil)
	switch {
	case errors.As(err, new(*model.Unanswered)):
		return nil, window.ErrNoSummary
	case err != nil:
		return nil, err
	}
	return &window.Answer{Call: reply.Call, Text: reply.Text, Reasoning: reply.Reasoning, Body: reply.Body()}, nil
}

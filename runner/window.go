package runner

import (
	"context"

	"annotator"
	"annotator/context/window"
)

// newWindow returns the window of a run, which is to be restored.
func (r *Runner) newWindow() *window.Window {
	c := &r.config
	return window.New(
		window.Config{
			Policy: c.Compaction, SummaryTemplate: c.Identity.Summariser, SummaryTokens: c.SummaryTokens,
			SummaryTemperature: c.SummaryTemperature,
			OnCompaction: func(c *annotator.Compaction) {
				r.publish(annotator.Notice{
					Kind: annotator.NoticeCompaction, Tier: c.State.Tier, TokensBefore: c.Before, TokensAfter: c.After,
					Reason: c.Reason,
				})
			},
		},
		&r.Client.Capabilities.Budget,
		func(group []annotator.Message) ([]byte, error) { return r.Client.Wire.Encode(group) },
		window.Sources{
			Journal: r.Store.Journal, Episodes: r.Store.Episodes, Calls: r.Store.Calls, Scenes: r.Store.Scenes,
			ChangedIn: r.Store.Glossary.ChangedIn, Posts: r.corpus.Scene,
			Summarise: func(ctx context.Context, q *window.Question) (*window.Answer, error) {
				return r.questions().summarise(ctx, q)
			},
		},
	)
}

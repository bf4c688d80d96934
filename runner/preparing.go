package runner

import (
	"context"

	"annotator"
	"annotator/context/tokens"
	"annotator/corpus"
	"annotator/runner/entries"
)

// preparing is PREPARING: the scene, with the entries that it needs, becomes the message that begins its turn.
func (r *Runner) preparing(ctx context.Context) (annotator.Event, error) {
	s := r.scene
	if s.turn != 0 { // the window was compacted in the middle of the scene
		return annotator.EventPrepared, nil
	}
	if s.outcome.Reason = corpus.Untold(s.Posts); s.outcome.Reason != "" {
		return annotator.EventNothingToAsk, nil
	}
	answers, err := r.Store.Edits.NewAnswers(ctx)
	if err != nil {
		return "", err
	}
	selection := entries.Selection{
		Scene: &s.Scene, Names: r.names, Glossary: r.Store.Glossary, Window: r.window, Answers: answers,
	}
	glossary, shows, err := selection.Render(ctx, r.glossaryRoom())
	if err != nil {
		return "", err
	}
	row := &annotator.Trace{
		Kind: annotator.TraceScene, Scene: s.row.N, Content: s.text, Attached: s.note + glossary,
		Shows: shows, Parsed: annotator.Parsed{Answers: selection.Answered},
	}
	row.Tokens = tokens.EstimateMessage(row.Text())
	if err := r.Store.Scenes.Open(ctx, row); err != nil {
		return "", err
	}
	s.turn = row.Turn
	return annotator.EventPrepared, r.apply(row)
}

// replyShare is the part of the room for a reply that its calls are expected to need in the window.
const replyShare = 2

// glossaryRoom returns how many tokens of the glossary a scene is shown. In a small window the scene and its calls have
// precedence.
func (r *reading) glossaryRoom() int {
	b := r.window.Budget
	return min(int(r.config.RelevantShare*float64(b.Context())), r.window.Room()-b.Reply()/replyShare)
}

package runner

import (
	"context"
	"slices"
	"strings"

	"annotator"
	"annotator/context/mechanics"
	"annotator/context/prompt"
	"annotator/context/tokens"
)

// preparing is PREPARING: the scene, with the entries it names, becomes the message that begins its turn.
func (r *Runner) preparing(ctx context.Context) (annotator.Event, error) {
	s := r.scene
	if s.turn != 0 { // the window was compacted in the middle of the scene
		return annotator.EventPrepared, nil
	}
	if s.outcome.Reason = untold(&s.Scene); s.outcome.Reason != "" {
		return annotator.EventNothingToAsk, nil
	}
	relevant, shows, err := r.relevant(ctx)
	if err != nil {
		return "", err
	}
	row := &annotator.Trace{Kind: annotator.TraceScene, Scene: s.row.N, Content: s.text + relevant, Shows: shows}
	row.Tokens = tokens.EstimateMessage(row.Content)
	if err := r.Store.Scenes.Open(ctx, row); err != nil {
		return "", err
	}
	s.turn = row.Turn
	return annotator.EventPrepared, r.apply(row)
}

// untold returns why the model is not asked about a scene: it tells nothing; empty if it may.
func untold(s *annotator.Scene) string {
	reason := "no text"
	for i := range s.Posts {
		switch body := s.Posts[i].Body; {
		case strings.TrimSpace(body) == "":
		case mechanics.Only(body):
			reason = "nothing but dice, numbers and votes"
		default:
			return ""
		}
	}
	return reason
}

// relevant renders the entries that the scene names and the window does not show as they read now: best first, as many
// as their share of the context allows.
func (r *Runner) relevant(ctx context.Context) (string, []annotator.Shown, error) {
	ids, err := r.notShown(ctx)
	if err != nil || len(ids) == 0 {
		return "", nil, err
	}
	entries, err := r.Store.Glossary.Entries(ctx, ids)
	if err != nil {
		return "", nil, err
	}
	room := int(r.config.RelevantShare * float64(r.window.Limits.Context))
	var rendered []string
	var shows []annotator.Shown
	for _, id := range ids {
		text := prompt.Entry(entries[id])
		if room -= r.window.Count(text); room < 0 {
			break
		}
		rendered = append(rendered, text)
		shows = append(shows, annotator.Shown{Entry: id, Revision: entries[id].Revision})
	}
	return prompt.Relevant(rendered), shows, nil
}

// notShown returns the entries that the scene names and the window does not show as they read now, best first.
func (r *Runner) notShown(ctx context.Context) ([]int64, error) {
	names, err := r.names.Index(ctx)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, match := range names.Find(r.scene.story()) {
		ids = append(ids, match.ID)
	}
	var shown []annotator.Shown
	for _, id := range ids {
		if s, ok := r.window.Shown(id); ok {
			shown = append(shown, s)
		}
	}
	rewritten, err := r.Store.Glossary.ChangedSince(ctx, shown)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ids, func(id int64) bool {
		_, ok := r.window.Shown(id)
		return ok && !rewritten[id]
	}), nil
}

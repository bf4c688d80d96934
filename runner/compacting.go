package runner

import (
	"context"
	"fmt"

	"annotator"
	"annotator/context/prompt"
	"annotator/context/tokens"
	"annotator/context/window"
	"annotator/storage"
)

// compacting is COMPACTING: when the prompt would not fit, the oldest whole turns leave the window, down to the low-water
// mark, so that the prefix which the server has cached changes seldom. A scene that does not fit an empty window is refused.
func (r *Runner) compacting(ctx context.Context) (annotator.Event, error) {
	d, budget := r.day, r.promptBudget()
	need := r.promptTokens()
	if d.turn == 0 {
		need += r.counter.Scale(tokens.Estimate(prompt.Scene(&d.scene)) + tokens.PerMessage)
	}
	if need <= budget && !d.squeeze {
		return annotator.EventFits, nil
	}
	older := r.window.Turns()
	if n := len(older); d.turn != 0 && n > 0 {
		older = older[:n-1]
	}
	held := 0
	for _, turn := range older {
		held += r.counter.Scale(turn.Tokens)
	}
	fixed := need - held
	target := int(float64(budget)*r.Config.LowWater) - fixed
	_, overflow := window.Select(older, max(target, 0), func(t window.Turn) int { return r.counter.Scale(t.Tokens) })
	if overflow == nil {
		return r.refuseSize(need, budget)
	}
	d.squeeze = false
	through := older[overflow.Dropped-1].ID
	if err := r.drop(ctx, overflow, through, need); err != nil {
		return "", err
	}
	if need -= overflow.Tokens; need > budget {
		return r.refuseSize(need, budget)
	}
	return annotator.EventFits, nil
}

func (r *Runner) refuseSize(need, budget int) (annotator.Event, error) {
	return r.refuse(fmt.Sprintf("too long: the scene needs a prompt of about %d tokens, %d fit; raise --context-budget", need, budget), nil)
}

func (r *Runner) drop(ctx context.Context, overflow *window.Overflow, through int64, before int) error {
	reason := fmt.Sprintf("the window was full: its %d oldest turns (about %d tokens) left it", overflow.Dropped, overflow.Tokens)
	err := r.Store.Compact(ctx, storage.Compaction{
		Tier: "drop", Through: through, Before: before, After: before - overflow.Tokens, Reason: reason,
	})
	if err != nil {
		return err
	}
	r.publish(annotator.Notice{Kind: annotator.NoticeCompaction, Reason: reason})
	return r.window.Drop(through)
}

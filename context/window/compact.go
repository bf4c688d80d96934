package window

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"annotator"
	"annotator/context/compaction"
	"annotator/context/tokens"
)

// ErrNoSummary says that a step of compaction has no summary to put in the place of turns, or none that is shorter.
var ErrNoSummary = errors.New("no summary")

// MakeRoom compacts the window if the present scene does not fit, in steps, each of which is recorded before the next
// begins. It reports whether the scene fits then. With force the window counts as full, and the scene fits only if a
// step was made. Without force, a scene that the window shows already fits, because a compaction within a turn makes
// the server compute the turn again.
func (w *Window) MakeRoom(ctx context.Context, force bool) (fits bool, err error) {
	w.countScene(ctx)
	if !force && !w.unfinished && (w.scene.turn != 0 || !w.Config.Policy.Full(w.load())) {
		return true, nil
	}
	v, err := w.view(ctx)
	if err != nil {
		return false, err
	}
	if force {
		v.Tokens = max(v.Tokens, v.Budget+1)
	}
	made, err := w.compact(ctx, v)
	if err != nil || w.Needed() > v.Budget || force && !made {
		return false, err
	}
	w.unfinished = false
	return true, nil
}

// compact makes the steps that the policy asks for, and reports whether any was made. A step that has no summary
// changes nothing, and the next tier is tried, so the steps end. After each step all tiers are tried again. So the next
// step depends on the window alone, as after a restart at that point.
func (w *Window) compact(ctx context.Context, v compaction.View) (made bool, err error) {
	var failed []compaction.Tier
	for {
		step, ok := w.Config.Policy.Next(v, failed)
		if !ok {
			return made, nil
		}
		err := w.step(ctx, step, v)
		if errors.Is(err, ErrNoSummary) {
			failed = append(failed, step.Tier)
			continue
		}
		if err != nil {
			return made, err
		}
		if v, err = w.view(ctx); err != nil {
			return made, err
		}
		made, failed = true, nil
	}
}

// load is how full the window is with the scene at hand.
func (w *Window) load() compaction.View {
	return compaction.View{Tokens: w.Needed(), Growth: w.growth(), Budget: w.Budget.Prompt()}
}

// view is the window as the policy sees it.
func (w *Window) view(ctx context.Context) (compaction.View, error) {
	v, count := w.load(), w.counts.counter.Count
	v.Thread = w.scene.thread
	turns, err := w.scenesOf(ctx, w.older())
	if err != nil {
		return v, err
	}
	v.Turns = turns
	_, chunks, err := w.sources.Episodes.InForce(ctx)
	for i := range chunks {
		size := tokens.Measure(compaction.Render(nil, chunks[i:i+1]))
		v.Chunks = append(v.Chunks, compaction.Chunk{Thread: chunks[i].Thread, Tokens: count(size)})
	}
	return v, err
}

// scenesOf returns turns of the window with the scenes that they read.
func (w *Window) scenesOf(ctx context.Context, turns []Turn) (all []compaction.Turn, err error) {
	count := w.counts.counter.Count
	for _, t := range turns {
		scene, err := w.sources.Scenes.OfTurn(ctx, t.ID)
		if err != nil {
			return nil, err
		}
		index, err := w.sources.Scenes.Index(ctx, scene)
		if err != nil {
			return nil, err
		}
		all = append(all, compaction.Turn{
			ID: t.ID, Scene: scene.N, Order: scene.Order, Thread: scene.Thread.ID, Index: index,
			Tokens: count(t.Size), Strips: count(t.Strips), Cuts: count(t.Cuts),
		})
	}
	return all, nil
}

// step makes one step: it gets the summary written, records it, and computes the window anew.
func (w *Window) step(ctx context.Context, step compaction.Step, v compaction.View) (err error) {
	c := &annotator.Compaction{State: w.state, Before: v.Tokens}
	c.State.Tier, c.State.Bare = string(step.Tier), max(w.state.Bare, lastTurn(v.Turns))
	c.State.Answers = c.State.Bare
	var answer *Answer
	switch step.Tier {
	case compaction.TierStrip:
		c.State.Strip = lastTurn(step.Turns)
	case compaction.TierCut:
		c.State.Cut, c.State.CutAt = lastTurn(step.Turns), w.Config.Policy.CutAt
	default:
		answer, err = w.summarise(ctx, step, c)
	}
	if err != nil {
		return err
	}
	saved, err := w.saved(ctx, c.State)
	if err != nil {
		return err
	}
	if saved <= 0 {
		return w.reject(ctx, answer, errors.New("the summary is longer than what it was to replace"))
	}
	c.After = c.Before - saved
	c.Reason = fmt.Sprintf("tier %s: the window had %d tokens, and has %d", step.Tier, c.Before, c.After)
	return w.commit(ctx, c, answer)
}

// lastTurn returns the id of the newest of turns; 0 for none.
func lastTurn(turns []compaction.Turn) int64 {
	if len(turns) == 0 {
		return 0
	}
	return turns[len(turns)-1].ID
}

// saved estimates by how many tokens a new state makes the window smaller.
func (w *Window) saved(ctx context.Context, state annotator.WindowState) (int, error) {
	rows, err := w.sources.Journal.Window(ctx, 0)
	if err != nil {
		return 0, err
	}
	rows = slices.DeleteFunc(rows, func(row annotator.Trace) bool { return row.Turn <= state.Through })
	h, err := NewHistory(w.encode, state, rows)
	if err != nil {
		return 0, err
	}
	return w.counts.counter.Count(w.history.Size()) - w.counts.counter.Count(h.Size()), nil
}

// reject records that an answer is not used. It returns ErrNoSummary. Answer is nil if the model was not asked.
func (w *Window) reject(ctx context.Context, answer *Answer, reason error) error {
	if answer != nil {
		answer.Call.Discard(reason.Error(), answer.Body)
		if err := w.sources.Calls.Fail(ctx, answer.Call); err != nil {
			return err
		}
	}
	return ErrNoSummary
}

func (w *Window) commit(ctx context.Context, c *annotator.Compaction, answer *Answer) error {
	if answer != nil {
		c.Call = answer.Call
		c.Reply = &annotator.Trace{
			Kind: annotator.TraceReply, Content: answer.Text, Reasoning: answer.Reasoning,
			Tokens: tokens.Estimate(answer.Text),
		}
	}
	if err := w.sources.Episodes.Compact(ctx, c); err != nil {
		return err
	}
	if w.Config.OnCompaction != nil {
		w.Config.OnCompaction(c)
	}
	return w.Reload(ctx)
}

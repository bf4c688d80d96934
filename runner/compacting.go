package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"annotator"
	"annotator/context/compaction"
	"annotator/context/tokens"
	"annotator/context/window"
	"annotator/model"
	"annotator/storage"
)

// compacting is COMPACTING: when the prompt would not fit, turns give way to summaries, step by step, each of which is in
// the journal before the next begins. A scene that does not fit an emptied window is refused.
func (r *Runner) compacting(ctx context.Context) (annotator.Event, error) {
	d, policy := r.day, &r.Config.Compaction
	r.countScene(ctx)
	v := r.load()
	if !d.squeeze && !r.unfinished && !policy.Full(v) {
		return annotator.EventFits, nil
	}
	v, err := r.view(ctx)
	if err != nil {
		return "", err
	}
	if d.squeeze { // whatever we count, the server wants less
		v.Tokens = max(v.Tokens, v.Budget+1)
	}
	squeezed, err := r.makeRoom(ctx, v)
	if err != nil {
		return "", err
	}
	if need := r.needed(); need > v.Budget || d.squeeze && !squeezed {
		return r.tooLong(need, v.Budget)
	}
	d.squeeze, r.unfinished = false, false
	return annotator.EventFits, nil
}

// makeRoom goes through the steps that the policy asks for, and reports whether any was made. A step that fails, or would not
// make the window smaller, changes nothing, and the next tier is tried: so it comes to an end.
func (r *Runner) makeRoom(ctx context.Context, v compaction.View) (made bool, err error) {
	var failed []compaction.Tier
	for {
		step, ok := r.Config.Compaction.Next(v, failed)
		if !ok {
			return made, nil
		}
		err := r.compact(ctx, step, v)
		if errors.Is(err, errNotBetter) {
			failed = append(failed, step.Tier)
			continue
		}
		if err != nil {
			return made, err
		}
		if v, err = r.view(ctx); err != nil {
			return made, err
		}
		made = true
	}
}

// view is the window as the policy sees it.
func (r *Runner) view(ctx context.Context) (compaction.View, error) {
	v := r.load()
	v.Thread = r.day.row.Thread.ID
	for _, t := range r.older() {
		scene, err := r.Store.Scenes.OfTurn(ctx, t.ID)
		if err != nil {
			return v, err
		}
		v.Turns = append(v.Turns, compaction.Turn{
			ID: t.ID, Scene: scene.N, Thread: scene.Thread.ID, Index: scene.Index,
			Tokens: r.counter.Count(t.Size), Strips: r.counter.Count(t.Strips), Cuts: r.counter.Count(t.Cuts),
		})
	}
	_, chunks, err := r.Store.Episodes.InForce(ctx)
	for i := range chunks {
		size := tokens.Measure(compaction.Render(nil, chunks[i:i+1]))
		v.Chunks = append(v.Chunks, compaction.Chunk{Thread: chunks[i].Thread, Tokens: r.counter.Count(size)})
	}
	return v, err
}

// older returns the turns of the window without the one at hand.
func (r *Runner) older() []window.Turn {
	turns := r.window.Turns()
	if n := len(turns); n > 0 && r.day.turn == turns[n-1].ID {
		return turns[:n-1]
	}
	return turns
}

// errNotBetter says that a step would not have made the window smaller, or had nothing to put in place of the turns.
var errNotBetter = errors.New("the step makes nothing better")

// compact makes one step: it has the summary written, puts it in place of the turns, and folds the window anew.
func (r *Runner) compact(ctx context.Context, step compaction.Step, v compaction.View) error {
	c := &storage.Compaction{Fold: r.fold, Before: v.Tokens}
	c.Fold.Tier = string(step.Tier)
	var err error
	switch step.Tier {
	case compaction.TierStrip:
		c.Fold.Strip = lastTurn(step)
	case compaction.TierCut:
		c.Fold.Cut, c.Fold.CutAt = lastTurn(step), r.Config.Compaction.CutAt
	default:
		err = r.summarise(ctx, step, c)
	}
	if err != nil {
		return err
	}
	saved, err := r.saved(ctx, c.Fold)
	if err != nil {
		return err
	}
	if saved <= 0 {
		return r.refuseStep(ctx, c)
	}
	c.After = c.Before - saved
	c.Reason = fmt.Sprintf("tier %s: the window had %d tokens, and has %d", step.Tier, c.Before, c.After)
	if err := r.Store.Episodes.Compact(ctx, c); err != nil {
		return err
	}
	r.publish(annotator.Notice{Kind: annotator.NoticeCompaction, Reason: c.Reason})
	return r.refold(ctx)
}

func lastTurn(step compaction.Step) int64 {
	if len(step.Turns) == 0 {
		return 0
	}
	return step.Turns[len(step.Turns)-1].ID
}

// saved estimates what a step makes the window smaller by.
func (r *Runner) saved(ctx context.Context, fold annotator.WindowState) (int, error) {
	rows, err := r.Store.Journal.Window(ctx, 0)
	if err != nil {
		return 0, err
	}
	rows = slices.DeleteFunc(rows, func(row annotator.Trace) bool { return row.Turn <= fold.Through })
	w, err := Fold(r.Wire.Encode, fold, rows)
	if err != nil {
		return 0, err
	}
	return r.counter.Count(r.window.Size()) - r.counter.Count(w.Size()), nil
}

// refuseStep ends the call of a summary that is longer than what it was to replace.
func (r *Runner) refuseStep(ctx context.Context, c *storage.Compaction) error {
	if c.Call == nil {
		return errNotBetter
	}
	return r.unusable(ctx, &model.Reply{Text: c.Reply.Content, Call: c.Call}, errors.New("the summary is longer than what it was to replace"))
}

// refold takes in what the window is told to be now.
func (r *Runner) refold(ctx context.Context) (err error) {
	if r.fold, r.unfinished, err = r.Store.Episodes.WindowState(ctx, 0); err != nil {
		return err
	}
	rows, err := r.Store.Journal.Window(ctx, 0)
	if err != nil {
		return err
	}
	fold := r.fold
	fold.CutAt = cmp.Or(fold.CutAt, r.Config.Compaction.CutAt)
	if r.window, err = Fold(r.Wire.Encode, fold, rows); err != nil {
		return err
	}
	return r.recount(ctx, rows)
}

// recount takes in what the server said: of the newest prompts, for estimates, and of the newest one exactly, if the window
// has not been compacted since.
func (r *Runner) recount(ctx context.Context, rows []annotator.Trace) error {
	r.exact, r.seen, r.since, r.counter = 0, 0, tokens.Size{}, tokens.Counter{}
	counted, err := r.Store.Calls.Counted(ctx, tokens.Memory)
	if err != nil {
		return err
	}
	for _, c := range counted {
		r.counter.Observe(tokens.Observation{Size: c.Characters, Tokens: c.Tokens})
	}
	last, err := r.Store.Calls.Last(ctx)
	if err != nil || last.Reply <= r.foreign || !last.Usage.Exact || last.Compacted {
		return err
	}
	for i := range rows {
		switch row := &rows[i]; {
		case row.ID == last.Reply:
			r.counted(last.Usage, row)
		case row.ID > last.Reply:
			r.weigh(row)
		}
	}
	return nil
}

// Fold folds rows of the journal into the window that they make.
func Fold(encode window.Encoder, fold annotator.WindowState, rows []annotator.Trace) (*window.Window, error) {
	w, err := window.New(encode, fold)
	for i := range rows {
		if err == nil {
			err = w.Add(&rows[i])
		}
	}
	return w, err
}

// summarise fills in a compaction: the summary, as the model or a rule writes it, and the memory that it makes.
func (r *Runner) summarise(ctx context.Context, step compaction.Step, c *storage.Compaction) error {
	story, chunks, err := r.Store.Episodes.InForce(ctx)
	if err != nil {
		return err
	}
	m := &memory{r: r, step: step, story: story, chunks: chunks}
	if step.Tier == compaction.TierRule {
		err = m.byRule(ctx)
	} else {
		err = m.byModel(ctx, c)
	}
	if err == nil {
		err = m.replace(ctx, c)
	}
	return err
}

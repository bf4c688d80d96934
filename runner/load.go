package runner

import (
	"cmp"
	"context"
	"time"

	"annotator/context/compaction"
	"annotator/context/tokens"
)

// load is how full the window is with the scene at hand.
func (r *Runner) load() compaction.View {
	return compaction.View{Tokens: r.needed(), Growth: r.growth(), Budget: r.promptBudget()}
}

// needed estimates the prompt of the next call, the scene at hand included.
func (r *Runner) needed() int {
	need := r.promptTokens()
	if r.day.turn == 0 {
		need += cmp.Or(r.day.counted, r.counter.Count(r.day.size))
	}
	return need
}

// countScene has the server count the scene at hand, if it can, where the scene decides whether the window is full.
func (r *Runner) countScene(ctx context.Context) {
	if r.tokenizer == nil || r.day.turn != 0 {
		return
	}
	scene, excess := r.counter.Count(r.day.size), r.Config.Compaction.Excess(r.load())
	if excess > scene || excess < -scene {
		return
	}
	if n := r.serverCount(ctx, r.day.text); n > 0 {
		r.day.counted = n + tokens.PerMessage
	}
}

// tokenizerPatience is how long a server may take to count tokens.
const tokenizerPatience = 10 * time.Second

// serverCount has the server count a text; 0 where it cannot. One that fails is not asked again, and estimates have to do.
func (r *Runner) serverCount(ctx context.Context, text string) int {
	ctx, cancel := context.WithTimeout(ctx, tokenizerPatience)
	defer cancel()
	n, err := r.tokenizer.CountTokens(ctx, r.Config.Model, text)
	if err != nil {
		r.tokenizer = nil
	}
	return n
}

// growth estimates what the turn at hand will add to the prompt yet, by what the turns in the window have come to: a
// compaction in the middle of a turn has the server read that turn twice.
func (r *Runner) growth() int {
	older := r.older()
	if len(older) == 0 {
		return 0
	}
	var all tokens.Size
	for i := range older {
		all = all.Plus(older[i].Size)
	}
	now := r.day.size
	if turns := r.window.Turns(); len(turns) > len(older) {
		now = turns[len(turns)-1].Size
	}
	return max(0, r.counter.Count(all)/len(older)-r.counter.Count(now))
}

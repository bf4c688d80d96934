package runner

import (
	"context"
	"strconv"
	"sync"
	"time"

	"annotator"
)

// Price is what a million tokens cost, in one currency.
type Price struct {
	In     float64 // of prompts
	Cached float64 // of prompts, where the server had them in its cache
	Out    float64 // of replies
}

// Of returns what a usage costs. Tokens of which the server does not say whether it had them cost the full price.
func (p *Price) Of(u annotator.Usage) float64 {
	return (float64(u.Prompt-u.Cached)*p.In + float64(u.Cached)*p.Cached + float64(u.Completion)*p.Out) / 1e6
}

// Bounds end a run at a checkpoint. Each is checked before a scene is begun, so a run passes it by one scene at most,
// with what the curator asks after it. What earlier processes have used counts, and so do probes. A zero value is no
// bound.
type Bounds struct {
	Tokens int // of prompts and replies
	Cost   float64
	Price  Price
	Until  time.Time
	Ledger *Ledger `json:"-"` // of the runs that have the bounds together; nil: of this run alone
	Name   string  // of this run in the ledger
}

// Reached returns which bound is reached, as an error of kind annotator.Bounded; nil for none.
func (b *Bounds) Reached(used annotator.Usage, now time.Time) *annotator.Error {
	tokens, cost := used.Prompt+used.Completion, b.Price.Of(used)
	switch {
	case b.Tokens > 0 && tokens >= b.Tokens:
		return annotator.Errorf(annotator.Bounded, "%d tokens are used, and the bound is %d", tokens, b.Tokens).
			WithReason(annotator.ReasonTokenBound)
	case b.Cost > 0 && cost >= b.Cost:
		return annotator.Errorf(annotator.Bounded, "the tokens cost %.2f so far, and the bound is %s", cost,
			strconv.FormatFloat(b.Cost, 'f', -1, 64)).WithReason(annotator.ReasonCostBound)
	case !b.Until.IsZero() && !now.Before(b.Until):
		return annotator.Errorf(annotator.Bounded, "the run was to end at %s", b.Until.Format("2006-01-02 15:04 MST")).
			WithReason(annotator.ReasonTimeBound)
	}
	return nil
}

// Ledger adds up what several runs use. Its methods are safe for concurrent use.
type Ledger struct {
	mu   sync.Mutex
	used map[string]annotator.Usage // by run
}

// Note records all that a run has used so far.
func (l *Ledger) Note(run string, used annotator.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used == nil {
		l.used = map[string]annotator.Usage{}
	}
	l.used[run] = used
}

// Sum returns what all runs have used.
func (l *Ledger) Sum() (sum annotator.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range l.used {
		sum = sum.Plus(u)
	}
	return sum
}

// checkBounds reports whether a bound is reached, and keeps which.
func (r *Runner) checkBounds(ctx context.Context) (reached bool, err error) {
	b := &r.config.Bounds
	if b.Tokens == 0 && b.Cost == 0 && b.Until.IsZero() {
		return false, nil
	}
	used, err := r.Store.Run.Used(ctx)
	if err != nil {
		return false, err
	}
	if b.Ledger != nil {
		b.Ledger.Note(b.Name, used)
		used = b.Ledger.Sum()
	}
	r.bound = b.Reached(used, r.Client.Now())
	return r.isBounded(), nil
}

// isBounded reports whether the run has seen that a bound is reached.
func (r *Runner) isBounded() bool { return r.bound != nil }

// stoppedAt returns the error of a run that has stopped at a bound.
func (r *Runner) stoppedAt(bound *annotator.Error) error {
	return annotator.Errorf(bound.Kind, "stopped after scene %d of %d: %w", r.progress.done, r.progress.total,
		bound.Err).WithReason(bound.Reason)
}

// stopInTime has the run stopped when its time is up, also while it waits for a server. The caller ends that.
func (r *Runner) stopInTime() (end func()) {
	left := r.config.Bounds.Until.Sub(r.Client.Now())
	if left <= 0 { // there is none, or it is seen before the first request
		return func() {}
	}
	timer := time.AfterFunc(left, r.Stop)
	return func() { timer.Stop() }
}

// boundReached returns the bound for which a run has stopped; nil for none.
func (r *Runner) boundReached() *annotator.Error {
	if r.bound == nil && r.stopped() {
		return (&Bounds{Until: r.config.Bounds.Until}).Reached(annotator.Usage{}, r.Client.Now())
	}
	return r.bound
}

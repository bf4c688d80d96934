package replay

import (
	"context"
	"fmt"
	"time"

	"annotator"
	"annotator/model"
)

// Replayer is a model.Wire that answers from a recording. It asks no server. It is used by one goroutine at a time.
type Replayer struct {
	encoder

	Numbers Numbers                // of the run
	Notify  func(annotator.Notice) // is called at the first request that differs; nil: never

	recording *Recording
	strict    bool // a request that differs from the recorded one fails
	tally     Tally
	newest    request   // that was answered
	at        time.Time // when its reply had come
}

// Tally counts the requests that were replayed.
type Tally struct {
	Requests int    `json:"requests"`
	Differ   int    `json:"differ"`          // from those that were recorded
	Missing  int    `json:"missing"`         // that were not recorded
	First    string `json:"first,omitempty"` // how the first differed
}

var (
	_ model.Wire    = (*Replayer)(nil)
	_ model.Counter = (*Replayer)(nil)
)

// NewReplayer returns a wire that answers from a recording. With strict, the first request that differs from the
// recorded one halts the run. The caller sets Numbers before the first request.
func NewReplayer(r *Recording, strict bool) *Replayer {
	return &Replayer{recording: r, strict: strict, at: r.Made}
}

// Tally returns what was replayed so far.
func (w *Replayer) Tally() Tally { return w.tally }

// Now returns the time at which the newest reply had come when it was recorded.
func (w *Replayer) Now() time.Time { return w.at }

// Len returns how many requests are recorded.
func (r *Recording) Len() int { return len(r.exchanges) }

// Model returns the model that the first request names; empty if there is none.
func (r *Recording) Model() string {
	if r.first == nil {
		return ""
	}
	return r.first.Model
}

// Budget returns the tokens of prompt and reply together that the recorded run began with; 0 if not known.
func (r *Recording) Budget() int {
	if r.first == nil {
		return 0
	}
	return r.first.Budget
}

// Models lists the recorded model. See model.Wire.
func (w *Replayer) Models(context.Context) ([]model.Model, error) {
	if w.recording.first == nil {
		return nil, nil
	}
	return []model.Model{{ID: w.recording.first.Model, MaxContext: w.recording.first.Context}}, nil
}

// Refusals returns none: no server refuses the form of a request. See model.Wire.
func (w *Replayer) Refusals() []model.Refusal { return nil }

// CountTokens returns how many tokens a text had for the recorded server. See model.Counter.
func (w *Replayer) CountTokens(_ context.Context, _, text string) (int, error) {
	if n, known := w.recording.counts[digestOf(text)]; known {
		return n, nil
	}
	return 0, unable()
}

// Complete returns the recorded reply to a request, or the recorded fault. See model.Wire.
func (w *Replayer) Complete(ctx context.Context, r *model.Request) (*model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.Call.Purpose == annotator.PurposeProbe {
		return &model.Reply{Text: "yes", Model: r.Model, Finish: "stop"}, nil
	}
	answered, err := w.Numbers.Answered(ctx, r.Call.Scene, r.Call.Purpose)
	if err != nil {
		return nil, err
	}
	name := request{r.Call.Scene, r.Call.Purpose, answered + 1}
	isAgain := name == w.newest
	w.newest = name
	if !isAgain {
		w.tally.Requests++
	}
	x := w.recording.exchanges[name]
	if x == nil {
		return nil, w.missing(name, isAgain)
	}
	if err := w.compare(name, x, r, isAgain); err != nil {
		return nil, err
	}
	w.at = x.at
	r.LeastPrompt = 0 // the recorded prompt may be shorter, and its count was judged when it was recorded
	if x.fault != nil {
		return nil, x.fault.fault()
	}
	return x.reply.reply(), nil
}

// missing returns the fault of a request that was not recorded. A run cannot go on without the reply to a scene. Of
// other questions it is a refusal, as if the model had declined.
func (w *Replayer) missing(name request, isAgain bool) *model.Fault {
	if !isAgain {
		w.tally.Missing++
	}
	f := &model.Fault{Kind: annotator.Refused, Message: fmt.Sprintf("%s has no %s", w.recording.Path, name)}
	if name.purpose == annotator.PurposeAnnotate {
		f.Kind, f.Reason = annotator.Misconfigured, annotator.ReasonNotRecorded
	}
	return f
}

// compare counts a request that differs from the recorded one, and says how the first does.
func (w *Replayer) compare(name request, x *exchange, r *model.Request, isAgain bool) error {
	parts, err := partsOf(r)
	if err != nil {
		return err
	}
	var d digest
	for _, part := range parts {
		d = d.after(part)
	}
	if d == x.parts.sum() || isAgain {
		return nil
	}
	w.tally.Differ++
	if w.tally.Differ > 1 {
		return nil
	}
	w.tally.First = fmt.Sprintf("%s differs from the recorded one in %s", name,
		firstDifference(x.parts.parts(), parts))
	if w.strict {
		return &model.Fault{
			Kind: annotator.Misconfigured, Reason: annotator.ReasonReplayDiffers, Message: w.tally.First,
		}
	}
	if w.Notify != nil {
		w.Notify(annotator.Notice{Kind: annotator.NoticeWarning, Reason: w.tally.First})
	}
	return nil
}

package replay

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"time"

	"annotator"
	"annotator/budget"
	"annotator/model"
)

// Numbers counts the requests of a run.
type Numbers interface {
	// Answered returns how many requests of a scene for a purpose have ended, with a reply or by being given up.
	Answered(ctx context.Context, scene int, purpose annotator.CallPurpose) (int, error)
}

// Recorder is a model.Wire that writes what passes through another one to a file. It is used by one goroutine at a
// time.
type Recorder struct {
	encoder

	Numbers Numbers        // of the run
	Budget  *budget.Budget // of the run's client; nil: it is not written

	wire    model.Wire
	now     func() time.Time
	file    *os.File
	written *Recording // what the file has
}

var (
	_ model.Wire          = (*Recorder)(nil)
	_ model.Counter       = (*Recorder)(nil)
	_ model.CacheCounter  = (*Recorder)(nil)
	_ model.HealthChecker = (*Recorder)(nil)
)

// Record opens a recording for appending, and creates it if needed. An incomplete last line is removed. The error is of
// kind annotator.Misused if the file is something else, or cannot be written. The caller sets Numbers before the first
// request.
func Record(path, endpoint string, wire model.Wire, now func() time.Time) (*Recorder, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "record to %s: %w", path, err).
			WithReason(annotator.ReasonNoRecording)
	}
	w := &Recorder{wire: wire, now: now, file: file, written: newRecording()}
	w.written.digestsOnly = true
	if err := w.open(endpoint); err != nil {
		_ = file.Close()
		return nil, annotator.Errorf(annotator.Misused, "record to %s: %w", path, err).
			WithReason(annotator.ReasonNoRecording)
	}
	return w, nil
}

// open reads what the file has, and writes the first line of an empty one.
func (w *Recorder) open(endpoint string) error {
	info, err := w.file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	case info.Size() == 0:
		return w.write(&line{Format: formatName, Version: formatVersion, Endpoint: endpoint, At: w.now()})
	}
	if err := w.written.read(bufio.NewReader(w.file)); err != nil {
		return err
	}
	return w.file.Truncate(w.written.size)
}

// Close syncs and closes the file.
func (w *Recorder) Close() error {
	if err := cmp.Or(w.file.Sync(), w.file.Close()); err != nil {
		return annotator.Errorf(annotator.Storage, "record to %s: %w", w.file.Name(), err)
	}
	return nil
}

// Models lists the models of the endpoint. See model.Wire.
func (w *Recorder) Models(ctx context.Context) ([]model.Model, error) { return w.wire.Models(ctx) }

// Refusals returns the refusals of the recorded wire. See model.Wire.
func (w *Recorder) Refusals() []model.Refusal {
	list := slices.Clone(w.wire.Refusals())
	for i := range list {
		if list[i].Without != "" { // the only texts that refusals look for are those of the results of tools
			list[i].Without = toolResult
		}
	}
	return list
}

// Complete sends a request by the recorded wire, and writes it with what came of it. See model.Wire.
func (w *Recorder) Complete(ctx context.Context, r *model.Request) (*model.Reply, error) {
	rendered, err := render(r, w.wire)
	if err != nil {
		return nil, err
	}
	got, failed := w.wire.Complete(ctx, rendered)
	refusal, isFault := errors.AsType[*model.Fault](failed)
	if failed != nil && (ctx.Err() != nil || !isFault || !ofRequest(refusal)) {
		return got, failed
	}
	l := line{At: w.now(), Scene: r.Call.Scene, Purpose: r.Call.Purpose, Attempt: r.Call.Attempt}
	if isFault {
		l.Fault = newFault(refusal)
	} else {
		l.Reply = newReply(got)
	}
	if err := w.writeExchange(ctx, r, &l); err != nil {
		return nil, w.notWritten(err)
	}
	return got, failed
}

// writeExchange writes a line with the request that it is of.
func (w *Recorder) writeExchange(ctx context.Context, r *model.Request, l *line) error {
	answered, err := w.Numbers.Answered(ctx, l.Scene, l.Purpose)
	if err != nil {
		return err
	}
	parts, err := partsOf(r)
	if err != nil {
		return err
	}
	known := w.written.longest(parts)
	l.Number, l.Follows, l.Parts = answered+1, known.len(), parts[known.len():]
	if known != nil {
		l.Digest = known.digest.String()
	}
	s := settings{
		Model: r.Model, Temperature: r.Temperature, MaxTokens: r.MaxTokens, Stream: r.Stream, Choice: r.Choice.Mode,
		Allowed: r.Choice.Allowed,
	}
	if w.Budget != nil {
		s.Budget, s.Context = w.Budget.Usual(), w.Budget.Server()
	}
	if w.written.first == nil || !reflect.DeepEqual(s, w.written.settings) {
		l.Settings = &s
	}
	if err := w.write(l); err != nil {
		return err
	}
	return w.written.addExchange(l)
}

// write appends a line by one call of the system, so that a kill leaves whole lines and at most one that is not.
func (w *Recorder) write(l *line) error {
	text, err := encode(l)
	if err != nil {
		return err
	}
	_, err = w.file.Write(append(text, '\n'))
	return err
}

// notWritten is the fault of a reply that could not be written. The run halts before it uses the reply.
func (w *Recorder) notWritten(err error) *model.Fault {
	return &model.Fault{
		Kind: annotator.Misconfigured, Reason: annotator.ReasonNoRecording, Err: err,
		Message: fmt.Sprintf("the reply cannot be recorded in %s: %v", w.file.Name(), err),
	}
}

// CountTokens has the server count a text, and writes the count. See model.Counter.
func (w *Recorder) CountTokens(ctx context.Context, name, text string) (int, error) {
	counter, able := w.wire.(model.Counter)
	if !able {
		return 0, unable()
	}
	n, err := counter.CountTokens(ctx, name, text)
	if err != nil {
		return 0, err
	}
	if err := w.write(&line{At: w.now(), Count: &count{digestOf(text), n}}); err != nil {
		return 0, w.notWritten(err)
	}
	return n, nil
}

// CacheCounts reads the counters of the server. See model.CacheCounter.
func (w *Recorder) CacheCounts(ctx context.Context) (model.CacheCounts, error) {
	if counter, able := w.wire.(model.CacheCounter); able {
		return counter.CacheCounts(ctx)
	}
	return model.CacheCounts{}, unable()
}

// Health asks whether the server is well. See model.HealthChecker.
func (w *Recorder) Health(ctx context.Context) error {
	if checker, able := w.wire.(model.HealthChecker); able {
		return checker.Health(ctx)
	}
	return unable()
}

func unable() *model.Fault {
	return &model.Fault{Kind: annotator.Misconfigured, Message: "the endpoint cannot answer that"}
}

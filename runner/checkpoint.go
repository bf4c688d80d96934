package runner

import (
	"context"
	"fmt"

	"annotator"
)

// boundary is BOUNDARY: it tells the end of a thread, which the list of scenes knows, whoever posted last in it. A scene that is read
// again ended its thread when it was refused.
func (r *Runner) boundary(context.Context) (annotator.Event, error) {
	if r.day.row.Ends && r.day.row.Refusals == 0 {
		return annotator.EventThreadEnds, nil
	}
	return annotator.EventThreadContinues, nil
}

// checkpoint is CHECKPOINT: a snapshot, which is a position; the thread's state; care of the write-ahead log.
func (r *Runner) checkpoint(ctx context.Context) (annotator.Event, error) {
	snapshot, err := r.Store.Scenes.Checkpoint(ctx, r.day.row.N, r.window.Tokens())
	if err != nil {
		return "", err
	}
	n := annotator.Notice{Kind: annotator.NoticeScene, Entries: snapshot.Entries}
	if o := r.day.outcome; o.State == annotator.SceneQuarantined {
		n.Reason = o.Reason
	}
	r.publish(n)
	left, err := r.Store.Maintenance.CheckpointWAL(ctx)
	r.tellLog(left)
	return annotator.EventCheckpointed, err
}

// longLog is how many pages a write-ahead log may have before its length is worth a word: 4 KiB each.
const longLog = 16_000

// tellLog gives a word on a log that a reader keeps from being folded back, once.
func (r *Runner) tellLog(pages int) {
	if pages < longLog || r.logTold {
		return
	}
	r.logTold = true
	r.word(fmt.Sprintf("another program has been reading %s for long; the write-ahead log beside it has grown to %d MiB, and shrinks when that ends",
		r.Store.Path(), pages>>8))
}

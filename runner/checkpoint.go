package runner

import (
	"context"
	"fmt"

	"annotator"
	"annotator/curator"
	"annotator/model"
)

// boundary is BOUNDARY: it finds the end of a thread, or of all that is to be read. The last scene that is read may be
// one within a thread that was added late. A scene that is read again ended its thread when it was refused.
// A thread may be long. What is asked at its end is asked after each part of it, too, if half a part follows. So it is
// before a part of a thread leaves the window that this thread fills alone.
func (r *Runner) boundary(ctx context.Context) (annotator.Event, error) {
	row, read := r.scene.row, r.scene.Index+1
	switch {
	case row.Refusals > 0:
		return annotator.EventThreadContinues, nil
	case row.Ends, row.Last:
		return annotator.EventThreadEnds, nil
	case read >= len(r.window.History().Turns()) && r.window.FullAfter(1):
		return annotator.EventPartEnds, nil
	case read%curator.PartScenes == 0:
		later, err := r.Store.Scenes.Neighbor(ctx, row.Order, curator.PartScenes/2)
		if err == nil && later.Thread.ID == row.Thread.ID {
			return annotator.EventPartEnds, nil
		}
		if err != nil && annotator.KindOf(err) != annotator.NotFound {
			return "", err
		}
	}
	return annotator.EventThreadContinues, nil
}

// checkpoint is CHECKPOINT: it looks for names in what was read, makes a snapshot, and records the state of the thread.
// It also checkpoints the write-ahead log.
func (r *Runner) checkpoint(ctx context.Context) (annotator.Event, error) {
	mentions, err := r.names.Pending(ctx, &r.scene.Scene)
	if err != nil {
		return "", err
	}
	snapshot, err := r.Store.Scenes.Checkpoint(ctx, r.scene.row.N, r.window.Tokens(), mentions)
	if err != nil {
		return "", err
	}
	n := annotator.Notice{Kind: annotator.NoticeScene, Entries: snapshot.Entries}
	if o := r.scene.outcome; o.State == annotator.SceneQuarantined {
		n.Reason = o.Reason
	}
	r.publish(n)
	if err := r.checkYield(ctx); err != nil {
		return "", err
	}
	pages, err := r.Store.Maintenance.CheckpointWAL(ctx)
	r.warnOfWAL(pages)
	return annotator.EventCheckpointed, err
}

// maxWALPages is the length of the write-ahead log, in pages of 4 KiB, from which the user is warned.
const maxWALPages = 16_000

// warnOfWAL warns once of a write-ahead log that cannot be checkpointed because of a reader.
func (r *Runner) warnOfWAL(pages int) {
	if pages < maxWALPages || r.warnedOfWAL {
		return
	}
	r.warnedOfWAL = true
	r.warn(fmt.Sprintf("another program has been reading %s for long; the write-ahead log beside it has grown to "+
		"%d MiB, and shrinks when that ends", r.Store.Path(), pages>>8))
}

// warnOfReaders warns that the run waits for a reader of its database.
func (r *Runner) warnOfReaders(log int64) {
	r.warn(fmt.Sprintf("the run waits for another program that reads %s: the write-ahead log beside it has grown to "+
		"%d MiB, and begins anew when that ends; after ten minutes the run goes on, and the log grows",
		r.Store.Path(), log>>20))
}

// checkYield warns once in each process if the run has no results. A model whose calls all fail would read the whole
// story for nothing.
func (r *Runner) checkYield(ctx context.Context) error {
	if r.yieldKnown {
		return nil
	}
	y, err := r.Store.Run.Yield(ctx, model.EndpointOffline)
	if err != nil {
		return err
	}
	r.yieldKnown = r.warnOf(y.Warning()) || y.Sound()
	return nil
}

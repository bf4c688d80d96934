package runner

import "annotator"

// Publisher gets the notices of a run. The run goes on when Publish returns.
type Publisher interface {
	Publish(annotator.Notice)
}

func (r *Runner) publish(n annotator.Notice) {
	n.Time, n.Total, n.Done = r.Client.Now(), r.progress.total, r.progress.done
	if r.scene != nil {
		n.Scene, n.Turn = r.scene.row.N, r.scene.turn
	}
	r.bus.Publish(n)
}

func (r *Runner) warn(text string) {
	r.publish(annotator.Notice{Kind: annotator.NoticeWarning, Reason: text})
}

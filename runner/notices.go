package runner

import "annotator"

// Publisher gets the notices of a run. The run goes on when Publish returns.
type Publisher interface {
	Publish(annotator.Notice)
}

// publishNotice publishes a notice with the time and the present scene.
func (r *Runner) publishNotice(n annotator.Notice) {
	n.Time, n.Total, n.Done = r.Client.Now(), r.progress.total, r.progress.done
	if r.scene != nil {
		n.Scene, n.Turn = r.scene.row.N, r.scene.turn
	}
	if n.Err != nil {
		n.Reason = r.text(n.Err)
	}
	r.bus.Publish(n)
}

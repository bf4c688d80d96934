package runner

import "annotator"

// Publisher is passed the notices of a run. The run goes on when it returns.
type Publisher interface {
	Publish(annotator.Notice)
}

func (r *Runner) publish(n annotator.Notice) {
	n.Time, n.Total, n.Done = r.Now(), r.total, r.done
	if r.day != nil {
		n.Scene, n.Turn = r.day.row.N, r.day.turn
	}
	r.Bus.Publish(n)
}

func (r *Runner) word(text string) {
	r.publish(annotator.Notice{Kind: annotator.NoticeWarning, Reason: text})
}

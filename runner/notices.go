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
	if n.Err != nil {
		n.Reason = r.text(n.Err)
	}
	r.bus.Publish(n)
}

// advised returns an error with what to do next.
func (r *Runner) advised(err error) error {
	if r.config.Advise == nil || err == nil {
		return err
	}
	return r.config.Advise(err)
}

// text returns an error's text for people.
func (r *Runner) text(err error) string { return r.advised(err).Error() }

func (r *Runner) warn(text string) {
	r.publish(annotator.Notice{Kind: annotator.NoticeWarning, Reason: text})
}

// warnOf warns of what a program may have advice for, if there is anything, and reports whether there is.
func (r *Runner) warnOf(err error) bool {
	if err != nil {
		r.publish(annotator.Notice{Kind: annotator.NoticeWarning, Err: err})
	}
	return err != nil
}

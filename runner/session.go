package runner

import (
	"annotator"
	"annotator/context/window"
	"annotator/corpus"
	"annotator/model"
	"annotator/model/endpoint"
	"annotator/runner/entries"
	"annotator/storage"
	"annotator/tools"
)

// session is what a run uses, from its first scene to its last: the story, the model, the prompt and the window.
type session struct {
	Store  *storage.DB
	Client *model.Client // of the endpoint; its clock is the run's
	// of the same server, for the context that it reports outside of its API; nil for none
	Beside *endpoint.Client

	config  Config
	corpus  *corpus.DB
	tools   *tools.Registry
	window  *window.Window
	prompt  storage.Prompt // in force
	names   *entries.Names // of the live entries
	publish func(annotator.Notice)
}

// reading is a session at a scene.
type reading struct {
	session
	scene *sceneState // the scene at hand; nil between scenes
}

// advised returns an error with what to do next.
func (s *session) advised(err error) error {
	if s.config.Advise == nil || err == nil {
		return err
	}
	return s.config.Advise(err)
}

// text returns an error's text for people.
func (s *session) text(err error) string { return s.advised(err).Error() }

func (s *session) warn(text string) {
	s.publish(annotator.Notice{Kind: annotator.NoticeWarning, Reason: text})
}

// warnOf warns of an error for which a program may have advice, if there is one, and reports whether there is.
func (s *session) warnOf(err error) bool {
	if err != nil {
		s.publish(annotator.Notice{Kind: annotator.NoticeWarning, Err: err})
	}
	return err != nil
}

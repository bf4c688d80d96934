package exporters

import "annotator"

// Summaries are the summaries that a run has made.
type Summaries struct {
	Story   *Summary  `json:"story"`   // so far; null before the first
	Threads []Summary `json:"threads"` // in story order
}

// Summary is a summary of scenes.
type Summary struct {
	Thread    *int64           `json:"thread,omitempty"` // its id; absent for the story so far
	FromScene int              `json:"from_scene"`       // numbered over the whole story, from 1
	ToScene   int              `json:"to_scene"`
	Text      string           `json:"text"`
	By        annotator.Author `json:"by"` // model, or rule if the model gave none
}

// NewSummary returns an episode as it is exported.
func NewSummary(e *annotator.Episode) Summary {
	s := Summary{FromScene: e.FromScene, ToScene: e.ToScene, Text: e.Summary, By: e.By}
	if e.Kind != annotator.EpisodeCumulative {
		s.Thread = &e.Thread
	}
	return s
}

// NewSummaries returns the story so far and the summaries of threads; nil if there are none.
func NewSummaries(story *annotator.Episode, threads []annotator.Episode) *Summaries {
	if story == nil && len(threads) == 0 {
		return nil
	}
	s := &Summaries{Threads: each(threads, func(e annotator.Episode) Summary { return NewSummary(&e) })}
	if story != nil {
		s.Story = new(NewSummary(story))
	}
	return s
}

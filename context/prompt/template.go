package prompt

import (
	"strings"
	"text/template"

	"annotator"
)

// templates returns the parts that are questions, and no part of the system prompt.
func (id *Identity) templates() []part {
	return []part{
		{"SUMMARISER.md", &id.Summariser},
		{"CURATOR.md", &id.Curator},
		{"CURATOR_SYSTEM.md", &id.CuratorSystem},
		{"PRESENT.md", &id.Present},
		{"NAMES.md", &id.Names},
		{"STATES.md", &id.States},
		{"REDUNDANT.md", &id.Redundant},
	}
}

// files returns all parts.
func (id *Identity) files() []part { return append(id.parts(), id.templates()...) }

// SummaryRequest is what the template of the summariser is filled with. Either the threads or the scenes may be
// missing.
type SummaryRequest struct {
	Threads               string // ids of the threads that leave the window, with commas; empty for none
	Ended                 bool   // the threads do not leave it yet: they have ended
	Wanted                string // ids of the threads that have no summary of their own; empty for none
	More                  bool   // another question follows in the same message
	FirstScene, LastScene int    // of the chunk that leaves the window; 0 for none
	ThreadSentences       int    // the most of a thread's summary
	ChunkSentences        int    // the most of a chunk's summary
	ChunkWords            int    // it has at most as many
	StoryWords            int    // the story so far has less
}

// Fill returns the text of a template in the syntax of text/template.
func (r *SummaryRequest) Fill(text string) (string, error) {
	t, err := template.New("SUMMARISER.md").Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, r)
	return b.String(), err
}

// checkTemplates checks the templates of a folder: none is empty, and that of the summariser can be filled.
func (id *Identity) checkTemplates(dir string) error {
	for _, p := range id.templates() {
		if *p.text == "" {
			return annotator.Errorf(annotator.Misused,
				"read the prompts: %s in %s is empty, and is a question that cannot be left out", p.file, dir).
				WithAdvice("remove the file, and the default is taken")
		}
	}
	for _, r := range []SummaryRequest{
		{Threads: "1"},
		{Threads: "1, 2", Wanted: "2", Ended: true, More: true},
		{FirstScene: 1, LastScene: 2},
		{Threads: "1, 2", FirstScene: 3, LastScene: 4},
	} {
		if _, err := r.Fill(id.Summariser); err != nil {
			return annotator.Errorf(annotator.Misused, "read the prompts: in %s: %w", dir, err).
				WithReason(annotator.ReasonInvalidPrompt)
		}
	}
	return nil
}

// BeforeQuestion returns a request for elements before another question, which the reply answers after them; that may
// be empty.
func BeforeQuestion(request, question string) string {
	if question == "" {
		return request
	}
	return request + "\n\nClose each of these elements. After them, in the same answer, answer what follows.\n\n" +
		question
}

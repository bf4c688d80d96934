package main

import (
	"fmt"
	"io"
	"time"
)

// print shows the status to people.
func (s *status) print(w io.Writer) error {
	rows := [][]string{
		{"story", shortened(s.Story.Title, 100)},
		{"database", oneLine(s.Database)},
		{"corpus", oneLine(s.Story.Corpus)},
		{"run", shortened(s.standing(), 300)},
		{"model", oneLine(s.modelAt())},
		{"scenes", s.scenes()},
		{"threads", fmt.Sprintf("%d of %d", s.Story.ThreadsDone, s.Story.Threads)},
		{"entries", s.entries()},
		{"calls", fmt.Sprintf("%d ok, %d failed, %d lost", s.Calls.OK, s.Calls.Failed, s.Calls.Lost)},
		{"tokens", fmt.Sprintf("%s in (%d %% cached), %s out", round(s.Tokens.Prompt), share(s.Tokens.Cached, s.Tokens.Prompt), round(s.Tokens.Completion))},
		{"a scene", s.average()},
		{"compactions", fmt.Sprint(s.Compactions)},
		{"began", when(s.Started.UnixMilli())},
		{"updated", when(s.Updated.UnixMilli())},
	}
	if s.SecondsLeft > 0 {
		rows = append(rows, []string{"left", "about " + span(seconds(s.SecondsLeft))})
	}
	if err := table(w, rows); err != nil {
		return err
	}
	return s.printQuarantined(w)
}

// scenes counts the quarantined among those that are done: the run is through with them.
func (s *status) scenes() string {
	done := s.Scenes.Recorded + s.Scenes.Quarantined
	among := ""
	if s.Scenes.Quarantined > 0 {
		among = " of them"
	}
	return fmt.Sprintf("%d of %d (%d %%), %d%s quarantined", done, s.Scenes.Total, share(done, s.Scenes.Total), s.Scenes.Quarantined, among)
}

func (s *status) modelAt() string {
	switch s.Endpoint {
	case "":
		return "none has been found yet"
	case offlineEndpoint:
		return s.Model + ", the embedded baseline"
	}
	return s.Model + " at " + s.Endpoint
}

func (s *status) entries() string {
	text := ""
	for i, status := range statuses {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", s.Entries[status], status)
	}
	return text + "; " + count(s.Revisions, "revision")
}

func (s *status) average() string {
	a := &s.PerScene
	text := fmt.Sprintf("%.1f calls, %s tokens in (%s uncached), %s out", a.Calls, round(int(a.Prompt)), round(int(a.Uncached)), round(int(a.Completion)))
	if a.Seconds > 0 { // which it takes two scenes to tell
		text += ", " + span(seconds(a.Seconds))
	}
	return text
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// shownQuarantined is how many quarantined scenes are listed for people.
const shownQuarantined = 20

func (s *status) printQuarantined(w io.Writer) error {
	if len(s.Quarantined) == 0 {
		return nil
	}
	rows := [][]string{{"quarantined"}}
	for _, q := range s.Quarantined[:min(len(s.Quarantined), shownQuarantined)] {
		rows = append(rows, []string{fmt.Sprintf("scene %d", q.Scene), fmt.Sprintf("thread %d", q.Thread), shortened(q.Reason, 160)})
	}
	if more := len(s.Quarantined) - shownQuarantined; more > 0 {
		rows = append(rows, []string{fmt.Sprintf("and %d more: --json lists all", more)})
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := table(w, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nput them back to be read: annotator retry --db %s\n", quoted(s.Database))
	return err
}

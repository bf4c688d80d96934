package main

import (
	"encoding/json"
	"time"

	"annotator"
)

// event is a notice as a file of events has it, a JSON object a line. docs/events.md tells what it means, and other programs read
// it: a field may be added, and none changed. What is zero is left out.
type event struct {
	Time       time.Time             `json:"time"`
	Kind       annotator.NoticeKind  `json:"kind"`
	Scene      int                   `json:"scene,omitempty"`
	Turn       int64                 `json:"turn,omitempty"`
	Done       int                   `json:"done,omitempty"`
	Total      int                   `json:"total,omitempty"`
	State      annotator.State       `json:"state,omitempty"`
	Event      annotator.Event       `json:"event,omitempty"`
	Next       annotator.State       `json:"next,omitempty"`
	Purpose    annotator.CallPurpose `json:"purpose,omitempty"`
	Attempt    int                   `json:"attempt,omitempty"`
	Prompt     int                   `json:"prompt_tokens,omitempty"`
	Cached     int                   `json:"cached_tokens,omitempty"`
	Completion int                   `json:"completion_tokens,omitempty"`
	Exact      bool                  `json:"exact,omitempty"`
	Bytes      int                   `json:"bytes,omitempty"`
	Duration   float64               `json:"duration_ms,omitempty"`
	Decision   string                `json:"decision,omitempty"`
	Tool       string                `json:"tool,omitempty"`
	Entries    int                   `json:"entries,omitempty"`
	Lost       int                   `json:"lost,omitempty"`
	Reason     string                `json:"reason,omitempty"`
}

func eventOf(n *annotator.Notice) event {
	return event{
		Time: n.Time, Kind: n.Kind, Scene: n.Scene, Turn: n.Turn, Done: n.Done, Total: n.Total,
		State: n.State, Event: n.Event, Next: n.Next, Purpose: n.Purpose, Attempt: n.Attempt,
		Prompt: n.Usage.Prompt, Cached: n.Usage.Cached, Completion: n.Usage.Completion, Exact: n.Usage.Exact,
		Bytes: n.Bytes, Duration: float64(n.Duration.Microseconds()) / 1000, Decision: n.Decision, Tool: n.Tool,
		Entries: n.Entries, Lost: n.Lost, Reason: n.Reason,
	}
}

// openEvents opens a file of events.
func openEvents(path string, failed func(error)) (annotator.Subscriber, error) {
	file, err := appendTo(path, "the events", failed)
	if err != nil {
		return annotator.Subscriber{}, err
	}
	lines := json.NewEncoder(file)
	return annotator.Subscriber{
		Name:   "the file of events",
		Notice: func(n annotator.Notice) { _ = lines.Encode(eventOf(&n)) }, // the file keeps its error for its close
		Close:  file.close,
	}, nil
}

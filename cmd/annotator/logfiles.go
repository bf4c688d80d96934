package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"syscall"
	"time"

	"annotator"
)

// logFile is a file that a run appends to. A failed write is reported once at once, and again by close; the run goes on
// without the file.
type logFile struct {
	file      *os.File
	content   string // for messages
	onFailure func(error)
	err       error // of the first failed write
}

// openLogFile opens a file for appending; earlier runs may have written to it. Only its owner can read it, since it
// tells the story.
func openLogFile(path, content string, onFailure func(error)) (*logFile, error) {
	if path == "-" {
		return nil, annotator.Errorf(annotator.Misused, "write %s to -: standard output is for the answer", content).
			WithAdvice("name a file, for example /dev/stderr")
	}
	if err := refuseDatabase(path); err != nil {
		return nil, err
	}
	partial := endsInPartialLine(path)
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	switch {
	case errors.Is(err, syscall.ENXIO): // without O_NONBLOCK, opening a pipe waits for its reader
		return nil, annotator.Errorf(annotator.Misused, "write %s to %s: no process reads this pipe", content, path).
			WithAdvice("start its reader first")
	case err != nil:
		return nil, annotator.Errorf(annotator.Misused, "write to %s: %w", path, err).WithAdvice("name a file in a folder that can be written")
	}
	f := &logFile{file: file, content: content, onFailure: onFailure}
	if partial {
		_, _ = f.Write([]byte("\n"))
	}
	return f, nil
}

// sameFile reports whether two paths name the same existing file.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	second, missing := os.Stat(b)
	return err == nil && missing == nil && os.SameFile(first, second)
}

// endsInPartialLine reports whether the last line of a file is incomplete, for example after a power failure.
func endsInPartialLine(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false // opening a pipe would wait for its other end
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	last := make([]byte, 1)
	_, err = file.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// Write writes unless an earlier write failed.
func (f *logFile) Write(text []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.file.Write(text)
	if err != nil {
		f.err = f.failure(err).WithAdvice("nothing more is written there")
		f.onFailure(f.err)
	}
	return n, err
}

func (f *logFile) failure(err error) *annotator.Error {
	return annotator.Errorf(annotator.Storage, "write %s to %s: %w", f.content, f.file.Name(), err)
}

// close syncs and closes the file.
func (f *logFile) close() error {
	var err error
	if info, statErr := f.file.Stat(); statErr == nil && info.Mode().IsRegular() { // a pipe cannot be synced
		err = f.file.Sync()
	}
	if err = cmp.Or(err, f.file.Close()); err != nil {
		err = f.failure(err)
	}
	return cmp.Or(f.err, err)
}

// openLog opens the log of a run: JSON lines, with transitions and the progress of calls at debug level, and what may
// need attention as warnings.
func openLog(path string, onFailure func(error)) (annotator.Subscriber, error) {
	file, err := openLogFile(path, "the log", onFailure)
	if err != nil {
		return annotator.Subscriber{}, err
	}
	return annotator.Subscriber{Name: "the log", Notice: logTo(file), Close: file.close}, nil
}

func logTo(w io.Writer) func(annotator.Notice) {
	handler := slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})
	return func(n annotator.Notice) {
		record := slog.NewRecord(n.Time, logLevel(&n), string(n.Kind), 0)
		record.AddAttrs(logAttributes(&n)...)
		_ = handler.Handle(context.Background(), record) // close returns the error of the file
	}
}

func logLevel(n *annotator.Notice) slog.Level {
	switch n.Kind {
	case annotator.NoticeTransition, annotator.NoticeCalling, annotator.NoticeStream:
		return slog.LevelDebug
	case annotator.NoticeCompaction, annotator.NoticeWait, annotator.NoticeWarning, annotator.NoticeLost:
		return slog.LevelWarn
	case annotator.NoticeDecision:
		return slog.LevelInfo
	}
	if n.Reason != "" {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// logAttributes returns the fields of a notice that are not zero.
func logAttributes(n *annotator.Notice) []slog.Attr {
	all := []slog.Attr{
		slog.String("state", string(n.State)), slog.String("event", string(n.Event)), slog.String("next", string(n.Next)),
		slog.Int("scene", n.Scene), slog.Int64("turn", n.Turn), slog.Int("done", n.Done), slog.Int("total", n.Total),
		slog.Int("entries", n.Entries), slog.String("tool", n.Tool), slog.String("purpose", string(n.Purpose)), slog.Int("attempt", n.Attempt),
		slog.Int64("ms", n.Duration.Milliseconds()), slog.Int("prompt_tokens", n.Usage.Prompt), slog.Int("cached_tokens", n.Usage.Cached),
		slog.Int("completion_tokens", n.Usage.Completion), slog.Int("bytes", n.Bytes), slog.Int("lost", n.Lost),
		slog.String("decision", n.Decision), slog.String("reason", n.Reason),
	}
	present := all[:0]
	for _, attr := range all {
		if !attr.Value.Equal(slog.IntValue(0)) && !attr.Value.Equal(slog.StringValue("")) {
			present = append(present, attr)
		}
	}
	return present
}

// event is a notice as a line of the file of events. docs/events.md describes it, and other programs read it: fields
// may be added, but not changed. Zero fields are omitted.
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

func newEvent(n *annotator.Notice) event {
	return event{
		Time: n.Time, Kind: n.Kind, Scene: n.Scene, Turn: n.Turn, Done: n.Done, Total: n.Total,
		State: n.State, Event: n.Event, Next: n.Next, Purpose: n.Purpose, Attempt: n.Attempt,
		Prompt: n.Usage.Prompt, Cached: n.Usage.Cached, Completion: n.Usage.Completion, Exact: n.Usage.Exact,
		Bytes: n.Bytes, Duration: float64(n.Duration.Microseconds()) / 1000, Decision: n.Decision, Tool: n.Tool,
		Entries: n.Entries, Lost: n.Lost, Reason: n.Reason,
	}
}

// openEvents opens the file of events.
func openEvents(path string, onFailure func(error)) (annotator.Subscriber, error) {
	file, err := openLogFile(path, "the events", onFailure)
	if err != nil {
		return annotator.Subscriber{}, err
	}
	lines := json.NewEncoder(file)
	return annotator.Subscriber{
		Name:   "the file of events",
		Notice: func(n annotator.Notice) { _ = lines.Encode(newEvent(&n)) }, // close returns the error of the file
		Close:  file.close,
	}, nil
}

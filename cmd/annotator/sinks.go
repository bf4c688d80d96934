package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"

	"annotator"
)

// appendTo opens a file that former runs may have written to. It tells of the story, and is its owner's only.
func appendTo(path string) (*os.File, error) {
	if err := spareDatabase(path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "write to %s: %w", path, err).WithAdvice("name a file in a folder that can be written")
	}
	return file, nil
}

// eventFile is a file of notices, a JSON object a line.
type eventFile struct {
	file *os.File
	err  error // the first that writing met
}

func openEvents(path string) (*eventFile, error) {
	file, err := appendTo(path)
	return &eventFile{file: file}, err
}

func (e *eventFile) notice(n annotator.Notice) {
	if e.err == nil {
		e.err = json.NewEncoder(e.file).Encode(n)
	}
}

func (e *eventFile) close() error {
	if err := errors.Join(e.err, e.file.Close()); err != nil {
		return annotator.Errorf(annotator.Storage, "write the events to %s: %w", e.file.Name(), err)
	}
	return nil
}

// logFile is the log of a run, JSON lines for people: transitions at debug level, what was done as information, and what
// they may want to look into as warnings.
type logFile struct {
	file   *os.File
	logger *slog.Logger
}

func openLog(path string) (*logFile, error) {
	file, err := appendTo(path)
	if err != nil {
		return nil, err
	}
	handler := slog.NewJSONHandler(file, &slog.HandlerOptions{Level: slog.LevelDebug})
	return &logFile{file: file, logger: slog.New(handler)}, nil
}

func (l *logFile) close() error { return l.file.Close() }

func (l *logFile) notice(n annotator.Notice) {
	record := slog.NewRecord(n.Time, levelOf(&n), string(n.Kind), 0)
	record.AddAttrs(attributes(&n)...)
	// A log that cannot be written must not stop a run: the handler's error has nowhere better to go.
	_ = l.logger.Handler().Handle(context.Background(), record)
}

func levelOf(n *annotator.Notice) slog.Level {
	switch n.Kind {
	case annotator.NoticeTransition:
		return slog.LevelDebug
	case annotator.NoticeCompaction, annotator.NoticeWait, annotator.NoticeWord:
		return slog.LevelWarn
	case annotator.NoticeDecision:
		return slog.LevelInfo
	}
	if n.Reason != "" {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// attributes are the parts of a notice that say something.
func attributes(n *annotator.Notice) []slog.Attr {
	all := []slog.Attr{
		slog.String("state", string(n.State)), slog.String("event", string(n.Event)), slog.String("next", string(n.Next)),
		slog.Int("scene", n.Scene), slog.Int64("turn", n.Turn), slog.Int("done", n.Done), slog.Int("total", n.Total),
		slog.Int("entries", n.Entries), slog.String("tool", n.Tool), slog.Int64("ms", n.Duration.Milliseconds()),
		slog.String("reason", n.Reason),
	}
	if n.Usage != nil {
		all = append(all, slog.Int("prompt_tokens", n.Usage.Prompt), slog.Int("cached_tokens", n.Usage.Cached),
			slog.Int("completion_tokens", n.Usage.Completion))
	}
	said := all[:0]
	for _, attr := range all {
		if !attr.Value.Equal(slog.IntValue(0)) && !attr.Value.Equal(slog.StringValue("")) {
			said = append(said, attr)
		}
	}
	return said
}

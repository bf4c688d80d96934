package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"syscall"

	"annotator"
)

// sink is a file that a run is told to, for as long as it can be written. The first failure is told at once, and again when
// the file is closed: a run of days must not end for it, nor go on as if nothing were missing.
type sink struct {
	file   *os.File
	what   string // is in it
	failed func(error)
	err    error // the first that writing met
}

// appendTo opens a file that former runs may have written to. It tells of the story, and is its owner's only.
func appendTo(path, what string, failed func(error)) (*sink, error) {
	if path == "-" {
		return nil, annotator.Errorf(annotator.Misused, "write %s to -: standard output is for the answer", what).
			WithAdvice("name a file; /dev/stderr is one, too")
	}
	if err := spareDatabase(path); err != nil {
		return nil, err
	}
	torn := endsTorn(path)
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	switch {
	case errors.Is(err, syscall.ENXIO): // else the run would wait before its first scene, perhaps for ever
		return nil, annotator.Errorf(annotator.Misused, "write %s to %s: nobody reads this pipe", what, path).
			WithAdvice("start its reader first")
	case err != nil:
		return nil, annotator.Errorf(annotator.Misused, "write to %s: %w", path, err).WithAdvice("name a file in a folder that can be written")
	}
	s := &sink{file: file, what: what, failed: failed}
	if torn {
		_, _ = s.Write([]byte("\n"))
	}
	return s, nil
}

// sameFile reports whether two paths name one file that is there.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	second, missing := os.Stat(b)
	return err == nil && missing == nil && os.SameFile(first, second)
}

// endsTorn reports whether a file's last line was not written to its end: the power failed, or the disk was full.
func endsTorn(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false // to open a pipe would wait for its other end
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

// Write writes unless that has failed before.
func (s *sink) Write(text []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.file.Write(text)
	if err != nil {
		s.err = annotator.Errorf(annotator.Storage, "write %s to %s: %w", s.what, s.file.Name(), err).
			WithAdvice("nothing more is written there")
		s.failed(s.err)
	}
	return n, err
}

// close brings what was written to the disk.
func (s *sink) close() error {
	var err error
	if info, failed := s.file.Stat(); failed == nil && info.Mode().IsRegular() { // others, a pipe for one, cannot be synced
		err = s.file.Sync()
	}
	if err = cmp.Or(err, s.file.Close()); err != nil {
		err = annotator.Errorf(annotator.Storage, "write %s to %s: %w", s.what, s.file.Name(), err)
	}
	return cmp.Or(s.err, err)
}

// openLog opens the log of a run, JSON lines for people: transitions and the course of calls at debug level, what was done as
// information, and what they may want to look into as warnings.
func openLog(path string, failed func(error)) (annotator.Subscriber, error) {
	file, err := appendTo(path, "the log", failed)
	if err != nil {
		return annotator.Subscriber{}, err
	}
	return annotator.Subscriber{Name: "the log", Notice: logTo(file), Close: file.close}, nil
}

func logTo(w io.Writer) func(annotator.Notice) {
	handler := slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})
	return func(n annotator.Notice) {
		record := slog.NewRecord(n.Time, levelOf(&n), string(n.Kind), 0)
		record.AddAttrs(attributes(&n)...)
		_ = handler.Handle(context.Background(), record) // the file keeps its error for its close
	}
}

func levelOf(n *annotator.Notice) slog.Level {
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

// attributes are the parts of a notice that say something.
func attributes(n *annotator.Notice) []slog.Attr {
	all := []slog.Attr{
		slog.String("state", string(n.State)), slog.String("event", string(n.Event)), slog.String("next", string(n.Next)),
		slog.Int("scene", n.Scene), slog.Int64("turn", n.Turn), slog.Int("done", n.Done), slog.Int("total", n.Total),
		slog.Int("entries", n.Entries), slog.String("tool", n.Tool), slog.String("purpose", string(n.Purpose)), slog.Int("attempt", n.Attempt),
		slog.Int64("ms", n.Duration.Milliseconds()), slog.Int("prompt_tokens", n.Usage.Prompt), slog.Int("cached_tokens", n.Usage.Cached),
		slog.Int("completion_tokens", n.Usage.Completion), slog.Int("bytes", n.Bytes), slog.Int("lost", n.Lost),
		slog.String("decision", n.Decision), slog.String("reason", n.Reason),
	}
	said := all[:0]
	for _, attr := range all {
		if !attr.Value.Equal(slog.IntValue(0)) && !attr.Value.Equal(slog.StringValue("")) {
			said = append(said, attr)
		}
	}
	return said
}

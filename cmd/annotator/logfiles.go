package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"annotator"
	"annotator/corpus/ingest"
	"annotator/runner/notify"
)

// logFile is a file that a run appends to. The first failed write is reported immediately, and again by close. The run
// continues without the file.
type logFile struct {
	file      *os.File
	content   string // for messages
	onFailure func(error)
	err       error // of the first failed write
}

// openLogFile opens a file for appending; earlier runs may have written to it.
func openLogFile(path, content string, onFailure func(error)) (*logFile, error) {
	if path == "-" {
		return nil, annotator.Errorf(annotator.Misused, "write %s to -: standard output is for the answer", content).
			WithAdvice("name a file, for example /dev/stderr")
	}
	if err := refuseDatabase(path); err != nil {
		return nil, err
	}
	partial := endsInPartialLine(path)
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o666)
	switch {
	case errors.Is(err, syscall.ENXIO): // without O_NONBLOCK, opening a pipe waits for its reader
		return nil, annotator.Errorf(annotator.Misused, "write %s to %s: no process reads this pipe", content, path).
			WithAdvice("start its reader first")
	case err != nil:
		return nil, annotator.Errorf(annotator.Misused, "write to %s: %w", path, err).
			WithAdvice("name a file in a folder that can be written")
	}
	f := &logFile{file: file, content: content, onFailure: onFailure}
	if partial {
		_, _ = f.Write([]byte("\n"))
	}
	return f, nil
}

// checkLogFiles refuses a log, a file of events or a recording that is the story, a database, or a file that belongs to
// a database. SQLite would read the lines as its data. The files need not exist.
func (o *runOptions) checkLogFiles() error {
	imported := cmp.Or(o.corpus, corpusOf(o.source))
	databases := []string{
		imported, o.databasePath(), cmp.Or(o.fromDB, o.source),
		filepath.Join(filepath.Dir(o.db), filepath.Base(imported)),
	}
	for _, path := range []string{o.LogFile, o.Events, o.recording.to} {
		if path == "" {
			continue
		}
		if sameFile(path, o.source) {
			return annotator.Errorf(annotator.Misused, "%s is the story, and nothing is written to it", path).
				WithAdvice("name another file")
		}
		database := path
		for _, suffix := range []string{"-wal", "-shm", "-journal", ".lock"} {
			database = strings.TrimSuffix(database, suffix)
		}
		if ingest.IsDatabase(database) || strings.HasSuffix(database, ".corpus.db") ||
			isRunName(filepath.Base(database)) ||
			slices.ContainsFunc(databases, func(named string) bool { return samePlace(database, named) }) {
			return annotator.Errorf(annotator.Misused,
				"%s is a database, or belongs to one, and no lines are written there", path).
				WithAdvice("name another file")
		}
	}
	return nil
}

// samePlace reports whether two paths name one file, which need not exist.
func samePlace(a, b string) bool { return sameFile(a, b) || resolved(a) == resolved(b) }

// resolved returns the absolute path without symbolic links, as far as there are files.
func resolved(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	if target, err := os.Readlink(path); err == nil { // the link's target does not exist
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(folder, filepath.Base(path))
	}
	return path
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
		return false // opening a pipe would wait for its writer
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

// event is a notice as a line of the file of events, described in docs/events.md. Other programs read it: fields may be
// added, but not changed.
type event struct {
	annotator.Notice
	Source       string    `json:"source,omitempty"` // of one of several runs
	Prompt       int       `json:"prompt_tokens,omitempty"`
	Told         int       `json:"told_tokens,omitempty"`
	Cached       int       `json:"cached_tokens,omitempty"`
	Completion   int       `json:"completion_tokens,omitempty"`
	Exact        bool      `json:"exact,omitempty"`
	Milliseconds float64   `json:"duration_ms,omitempty"`
	Since        time.Time `json:"since,omitzero"`
	Until        time.Time `json:"until,omitzero"`
}

func newEvent(n *annotator.Notice, source string) event {
	u := &n.Usage
	e := event{
		Notice: *n, Source: source,
		Prompt: u.Prompt, Told: u.Told, Cached: u.Cached, Completion: u.Completion, Exact: u.Exact,
		Milliseconds: float64(n.Duration.Microseconds()) / 1000,
	}
	if n.Patience > 0 {
		e.Since = n.Time.Add(-n.Waited)
		e.Until = e.Since.Add(n.Patience)
	}
	return e
}

// logLine is a notice as a line of the log: an event with a level.
type logLine struct {
	Time         time.Time            `json:"time"`
	Level        slog.Level           `json:"level"`
	Message      annotator.NoticeKind `json:"msg"`
	Milliseconds int64                `json:"ms,omitempty"`
	event
}

// logLevel is debug for transitions and the progress of calls, and warning for problems.
func logLevel(n *annotator.Notice) slog.Level {
	switch n.Kind {
	case annotator.NoticeTransition, annotator.NoticeCalling, annotator.NoticeStream:
		return slog.LevelDebug
	case annotator.NoticeCompaction, annotator.NoticeWait, annotator.NoticeWarning, annotator.NoticeLost:
		return slog.LevelWarn
	case annotator.NoticeDecision, annotator.NoticeSilence:
		return slog.LevelInfo
	}
	if n.Reason != "" {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// openLog opens the log of a run. The source is that of one of several runs with one log; else "".
func openLog(path, source string, onFailure func(error)) (notify.Subscriber, error) {
	return openLines("the log", path, "the log", onFailure, func(n *annotator.Notice) any {
		return logLine{n.Time, logLevel(n), n.Kind, n.Duration.Milliseconds(), newEvent(n, source)}
	})
}

// openEvents opens the file of events. See openLog.
func openEvents(path, source string, onFailure func(error)) (notify.Subscriber, error) {
	return openLines("the file of events", path, "the events", onFailure,
		func(n *annotator.Notice) any { return newEvent(n, source) })
}

// openLines opens a file that gets a JSON line for each notice.
func openLines(name, path, content string, onFailure func(error),
	line func(*annotator.Notice) any,
) (notify.Subscriber, error) {
	file, err := openLogFile(path, content, onFailure)
	if err != nil {
		return notify.Subscriber{}, err
	}
	lines := json.NewEncoder(file)
	return notify.Subscriber{
		Name:   name,
		Notice: func(n annotator.Notice) { _ = lines.Encode(line(&n)) }, // close returns the error of the file
		Close:  file.close,
	}, nil
}

package faults_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/internal/sqlite"
	"annotator/runner/notify"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestDatabaseIsTakenAway deletes, moves or replaces the files of the database during a run. A system lets a program
// write to deleted files, and discards them at its end. The run halts before its next request. Its records are in a
// file from which the next run continues.
func TestDatabaseIsTakenAway(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the system keeps open files where they are")
	}
	b := newBench(t, plain())
	server := scripted.Start(t, scripted.Options{Script: keepsGlossary})
	takes := map[string]func(db string) error{
		"the database is deleted":         os.Remove,
		"the database is moved":           func(db string) error { return os.Rename(db, db+".elsewhere") },
		"the database is replaced":        substitute,
		"its log is deleted":              func(db string) error { return os.Remove(db + "-wal") },
		"the index of its log is deleted": func(db string) error { return os.Remove(db + "-shm") },
		"the database and all beside it are": func(db string) error {
			return errors.Join(os.Remove(db),
				os.Remove(db+"-wal"), os.Remove(db+"-shm"))
		},
	}
	for what, take := range takes {
		for _, at := range longtest.Pick([]int{17}, []int{17, 30, 5, 16}) {
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				b.tryTaking(t, server.URL, at, take)
			})
		}
	}
	t.Run("its folder is deleted", func(t *testing.T) {
		t.Parallel()
		s, err := b.takeAway(t, server.URL, 17, func(db string) error { return os.RemoveAll(filepath.Dir(db)) })
		rescued := filepath.Join(filepath.Dir(filepath.Dir(s.db)), filepath.Base(s.db)+".rescued")
		if refusal := (*annotator.Error)(nil); !errors.As(err, &refusal) || refusal.Reason != annotator.ReasonRescued ||
			fmt.Sprint(refusal.Args...) != rescued {
			t.Errorf("it says: %v", err)
		}
		f := session{t: t, program: s.program}
		f.db = rescued
		f.verifyAll()
		if _, err := os.Stat(s.db); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("there is a database again: %v", err)
		}
	})
}

// substitute replaces a file with another.
func substitute(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path))
}

func (b *bench) tryTaking(t *testing.T, server string, at int, take func(db string) error) {
	s, err := b.takeAway(t, server, at, take)
	rescued := s.db + ".rescued"
	if refusal := (*annotator.Error)(nil); !errors.As(err, &refusal) || refusal.Reason != annotator.ReasonRescued ||
		fmt.Sprint(refusal.Args...) != rescued {
		t.Fatalf("it says: %v", err)
	}
	for _, left := range []string{s.db, s.db + ".elsewhere"} {
		if _, err := os.Stat(left); err == nil {
			f := session{t: t, program: s.program}
			f.db = left
			f.verifyAll()
		}
	}
	if at%2 == 0 { // instead of a message
		if err := os.Rename(rescued, s.db); err != nil {
			t.Fatal(err)
		}
	} else {
		s.db = rescued
	}
	s.watcher = &notify.Bus{}
	s.verifyAll()
	if err := s.program.run(t.Context()); err != nil {
		t.Fatalf("resumed: %v", err)
	}
	b.undisturbed(s)
}

// fold checkpoints the write-ahead log, as a run does for a long log.
func fold(ctx context.Context, path string) error {
	db, err := sqlite.Open(ctx, path, sqlite.ReadWrite, 1)
	if err != nil {
		return err
	}
	var busy, log, moved int
	err = db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &log, &moved)
	if err == nil && log != moved {
		err = fmt.Errorf("of %d pages of the log %d are folded back", log, moved)
	}
	return errors.Join(err, db.Close())
}

// undisturbed expects a consistent database with the result of the undisturbed run.
func (b *bench) undisturbed(s *session) {
	s.t.Helper()
	s.verifyAll()
	if diff := gocmp.Diff(slices.Concat(b.rows, b.codex), slices.Concat(s.journal(), s.codex())); diff != "" {
		s.t.Errorf("not what the undisturbed run leaves (-calm +this):\n%s", diff)
	}
}

// takeAway runs the story and removes the database at a transition. It returns the result of the run.
func (b *bench) takeAway(t *testing.T, server string, at int, take func(db string) error) (*session, error) {
	t.Helper()
	s := &session{t: t, program: program{
		corpus: b.corpus, db: filepath.Join(t.TempDir(), "story.db"), wire: wires()[0], server: server, config: plain(),
	}}
	transitions, calls := 0, 0
	s.watcher = watcher(func(n annotator.Notice) {
		switch n.Kind {
		case annotator.NoticeTransition:
			if transitions++; transitions == at-3 { // so that the log does not contain all pages of the database
				if err := fold(t.Context(), s.db); err != nil {
					t.Error(err)
				}
			}
			if transitions == at {
				if err := take(s.db); err != nil {
					t.Error(err)
				}
			}
		case annotator.NoticeCalling:
			if transitions >= at {
				calls++
			}
		}
	})
	err := s.program.run(t.Context())
	if !errors.Is(err, annotator.Storage) || !strings.Contains(err.Error(), "deleted, moved or replaced") {
		t.Fatalf("it ended with: %v", err)
	}
	if calls > 0 {
		t.Errorf("the model is asked %d times after that", calls)
	}
	return s, err
}

// TestCorpusIsTakenAway changes the story's file during a run. A run that has it open continues to read a deleted or
// moved file. If it finds another text, or none, it halts. It continues when the file is restored.
func TestCorpusIsTakenAway(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the system keeps open files where they are")
	}
	b := newBench(t, plain())
	server := scripted.Start(t, scripted.Options{Script: keepsGlossary})
	text, err := os.ReadFile(b.corpus)
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.ReplaceAll(text, []byte("The lantern burned"), []byte("The candle  burned"))
	other[27]++ // SQLite recognises a changed file by this number
	for what, meddle := range map[string]struct {
		do   func(path string) error
		ends bool // the run reads the story to its end nevertheless
	}{
		"it is deleted":     {os.Remove, true},
		"it is moved":       {func(path string) error { return os.Rename(path, path+".elsewhere") }, true},
		"it is replaced":    {substitute, true},
		"it is cut off":     {func(path string) error { return os.Truncate(path, int64(len(text)/2)) }, false},
		"it is emptied":     {func(path string) error { return os.Truncate(path, 0) }, false},
		"it is overwritten": {func(path string) error { return os.WriteFile(path, other, 0o600) }, false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			s := session{t: t, program: program{
				corpus: filepath.Join(folder, "story.corpus.db"), db: filepath.Join(folder, "story.db"),
				wire: wires()[0], server: server.URL, config: plain(),
			}}
			if err := os.WriteFile(s.corpus, text, 0o600); err != nil {
				t.Fatal(err)
			}
			s.watcher = watcher(func(n annotator.Notice) {
				if n.Kind == annotator.NoticeScene && n.Scene == 2 {
					if err := meddle.do(s.corpus); err != nil {
						t.Error(err)
					}
				}
			})
			err := s.program.run(t.Context())
			if meddle.ends && err != nil || !meddle.ends && err == nil {
				t.Errorf("it ended with: %v", err)
			}
			if advised := (*annotator.Error)(nil); err != nil && (!errors.As(err, &advised) || advised.Advice == "" &&
				advised.Reason == "") {
				t.Errorf("nothing says what to do: %v", err)
			}
			if err := os.WriteFile(s.corpus, text, 0o600); err != nil {
				t.Fatal(err)
			}
			s.watcher = &notify.Bus{}
			if err := s.program.run(t.Context()); err != nil {
				t.Fatalf("resumed: %v", err)
			}
			b.undisturbed(&s)
		})
	}
}

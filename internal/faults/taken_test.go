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

// TestDatabaseIsTakenAway has somebody delete, move or replace the files of the database in the middle of a run. A system lets a
// program write on to files that nobody can find any more, and throws them away at its end. The run halts before it asks
// the model again, and what it had recorded is in a file that the next run goes on from.
func TestDatabaseIsTakenAway(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the system keeps open files where they are")
	}
	b := newBench(t, plain())
	server := scripted.Start(t, scripted.Options{Script: keepsGlossary})
	takes := map[string]func(db string) error{
		"the database is deleted":            os.Remove,
		"the database is moved":              func(db string) error { return os.Rename(db, db+".elsewhere") },
		"the database is replaced":           substitute,
		"its log is deleted":                 func(db string) error { return os.Remove(db + "-wal") },
		"the index of its log is deleted":    func(db string) error { return os.Remove(db + "-shm") },
		"the database and all beside it are": func(db string) error { return errors.Join(os.Remove(db), os.Remove(db+"-wal"), os.Remove(db+"-shm")) },
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
		if refusal := (*annotator.Error)(nil); !errors.As(err, &refusal) || refusal.Reason != annotator.ReasonRescued || fmt.Sprint(refusal.Args...) != rescued {
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

// substitute puts another file in the place of a file.
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
	if refusal := (*annotator.Error)(nil); !errors.As(err, &refusal) || refusal.Reason != annotator.ReasonRescued || fmt.Sprint(refusal.Args...) != rescued {
		t.Fatalf("it says: %v", err)
	}
	for _, left := range []string{s.db, s.db + ".elsewhere"} {
		if _, err := os.Stat(left); err == nil {
			f := session{t: t, program: s.program}
			f.db = left
			f.verifyAll()
		}
	}
	if at%2 == 0 { // in place of what is said
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

// fold folds the write-ahead log back into the database, as a run does where it is long.
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

// undisturbed demands that a database is whole, and what the undisturbed run leaves.
func (b *bench) undisturbed(s *session) {
	s.t.Helper()
	s.verifyAll()
	if diff := gocmp.Diff(slices.Concat(b.rows, b.codex), slices.Concat(s.journal(), s.codex())); diff != "" {
		s.t.Errorf("not what the undisturbed run leaves (-calm +this):\n%s", diff)
	}
}

// takeAway runs the story and takes the database away at a transition. It returns how the run ended.
func (b *bench) takeAway(t *testing.T, server string, at int, take func(db string) error) (*session, error) {
	t.Helper()
	s := &session{t: t, program: program{
		corpus: b.corpus, db: filepath.Join(t.TempDir(), "story.db"), wire: wires()[0], server: server, config: plain(),
	}}
	transitions, calls := 0, 0
	s.watcher = watcher(func(n annotator.Notice) {
		switch n.Kind {
		case annotator.NoticeTransition:
			if transitions++; transitions == at-3 { // so that the log does not hold all pages of the database
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

// TestCorpusIsTakenAway has somebody meddle with the story's file while it is read. A run that has it open reads on in what was
// deleted or moved; where it finds another text, or none, it halts, and goes on once the file is back.
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
	other[27]++ // by this number SQLite sees that a file has changed
	for what, meddle := range map[string]struct {
		do   func(path string) error
		ends bool // the run reads the story to its end all the same
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
				corpus: filepath.Join(folder, "story.corpus.db"), db: filepath.Join(folder, "story.db"), wire: wires()[0], server: server.URL, config: plain(),
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
			if advised := (*annotator.Error)(nil); err != nil && (!errors.As(err, &advised) || advised.Advice == "" && advised.Reason == "") {
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

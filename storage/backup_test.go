package storage_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"annotator"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
)

func TestBackup(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(3))
	s.read(creates("Dawn (ship)", "Dawn is a ship.", "ship"))
	s.begin("scene 2")
	s.reply("Let me see.", "glossary_create")
	before := s.everything()
	out := filepath.Join(t.TempDir(), "out of the way.db")
	s.ok(s.db.Maintenance.Backup(s.ctx, out))
	info, err := os.Stat(out)
	s.ok(err)
	if info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("the copy has mode %o", info.Mode().Perm())
	}
	if files, err := os.ReadDir(filepath.Dir(out)); err != nil || len(files) != 1 {
		t.Errorf("beside the copy: %v, %v", files, err)
	}
	s.ok(s.db.Close())
	s.path = out
	s.open()
	if diff := cmp.Diff(before, s.everything()); diff != "" {
		t.Errorf("the copy (-original +copy):\n%s", diff)
	}
	s.clean()
	s.tool(creates("Mik", "A sailor."))
	s.clean()
}

// TestBackupBesideAWriter copies repeatedly while a run goes on. Each copy satisfies all laws.
func TestBackupBesideAWriter(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(300))
	reader, err := storage.Open(t.Context(), s.path)
	s.ok(err)
	defer func() { _ = reader.Close() }()
	folder := t.TempDir()
	copied := make(chan error, 1)
	go func() {
		var errs []error
		for i := range 5 {
			errs = append(errs, reader.Maintenance.Backup(t.Context(), filepath.Join(folder, fmt.Sprint(i))))
		}
		copied <- errors.Join(errs...)
	}()
	for len(copied) == 0 && s.scene < len(s.scenes) {
		s.read(creates(fmt.Sprintf("Name %d", s.scene), "A thing."))
	}
	s.ok(<-copied)
	for i := range 5 {
		db, err := storage.Open(t.Context(), filepath.Join(folder, fmt.Sprint(i)))
		s.ok(err)
		findings, err := db.Maintenance.Verify(t.Context(), sourceOf(s.scenes))
		s.ok(err)
		if !storage.Clean(findings) {
			t.Errorf("copy %d: %+v", i, findings)
		}
		s.ok(db.Close())
	}
}

func TestBackupLeavesFilesAlone(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	folder := t.TempDir()
	there, dangling := filepath.Join(folder, "there"), filepath.Join(folder, "dangling")
	s.ok(os.WriteFile(there, []byte("mine"), 0o644))
	s.ok(os.Symlink(filepath.Join(folder, "nowhere"), dangling))
	for _, out := range []string{there, dangling, folder, filepath.Join(folder, "no", "folder"), s.path} {
		if err := s.db.Maintenance.Backup(s.ctx, out); annotator.KindOf(err) != annotator.Misused {
			t.Errorf("to %s: %v", out, err)
		}
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "mine" {
		t.Errorf("a file that was there holds %q, %v", text, err)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 2 {
		t.Errorf("left %v, %v", files, err)
	}
	s.clean()
}

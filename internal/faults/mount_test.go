//go:build linux && (amd64 || arm64)

package faults_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"annotator"
	"annotator/model/scripted"
)

// TestReadOnlyMount goes on with a run whose folder has become read-only meanwhile. It says what to check, and changes nothing.
func TestReadOnlyMount(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount")
	}
	b := newBench(t, plain())
	server := scripted.Start(t, scripted.Options{Script: diligent})
	folder := t.TempDir()
	p := program{corpus: b.corpus, db: filepath.Join(folder, "story.db"), wire: wires()[0], server: server.URL, config: plain(), watcher: &annotator.Bus{}}
	p.config.Limit = 2
	if err := p.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(p.db)
	if err != nil {
		t.Fatal(err)
	}
	said := inChild(t, breakdown{Corpus: b.corpus, DB: p.db, Server: server.URL, ReadOnly: folder})
	if !strings.Contains(said, "can be written") {
		t.Errorf("it says: %s", said)
	}
	if after, err := os.ReadFile(p.db); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the database has changed (%v)", err)
	}
}

// mountReadOnly mounts a folder over itself, for this process alone.
func mountReadOnly(folder string) error {
	for _, m := range []struct {
		source, target string
		flags          uintptr
	}{
		{"", "/", syscall.MS_PRIVATE | syscall.MS_REC},
		{folder, folder, syscall.MS_BIND},
		{"", folder, syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY},
	} {
		if err := syscall.Mount(m.source, m.target, "", m.flags, ""); err != nil {
			return err
		}
	}
	return nil
}

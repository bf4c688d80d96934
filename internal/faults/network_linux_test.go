//go:build linux && (amd64 || arm64)

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus/ingest"
	"annotator/storage"
)

// TestNetworkIsRefused makes the kernel report a folder as one on another machine. Steps that would keep a database
// there are refused and leave no file. A copy may be written there, and a database there may be read.
func TestNetworkIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, plain())
	l := newScenario(t, b)
	p := l.program()
	p.db = l.read()
	if err := p.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Link = filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(p.db, l.Link); err != nil {
		t.Fatal(err)
	}
	r := &recorder{folder: l.Folder, system: 0x6969}
	status, said := r.trace(t, l.environment(t))
	if status != 0 || strings.Count(said, "on a file system of another machine or program (NFS)") != 3 {
		t.Errorf("the child ended with %d: %s", status, said)
	}
	files, err := os.ReadDir(l.Folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := file.Name(); name != filepath.Base(l.backup()) && !strings.HasPrefix(name, filepath.Base(l.read())) {
			t.Errorf("%s is left behind", name)
		}
	}
}

// read is a database that is there already.
func (l *scenario) read() string { return filepath.Join(l.Folder, "read.db") }

func (l *scenario) runOnNetwork(ctx context.Context) error {
	_, imported := ingest.Import(ctx, l.importing(), nil)
	p, linked := l.program(), l.program()
	linked.db = l.Link
	for what, err := range map[string]error{
		"the import": imported, "the run": p.run(ctx),
		"the run by a link": linked.run(ctx),
	} {
		if !errors.Is(err, annotator.Misused) {
			return fmt.Errorf("%s: %w", what, err)
		}
		fmt.Println(err)
	}
	db, err := storage.Open(ctx, l.read())
	if err != nil {
		return err
	}
	return errors.Join(db.Maintenance.Backup(ctx, l.backup()), db.Close())
}

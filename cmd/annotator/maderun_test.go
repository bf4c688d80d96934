package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// madeRun is the folder of a run that several tests read. The first of them makes it, and each gets a copy.
type madeRun struct {
	once  sync.Once
	files map[string][]byte
}

// copy returns a folder of the test with the files of the run.
func (m *madeRun) copy(t *testing.T, run func(folder string)) (folder string) {
	t.Helper()
	m.once.Do(func() {
		folder := t.TempDir()
		run(folder)
		made, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		for _, file := range made {
			if files[file.Name()], err = os.ReadFile(filepath.Join(folder, file.Name())); err != nil {
				t.Fatal(err)
			}
		}
		m.files = files
	})
	if m.files == nil {
		t.Fatal("the run was not made, as another test reports")
	}
	folder = t.TempDir()
	for name, content := range m.files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

//go:build linux && (amd64 || arm64)

package faults_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"annotator/internal/scripted"
	"annotator/runner/notify"
)

// TestReadOnlyMount resumes a run whose folder has become read-only. The error says what to check, and nothing changes.
func TestReadOnlyMount(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount")
	}
	b := newBench(t, plain())
	server := scripted.Start(t, scripted.Options{Script: keepsGlossary})
	folder := t.TempDir()
	p := program{
		corpus: b.corpus, db: filepath.Join(folder, "story.db"), wire: wires()[0], server: server.URL,
		config: plain(), watcher: &notify.Bus{},
	}
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

// TestOnlyTheFolderIsWritten runs a scenario on a system where only its folder can be written: there is no folder for
// temporary files.
func TestOnlyTheFolderIsWritten(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount")
	}
	b := newBench(t, plain())
	l := newScenario(t, b)
	l.Alone = true
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), l.environment(t))
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS} // its mounts are its own
	nobody, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nobody.Close() }()
	child.ExtraFiles = []*os.File{nobody} // discards what it acknowledges
	said, err := child.CombinedOutput()
	if child.ProcessState != nil && child.ProcessState.ExitCode() == noMeans || errors.Is(err, syscall.EPERM) {
		t.Skipf("this system does not let a process do that to itself: %v %s", err, said)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	s := session{t: t, program: l.program()}
	b.undisturbed(&s)
}

// leaveOnly makes all files of the system read-only except those in a folder, for this process only.
func leaveOnly(folder string) error {
	const again = syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY
	if err := errors.Join(syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""),
		syscall.Mount(folder, folder, "", syscall.MS_BIND, "")); err != nil {
		return err
	}
	for _, place := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		_ = syscall.Mount("", place, "", again, "") // which may be no mount of its own
	}
	if err := syscall.Mount("", "/", "", again, ""); err != nil {
		return err
	}
	for _, place := range []string{"/tmp", "/var/tmp", "/dev/shm", "."} {
		if file, err := os.CreateTemp(place, ""); err == nil {
			return errors.Join(fmt.Errorf("%s can be written", file.Name()), file.Close(), os.Remove(file.Name()))
		}
	}
	return nil
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

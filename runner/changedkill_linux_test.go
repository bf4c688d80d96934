package runner_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"annotator/internal/longtest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// watch reports what happens to the names in a folder, "create x", "delete x" or "rename x" (to x), and when a file is
// written to.
func watch(t testing.TB, dir, file string) *os.File {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err == nil {
		_, err = unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVED_TO)
	}
	if err == nil {
		_, err = unix.InotifyAddWatch(fd, file, unix.IN_MODIFY)
	}
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "inotify")
}

// readEvents returns the next events of a watch, in order; none when it is closed.
func readEvents(watched *os.File) (events []string) {
	buffer := make([]byte, 1<<12)
	n, _ := watched.Read(buffer)
	for rest := buffer[:n]; len(rest) >= unix.SizeofInotifyEvent; {
		mask, length := binary.NativeEndian.Uint32(rest[4:]), binary.NativeEndian.Uint32(rest[12:])
		name := rest[unix.SizeofInotifyEvent : unix.SizeofInotifyEvent+length]
		does := map[uint32]string{
			unix.IN_CREATE: "create", unix.IN_DELETE: "delete", unix.IN_MOVED_TO: "rename",
			unix.IN_MODIFY: "transition",
		}[mask]
		events = append(events, does+" "+string(bytes.TrimRight(name, "\x00")))
		rest = rest[unix.SizeofInotifyEvent+length:]
	}
	return events
}

// readOn imports the book and reads on, in a process that is killed after some events: changes of the names in its
// folder, and transitions. 0: it is not killed. It reports whether the process was killed, and the events.
func (b *book) readOn(last int) (killed bool, events []string) {
	s := b.stage
	s.t.Helper()
	encoded, err := json.Marshal(job{Book: b.source, Corpus: s.corpus, DB: s.db("run"), Base: s.base, Config: s.config})
	if err != nil {
		s.t.Fatal(err)
	}
	told, err := os.Create(filepath.Join(s.t.TempDir(), "transitions"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = told.Close() }()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+string(encoded))
	child.ExtraFiles = []*os.File{told}
	var stderr strings.Builder
	child.Stderr = &stderr
	watched := watch(s.t, s.dir, told.Name())
	if err := child.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- child.Wait()
		_ = watched.SetReadDeadline(time.Now().Add(time.Second / 10)) // for the events that are left
	}()
	for next := readEvents(watched); next != nil; next = readEvents(watched) {
		if events = append(events, next...); last > 0 && len(events) >= last {
			_ = child.Process.Kill()
		}
	}
	err = <-ended
	_ = watched.Close()
	if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return true, events
	}
	if err != nil {
		s.t.Fatalf("the child failed: %v: %s", err, stderr.String())
	}
	return false, events
}

// copied returns a copy of the book, its corpus and its run in another folder.
func (b *book) copied() *book {
	t := b.stage.t
	t.Helper()
	made := newBook(t, t.TempDir())
	made.chapters = b.chapters
	if err := os.CopyFS(made.stage.dir, os.DirFS(b.stage.dir)); err != nil {
		t.Fatal(err)
	}
	return made
}

// stored returns the bytes of the corpus.
func (b *book) stored() string {
	b.stage.t.Helper()
	data, err := os.ReadFile(b.stage.corpus)
	if err != nil {
		b.stage.t.Fatal(err)
	}
	return string(data)
}

// names returns the names of the files in the folder of the book.
func (b *book) names() (names []string) {
	entries, err := os.ReadDir(b.stage.dir)
	if err != nil {
		b.stage.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestKilledWhileAChangedSourceIsTaken changes the source of a run that was stopped in its middle. Processes import it
// and read on. Each is killed after an event: drafts of the corpus are made, one replaces it, the run goes on. The
// corpus is then whole, the former one or the new one. The next process leaves the rows, the corpus and the files of an
// undisturbed one.
func TestKilledWhileAChangedSourceIsTaken(t *testing.T) {
	t.Parallel()
	b := newBook(t, t.TempDir())
	paragraph := func(n int) string {
		return fmt.Sprintf("Captain Ysolde Marrow was a sailor of Gallows Quay who owned %d boats. She met Mik "+
			"Tarrant there, and Mik Tarrant was glad of it.", n)
	}
	for n := range 4 {
		b.chapters = append(b.chapters, []string{paragraph(2 * n), paragraph(2*n + 1)})
	}
	b.write()
	b.runUntil(20)
	former := b.stored()
	b.chapters[0] = []string{paragraph(0), paragraph(20)}
	b.chapters[3] = []string{paragraph(21), paragraph(7)}
	b.chapters = slices.Insert(b.chapters, 1, []string{paragraph(22)})
	b.writeSource()

	calm := b.copied()
	_, events := calm.readOn(0)
	if slices.ContainsFunc(events, func(e string) bool { return strings.Contains(e, "-mj") }) {
		t.Errorf("a transaction writes to two files, so it has one that nobody removes after a kill: %q", events)
	}
	files, replaced := calm.names(), calm.stored()
	calm.stage.verify("run")
	calm.checkRead()
	rows := dump(t, calm.stage.db("run"))
	if calm.stage.count("run", `SELECT count(*) FROM scene_post WHERE former = 1`) == 0 ||
		calm.stage.count("run", `SELECT count(*) FROM scene WHERE state = 'withdrawn'`) == 0 {
		t.Error("the source has lost no text that was read, or none that was to be read")
	}
	kills := map[bool]int{} // by whether the corpus was replaced by then
	for last := longtest.Pick(16, 1); ; {
		k := b.copied()
		killed, events := k.readOn(last)
		if len(events) < last {
			break
		}
		if !killed { // it had ended before the signal
			last++
			continue
		}
		last += longtest.Pick(15, 1)
		found := k.stored()
		if found != former && found != replaced {
			t.Fatalf("killed after %q: the corpus is neither the former one nor the new one", events)
		}
		kills[found == replaced]++
		if killed, _ := k.readOn(0); killed {
			t.Fatal("the next process was killed by somebody else")
		}
		if k.stored() != replaced {
			t.Errorf("killed after %q: the corpus is not the new one", events)
		}
		if diff := cmp.Diff(files, k.names()); diff != "" {
			t.Errorf("killed after %q, the files (-calm +killed):\n%s", events, diff)
		}
		k.checkRead()
		k.stage.compare("run", rows)
	}
	if kills[false] == 0 || kills[true] == 0 {
		t.Errorf("%d kills before the corpus was replaced, and %d after", kills[false], kills[true])
	}
}

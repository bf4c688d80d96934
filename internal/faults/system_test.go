//go:build linux && (amd64 || arm64)

package faults_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/runner/notify"
	"annotator/storage"

	gocmp "github.com/google/go-cmp/cmp"
)

// childEnv holds the breakdown for a child of the test binary.
const childEnv = "ANNOTATOR_TEST_BREAKDOWN"

// TestMain also runs the test binary as the process whose system fails.
func TestMain(m *testing.M) {
	if encoded := os.Getenv(childEnv); encoded != "" {
		os.Exit(breakDown(encoded))
	}
	if encoded := os.Getenv(scenarioEnv); encoded != "" {
		os.Exit(runScenario(encoded))
	}
	os.Exit(m.Run())
}

// breakdown is a run during which the system begins to fail.
type breakdown struct {
	Corpus, DB, Server string
	At                 int           // transition of the machine
	Call               []int         // numbers of the system calls that fail from then on; none: no file can be opened
	Errno              syscall.Errno // with which they fail
	Writer             bool          // the database is opened to write, before the run
	Bind               string        // a file over which the database is mounted, without its folder, before that
	// a folder that is mounted in this way, before the run begins; other fields are ignored then
	ReadOnly string
}

// TestFailingSystemHaltsTheRun makes the disk or another resource fail during a run. The run halts with advice. The
// database is consistent, whether the failed commit is in it or not. The next run continues to the same end.
func TestFailingSystemHaltsTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, plain())
	server := scripted.Start(t, scripted.Options{Script: keepsGlossary})
	stride := longtest.Pick(40, 9)
	writes, syncs := []int{syscall.SYS_PWRITE64}, []int{syscall.SYS_FSYNC, syscall.SYS_FDATASYNC}
	for _, failing := range []struct {
		name  string
		calls []int
		errno syscall.Errno
		says  string
	}{
		{"the disk is full", writes, syscall.ENOSPC, "free space on the disk, then run again"},
		{"the quota is used up", writes, syscall.EDQUOT, "check the disk, its quota and its mount, then run again"},
		{
			"the disk is mounted anew, read only", writes, syscall.EROFS,
			"check the disk, its quota and its mount, then run again",
		},
		{
			"what was written cannot be made safe", syncs, syscall.EIO,
			"check the disk, its quota and its mount, then run again",
		},
		{"there are no file descriptors left", nil, 0, "ulimit -n"},
	} {
		t.Run(failing.name, func(t *testing.T) {
			t.Parallel()
			for at := 3; at < 50; at += stride {
				p := program{
					corpus: b.corpus, db: filepath.Join(t.TempDir(), "story.db"), wire: wires()[0], server: server.URL,
					config:  plain(),
					watcher: &notify.Bus{},
				}
				said := inChild(t, breakdown{
					Corpus: b.corpus, DB: p.db, Server: server.URL, At: at,
					Call: failing.calls, Errno: failing.errno,
				})
				if !strings.Contains(said, failing.says) {
					t.Errorf("at transition %d the run said: %s", at, said)
				}
				s := session{t: t, program: p}
				s.verifyAll()
				if err := s.program.run(t.Context()); err != nil {
					t.Fatalf("at transition %d: resumed: %v", at, err)
				}
				s.verifyAll()
				if diff := gocmp.Diff(slices.Concat(b.rows, b.codex),
					slices.Concat(s.journal(), s.codex())); diff != "" {
					t.Errorf("at transition %d: not what the undisturbed run leaves (-calm +this):\n%s", at, diff)
				}
			}
		})
	}
}

// TestUnreadableDiskIsReported makes the disk fail when a database is opened.
func TestUnreadableDiskIsReported(t *testing.T) {
	t.Parallel()
	b := newBench(t, plain())
	said := inChild(t, breakdown{DB: b.corpus, Call: []int{syscall.SYS_PREAD64}, Errno: syscall.EIO})
	if !strings.Contains(said, "storage  open ") || !strings.Contains(said, "disk I/O error (10); check the disk") {
		t.Errorf("it said: %s", said)
	}
}

// TestSystemWithoutLocks opens a database where no file can be locked, as on some FUSE file systems.
func TestSystemWithoutLocks(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "story.db")
	if err := closing(storage.OpenWriter(t.Context(), db, "the test", time.Now)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	said := inChild(t, breakdown{DB: db, Writer: true, Call: []int{syscall.SYS_FCNTL}, Errno: syscall.ENOLCK})
	if !strings.Contains(said, string(annotator.Misused)+" "+string(annotator.ReasonNoLocks)) ||
		time.Since(began) > 8*time.Second {
		t.Errorf("after %v it said: %s", time.Since(began), said)
	}
}

// TestMountedFileIsLocked opens a database that is in use by another path, at which the file is mounted without its
// folder.
func TestMountedFileIsLocked(t *testing.T) {
	t.Parallel()
	db, mounted := filepath.Join(t.TempDir(), "story.db"), filepath.Join(t.TempDir(), "mounted.db")
	store, err := storage.OpenWriter(t.Context(), db, "the test", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := os.WriteFile(mounted, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	said := inChild(t, breakdown{DB: db, Writer: true, Bind: mounted})
	if !strings.Contains(said, string(annotator.InUse)+" "+string(annotator.ReasonOtherPath)) {
		t.Errorf("it said: %s", said)
	}
}

func inChild(t *testing.T, b breakdown) string {
	t.Helper()
	encoded, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+string(encoded))
	if b.ReadOnly != "" || b.Bind != "" {
		child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS} // its mounts are its own
	}
	said, err := child.CombinedOutput()
	if status := (*exec.ExitError)(nil); errors.As(err, &status) && status.ExitCode() == noMeans {
		t.Skip("this system does not let a process do that to itself: " + string(said))
	}
	if errors.Is(err, syscall.EPERM) {
		t.Skip(err)
	}
	if err == nil {
		t.Error("the run has not noticed")
	}
	return string(said)
}

// Exit statuses of the child.
const (
	halted  = 5
	noMeans = 6 // the system does not allow the child to run the test
)

func breakDown(encoded string) int {
	var b breakdown
	if err := json.Unmarshal([]byte(encoded), &b); err != nil {
		fmt.Println(err)
		return 1
	}
	if b.ReadOnly != "" {
		if err := mountReadOnly(b.ReadOnly); err != nil {
			fmt.Println(err)
			return noMeans
		}
	}
	count := 0
	p := program{
		corpus: b.Corpus, db: b.DB, wire: wires()[0], server: b.Server, config: plain(),
		network: &http.Transport{DisableKeepAlives: true}, // each call opens a socket
		watcher: watcher(func(n annotator.Notice) {
			if n.Kind != annotator.NoticeTransition {
				return
			}
			if count++; count == b.At {
				if err := b.begin(); err != nil {
					fmt.Println(err)
					os.Exit(noMeans)
				}
			}
		}),
	}
	if b.At == 0 && b.ReadOnly == "" { // before anything is open
		if err := cmp.Or(b.mount(), b.begin()); err != nil {
			fmt.Println(err)
			return noMeans
		}
		fmt.Println(b.open())
		return halted
	}
	if err := p.run(context.Background()); err != nil {
		fmt.Println(err)
		return halted
	}
	return 0
}

// open opens the database, and returns the kind and the reason of the error before it.
func (b *breakdown) open() string {
	open := storage.Open
	if b.Writer {
		open = func(ctx context.Context, path string) (*storage.DB, error) {
			return storage.OpenWriter(ctx, path, "the child", time.Now)
		}
	}
	db, err := open(context.Background(), b.DB)
	if err == nil {
		_ = db.Close()
	}
	e := &annotator.Error{}
	errors.As(err, &e)
	return fmt.Sprintln(e.Kind, e.Reason, err)
}

// mount mounts the database file at another path, without the files next to it.
func (b *breakdown) mount() error {
	if b.Bind == "" {
		return nil
	}
	from := b.DB
	b.DB = b.Bind
	return errors.Join(syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""),
		syscall.Mount(from, b.Bind, "", syscall.MS_BIND, ""))
}

// begin makes the system fail from now on, for all threads of the process.
func (b *breakdown) begin() error {
	if b.Bind != "" {
		return nil
	}
	if b.Call == nil {
		return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: 0})
	}
	return filter(b.Call, failWith|uint32(b.Errno))
}

// instruction is an instruction of the kernel's BPF filters.
type instruction struct {
	code        uint16
	true, false uint8 // how many instructions to skip
	k           uint32
}

// Actions of the kernel for a system call: it fails with an error, which is added; it stops for a tracer; none.
const failWith, tellTracer, allow = 0x00050000, 0x7ff00000, 0x7fff0000

// filter installs a seccomp filter for all threads of the process. A call that fails looks to the program like a disk
// error.
func filter(calls []int, verdict uint32) error {
	const (
		load, equals, answer = 0x20, 0x15, 0x06 // the number of the call; compare; the verdict
		noNewPrivileges      = 38
		allThreads           = 1
	)
	program := []instruction{{code: load}}
	for _, call := range calls {
		program = append(program, instruction{equals, 0, 1, uint32(call)}, instruction{code: answer, k: verdict})
	}
	program = append(program, instruction{code: answer, k: allow})
	header := struct {
		length uint16
		first  *instruction
	}{uint16(len(program)), &program[0]}
	// One thread must make both requests to the kernel.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, err := syscall.RawSyscall6(syscall.SYS_PRCTL, noNewPrivileges, 1, 0, 0, 0, 0); err != 0 {
		return err
	}
	if _, _, err := syscall.RawSyscall(seccomp, 1, allThreads, uintptr(unsafe.Pointer(&header))); err != 0 {
		return err
	}
	runtime.KeepAlive(program)
	return nil
}

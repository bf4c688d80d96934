package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"annotator"
	"annotator/model"
)

func TestExitStatus(t *testing.T) {
	t.Parallel()
	fault := &model.Fault{Kind: annotator.Misconfigured, Message: "no"}
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("a fault of ours"), 1},
		{annotator.Errorf(annotator.Misused, "x"), 2},
		{fmt.Errorf("around: %w", annotator.Errorf(annotator.NotFound, "x")), 2},
		{annotator.Errorf(annotator.Halted, "x: %w", fault), 3},
		{fmt.Errorf("around: %w", fault), 3},
		{fmt.Errorf("around: %w", model.ClassifyTransport(syscall.EMFILE)), 3},
		{annotator.Errorf(annotator.InUse, "x"), 3},
		{annotator.Errorf(annotator.Storage, "x"), 3},
		{annotator.Errorf(annotator.Violation, "x"), 4},
		{annotator.Errorf(annotator.Quarantined, "x"), 5},
		{annotator.Errorf(annotator.NoCalls, "x"), 6},
		{annotator.Errorf(annotator.Interrupted, "x"), 130},
	} {
		if got := exitStatus(c.err); got != c.want {
			t.Errorf("exitStatus(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

// TestSystemFailures: the exit status of an error of the operating system is not that of wrong use.
func TestSystemFailures(t *testing.T) {
	t.Parallel()
	opening := func(errno syscall.Errno) error { return &fs.PathError{Op: "open", Path: "story.epub", Err: errno} }
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{
			annotator.Errorf(annotator.Misused, "read the source: %w", opening(syscall.EMFILE)).
				WithAdvice("name another"),
			exitHalted, "raise the limit with `ulimit -n`",
		},
		{
			fmt.Errorf("around: %w", annotator.Errorf(annotator.Storage, "lock: %w", opening(syscall.ENFILE))),
			exitHalted,
			"raise the limit",
		},
		{
			annotator.Errorf(annotator.Misused, "read the source: %w", opening(syscall.EIO)).WithAdvice("name another"),
			exitHalted, "input/output error; check the disk",
		},
		{
			annotator.Errorf(annotator.Storage, "lock: %w", opening(syscall.EIO)).WithAdvice("try that"), exitHalted,
			"try that",
		},
		{
			errors.Join(annotator.Errorf(annotator.Storage, "log: %w", opening(syscall.ENOSPC)).WithAdvice("try that")),
			exitHalted, "log: open story.epub: no space left on device; try that",
		},
		{
			annotator.Errorf(annotator.Misused, "write: %w", opening(syscall.ENOSPC)).WithAdvice("name another"),
			exitHalted, "no space left on device; free space on the disk",
		},
		{
			annotator.Errorf(annotator.Misused, "read the source: %w", opening(syscall.ENOENT)).
				WithAdvice("name another"),
			exitMisused, "name another",
		},
	} {
		err := systemFailure(c.err)
		if status := exitStatus(err); status != c.status || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: ends with %d: %v", c.err, status, err)
		}
	}
	if err := systemFailure(nil); err != nil {
		t.Error(err)
	}
}

// TestAdviceIsPrintedOnASeparateLine: this holds for the advice of any wrapped error, if no other text follows it.
func TestAdviceIsPrintedOnASeparateLine(t *testing.T) {
	t.Parallel()
	full := annotator.Errorf(annotator.Storage, "write: full").WithAdvice("free\nspace")
	for want, err := range map[string]error{
		"annotator: write: full\nannotator: free space\n":         full,
		"annotator: import: write: full\nannotator: free space\n": fmt.Errorf("import: %w", full),
		"annotator: write: full\nannotator: free space\n ":        errors.Join(nil, full),
		"annotator: halted: write: full; free space\nannotator: run again\n": annotator.Errorf(annotator.Halted,
			"halted: %w", full).WithAdvice("run again"),
		"annotator: write: full; free space (not recorded)\n": fmt.Errorf("%w (not recorded)", full),
		"annotator: halted: write: full\nannotator: free space\n": annotator.Errorf(annotator.Halted,
			"halted: %w", full),
		"annotator: no advice\n": errors.New("no advice"),
	} {
		a, out := newTestApp(nil)
		a.err = out
		if a.printError(err); out.String() != strings.TrimSpace(want)+"\n" {
			t.Errorf("%v is printed as %q, want %q", err, out, want)
		}
	}
}

// TestTooFewFiles runs commands with a low limit of open files, and one that gets EIO when it reads.
func TestTooFewFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("without ulimit")
	}
	_, _, db := finishedRun(t)
	source := filepath.Join(filepath.Dir(db), "quay.jsonl")
	out, err := exec.Command("annotator", "import", "/proc/self/mem", "--corpus", db+".new", "--format", "text").
		CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != exitHalted ||
		!strings.Contains(string(out), "input/output error\nannotator: check the disk") {
		t.Errorf("a file that cannot be read: %v: %s", err, out)
	}
	for _, command := range []string{"status --db " + db, "import " + source + " --corpus " + db + ".new"} {
		out, err := withFewFiles(command)
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) || exit.ExitCode() != exitHalted || !strings.Contains(string(out),
			"too many open files\nannotator: this process may open too few files") {
			t.Errorf("%s: %v: %s", command, err, out)
		}
	}
}

// TestStoryWithUnreadFiles: import makes a corpus of the files of an archive that can be read, and says that it is not
// whole. run begins only if it is given that corpus.
func TestStoryWithUnreadFiles(t *testing.T) {
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "tales.zip")
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{"quay.txt": "Mira walked home.\n", "spoilt.epub": "PK\x03\x04"} {
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), os.WriteFile(archive, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	made := strings.TrimSuffix(archive, ".zip") + ".corpus.db"
	for _, command := range [][]string{{"import", archive}, {"run", archive}, {"import", archive}} {
		out, err := exec.Command("annotator", command...).CombinedOutput()
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) || exit.ExitCode() != exitMisused ||
			!strings.Contains(string(out), "1 file of the source cannot be read; the corpus has the others") ||
			!strings.Contains(string(out), "read the others: annotator run "+made) {
			t.Errorf("%v: %v: %s", command, err, out)
		}
	}
	if out, err := exec.Command("annotator", "run", made).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// withFewFiles runs a command with the lowest limit of open files at which Go's runtime does not end the process. The
// runtime opens some files itself, when depends on the scheduler.
func withFewFiles(command string) (out []byte, err error) {
	for limit := 5; limit < 12; limit++ {
		out, err = exec.Command("sh", "-c", fmt.Sprintf("ulimit -n %d; exec annotator %s", limit, command)).
			CombinedOutput()
		if !strings.Contains(string(out), "netpollinit") {
			break
		}
	}
	return out, err
}

// TestUnsolicitedResponses: a server sends a response without a request.
func TestUnsolicitedResponses(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn,
			"HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
	}))
	t.Cleanup(server.Close)
	out, _ := exec.Command("annotator", "doctor", "--endpoint", server.URL+"/v1", "--model", "m").CombinedOutput()
	if len(out) == 0 || strings.Contains(string(out), "nsolicited") {
		t.Errorf("doctor prints %s", out)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"run", "status", "search", "show", "states"}
	for typed, want := range map[string]string{
		"stauts": "status", "serach": "search", "rnu": "run", "shwo": "show",
		"states": "states", "shòw": "show", "zzz": "", "": "",
	} {
		if got := nearest(typed, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}

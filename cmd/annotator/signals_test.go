package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
)

const twoScenes = `{"thread":1,"id":1,"title":"The Quay","name":"QM","time":100,"body":"Captain Ysolde Marrow walked.","tags":["qm_post"]}
{"thread":1,"id":2,"name":"Reader","time":110,"body":"Follow her."}
{"thread":1,"id":3,"name":"QM","time":120,"body":"Captain Ysolde Marrow sat.","tags":["qm_post"]}
`

// TestResumeIsAdvised: an interrupted run prints how to resume it if the same command would start another.
func TestResumeIsAdvised(t *testing.T) {
	t.Parallel()
	stopped := annotator.Errorf(annotator.Interrupted, "stopped").WithAdvice("run again to go on")
	halted := annotator.Errorf(annotator.Halted, "halted").WithAdvice("run again")
	there := "; resume it with `annotator run book.epub --db " + quoted("b 2.db") + "`"
	for _, c := range []struct {
		options *runOptions
		err     error
		says    string
	}{
		{&runOptions{}, stopped, stopped.Error()},
		{&runOptions{noResume: true}, stopped, "stopped" + there},
		{&runOptions{fromSnapshot: 3}, stopped, "stopped" + there},
		{&runOptions{noResume: true}, halted, halted.Error()},
	} {
		c.options.source = "book.epub"
		if err := c.options.adviseResume(c.err, "b 2.db"); err.Error() != c.says ||
			!errors.Is(err, annotator.KindOf(c.err)) {
			t.Errorf("%+v: %v, want %s", c.err, err, c.says)
		}
	}
	if err := (&runOptions{noResume: true}).adviseResume(nil, ""); err != nil {
		t.Error(err)
	}
}

// runningStory is a run against a server that the test controls.
type runningStory struct {
	*exec.Cmd
	folder string
	out    bytes.Buffer
	let    func()
}

// startStory starts a run that writes to the file r.stderrFile(), or to the given file.
func startStory(t *testing.T, stderr ...*os.File) *runningStory {
	t.Helper()
	r := &runningStory{folder: t.TempDir()}
	gate := make(chan struct{})
	r.let = sync.OnceFunc(func() { close(gate) })
	server := scripted.New(scripted.Options{OnRequest: func(request scripted.Request) {
		if strings.HasPrefix(request.Messages[len(request.Messages)-1].Content, "<scene ") {
			<-gate
		}
	}})
	listener := httptest.NewServer(server)
	t.Cleanup(func() {
		r.let()
		listener.CloseClientConnections()
		listener.Close()
	})
	source := filepath.Join(r.folder, "quay.jsonl")
	if err := os.WriteFile(source, []byte(twoScenes), 0o600); err != nil {
		t.Fatal(err)
	}
	events := filepath.Join(r.folder, "events.jsonl")
	r.Cmd = exec.Command("annotator", "run", source, "--endpoint", listener.URL+"/v1", "--events", events)
	errText, err := os.Create(r.stderrFile())
	if err != nil {
		t.Fatal(err)
	}
	defer errText.Close()
	r.Stdout, r.Stderr = &r.out, append(stderr, errText)[0]
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	if err := awaitText(events, `"next":"CALLING"`); err != nil {
		_ = r.Process.Kill()
		t.Fatal(err)
	}
	return r
}

// stderrFile returns the file with the run's standard error.
func (r *runningStory) stderrFile() string { return filepath.Join(r.folder, "stderr") }

// interrupt sends a signal, and waits for the message of the run.
func (r *runningStory) interrupt(t *testing.T, answer string, with os.Signal) {
	t.Helper()
	if err := r.Process.Signal(with); err != nil {
		t.Fatal(err)
	}
	if err := awaitText(r.stderrFile(), answer); err != nil {
		t.Fatal(err)
	}
}

// isInterrupted expects the exit status of an interrupt.
func (r *runningStory) isInterrupted(t *testing.T) {
	t.Helper()
	stuck := time.AfterFunc(2*time.Minute, func() { _ = r.Process.Kill() })
	defer stuck.Stop()
	var exit *exec.ExitError
	if err := r.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("the run ends with %v, want %d", err, exitInterrupted)
	}
}

// hasRead expects the run to have printed how many scenes it has read.
func (r *runningStory) hasRead(t *testing.T, done int) {
	t.Helper()
	if want := fmt.Sprintf("%d of 2 scenes read", done); !strings.Contains(r.out.String(), want) {
		t.Errorf("the run prints %q, want %q", &r.out, want)
	}
}

// resumes expects a new run to finish the story.
func (r *runningStory) resumes(t *testing.T) {
	t.Helper()
	r.let()
	again, err := exec.Command("annotator", r.Args[1:len(r.Args)-2]...).CombinedOutput()
	if err != nil || !strings.Contains(string(again), "2 of 2 scenes read") {
		t.Errorf("the next run ends with %v\n%s", err, again)
	}
}

const finishingFirst = "finishing scene 1, then stopping; interrupt again to quit at once\n"

func TestFirstSignalFinishesTheScene(t *testing.T) {
	t.Parallel()
	longtest.Unix(t, "signals to another process")
	for _, first := range stopSignals() {
		t.Run(first.String(), func(t *testing.T) {
			t.Parallel()
			r := startStory(t)
			r.interrupt(t, finishingFirst, first)
			r.let()
			r.isInterrupted(t)
			r.hasRead(t, 1)
			events, err := os.ReadFile(filepath.Join(r.folder, "events.jsonl"))
			whole, ended := bytes.CutSuffix(events, []byte("\n"))
			if last := whole[bytes.LastIndexByte(whole, '\n')+1:]; err != nil || !ended ||
				!bytes.Contains(last, []byte(`"kind":"end"`)) {
				t.Errorf("the events do not reach the run's end (%v): %s", err, events)
			}
			r.resumes(t)
		})
	}
}

// TestSecondSignalQuitsImmediately: the server never answers.
func TestSecondSignalQuitsImmediately(t *testing.T) {
	t.Parallel()
	longtest.Unix(t, "signals to another process")
	r := startStory(t)
	r.interrupt(t, finishingFirst, syscall.SIGINT)
	began := time.Now()
	if err := r.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	r.isInterrupted(t)
	if time.Since(began) < quitTimeout { // else it had no time to print anything
		r.hasRead(t, 0)
		if errText, err := os.ReadFile(r.stderrFile()); err != nil || !strings.Contains(string(errText),
			"stopped at once, in scene 1") {
			t.Errorf("the run says %s (%v)", errText, err)
		}
	}
	r.resumes(t)
}

// TestSecondSignalPassesStuckErrors: standard error is a full pipe without a reader.
func TestSecondSignalPassesStuckErrors(t *testing.T) {
	t.Parallel()
	longtest.Unix(t, "signals to another process")
	held, full, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	defer held.Close()
	r := startStory(t, full)
	go func() { _, _ = full.Write(make([]byte, 1<<22)) }() // more than a pipe takes
	time.Sleep(200 * time.Millisecond)                     // the pipe fills
	// A signal that is sent twice may arrive once.
	for _, signal := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if err := r.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	r.isInterrupted(t)
}

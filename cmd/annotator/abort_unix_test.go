//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestFatalErrorsAbort: fatal errors end the process by SIGABRT, which shells show as 134, and not with Go's status 2.
func TestFatalErrorsAbort(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"memory": "out of memory", "stack": "stack overflow", "goroutine": "panic: a goroutine",
	} {
		aborts(t, exec.Command("fatal", name), says, nil)
	}
	for signal, says := range map[os.Signal]string{syscall.SIGQUIT: "SIGQUIT", syscall.SIGABRT: "SIGABRT"} {
		_, _, db := finishedRun(t)
		aborts(t, exec.Command("annotator", "mcp", "--db", db), says, signal)
	}
}

// aborts expects a command to end by SIGABRT and to print the cause. It sends the signal first, if there is one.
func aborts(t *testing.T, c *exec.Cmd, says string, signal os.Signal) {
	t.Helper()
	var text strings.Builder
	c.Stderr = &text
	c.Env = append(os.Environ(), "GOTRACEBACK=")
	input, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	output, err := c.StdoutPipe()
	if err = errors.Join(err, c.Start()); err != nil {
		t.Fatal(err)
	}
	if signal != nil { // it answers, so it has begun
		_, _ = input.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize",` +
			`"params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` +
			"\n"))
		_, _ = output.Read(make([]byte, 1))
		_ = c.Process.Signal(signal)
	}
	err = c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("%v ends with %v", c.Args, err)
	}
	if status := exit.Sys().(syscall.WaitStatus); !status.Signaled() || 128+int(status.Signal()) != exitAborted ||
		!strings.Contains(text.String(), says) {
		t.Errorf("%v ends with %v: %.200s", c.Args, err, &text)
	}
	if status := exit.Sys().(syscall.WaitStatus); status.CoreDump() {
		t.Errorf("%v leaves its memory", c.Args)
	}
}

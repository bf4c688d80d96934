package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"

	"annotator/fleet/store"
)

// ask runs a short command of the program and returns what it prints.
func (w *worker) ask(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, w.program, args...)
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", w.program, args[0], err, lastWords(failure.String()))
	}
	return out.String(), nil
}

// read has the program read a story or part, and returns its exit status and its last words. When the context ends, the
// program finishes its scene. When the lease is lost, it is killed: its database bears that.
func (w *worker) read(ctx context.Context, lease *store.Lease, f files) (status int, reason string, err error) {
	args := slices.Concat([]string{"run", f.source, "--db", f.story, "--quiet"}, w.flags, f.flags)
	cmd := exec.CommandContext(ctx, w.program, args...)
	var failure tail
	cmd.Stdout, cmd.Stderr = io.Discard, io.MultiWriter(os.Stderr, &failure)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = w.grace
	cmd.SysProcAttr = childAttributes()
	runtime.LockOSThread() // Linux ends the program with the thread that has started it
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil && ctx.Err() != nil {
		return runInterrupted, "", nil
	} else if err != nil {
		return 0, "", err
	}
	defer context.AfterFunc(lease.Context(), func() { _ = cmd.Process.Kill() })()
	err = cmd.Wait()
	status = cmd.ProcessState.ExitCode()
	if exit := (*exec.ExitError)(nil); err == nil || errors.As(err, &exit) || ctx.Err() != nil {
		if status < 0 && ctx.Err() != nil { // it has not finished its scene in time
			status = runInterrupted
		}
		return status, fmt.Sprintf("%s ended with %s: %s", w.name, cmd.ProcessState, lastWords(string(failure))), nil
	}
	return status, "", err
}

// tail keeps the end of what is written to it.
type tail []byte

const tailBytes = 2000

func (t *tail) Write(text []byte) (int, error) {
	*t = append(*t, text...)
	*t = (*t)[max(0, len(*t)-tailBytes):]
	return len(text), nil
}

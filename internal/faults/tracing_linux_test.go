//go:build linux && (amd64 || arm64)

package faults_test

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// Constants of ptrace that package syscall does not have.
const (
	optionSeccomp, optionKill = 0x80, 0x100000
	stopSeccomp               = 7
	syscallInfo               = 0x420e
	mark                      = 0x80 // of a stop at the end of a call
	ownChildren, allKinds     = 0x20000000, 0x40000000
)

// run runs a child to its end. It waits only for the children of its own thread, because other tests wait for theirs.
func (r *recorder) run(environment string, said *os.File) (status int, err error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = nowhere.Close() }()
	r.child, err = syscall.ForkExec(program, []string{program}, &syscall.ProcAttr{
		Env: append(os.Environ(), environment), Files: []uintptr{nowhere.Fd(), said.Fd(), said.Fd(), nowhere.Fd()},
		Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = syscall.Kill(r.child, syscall.SIGKILL)
		}
	}()
	if r.memory, err = os.OpenFile(fmt.Sprintf("/proc/%d/mem", r.child), os.O_RDWR, 0); err != nil {
		return 0, err
	}
	defer func() { _ = r.memory.Close() }()
	for started := false; ; {
		var w syscall.WaitStatus
		thread, err := syscall.Wait4(-1, &w, ownChildren|allKinds, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return 0, fmt.Errorf("wait for the child: %w", err)
		case thread == r.child && (w.Exited() || w.Signaled()):
			return w.ExitStatus(), nil
		case !w.Stopped():
			continue
		}
		if !started {
			started = true
			options := syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACESYSGOOD | optionSeccomp | optionKill
			if err := syscall.PtraceSetOptions(r.child, options); err != nil {
				return 0, fmt.Errorf("trace the child: %w", err)
			}
		}
		if err := r.stopped(thread, w); err != nil && !errors.Is(err, syscall.ESRCH) { // a thread may end meanwhile
			return 0, err
		}
	}
}

// stopped records the cause of a stop of a thread, and continues it.
func (r *recorder) stopped(thread int, w syscall.WaitStatus) error {
	switch signal := w.StopSignal(); {
	case w.TrapCause() == stopSeccomp:
		if err := r.begins(thread); err != nil {
			return err
		}
		return syscall.PtraceSyscall(thread, 0)
	case signal == syscall.SIGTRAP|mark:
		if err := r.ends(thread); err != nil {
			return err
		}
		return syscall.PtraceCont(thread, 0)
	case signal == syscall.SIGTRAP, signal == syscall.SIGSTOP: // a program begins, a thread is made, a thread begins
		return syscall.PtraceCont(thread, 0)
	default:
		return syscall.PtraceCont(thread, int(signal))
	}
}

// info is struct ptrace_syscall_info, the kernel's data on a call at which a thread has stopped.
type info struct {
	_      [24]byte
	number uint64 // at the end of a call: what it returned
	args   [6]uint64
	_      uint64
}

// ask reads a thread's system call from the kernel.
func (r *recorder) ask(thread int) (info, error) {
	var i info
	_, _, err := syscall.RawSyscall6(syscall.SYS_PTRACE, syscallInfo, uintptr(thread), unsafe.Sizeof(i),
		uintptr(unsafe.Pointer(&i)), 0, 0)
	if err != 0 {
		return i, err
	}
	return i, nil
}

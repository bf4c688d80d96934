//go:build linux && (amd64 || arm64)

package faults_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// recorder records the system calls of a child of the test binary on the files of a folder, in the order of the kernel.
// It traces the child, which needs no root. A filter in the child stops it only at these calls.
type recorder struct {
	folder string
	system uint64         // the number of the file system that the child sees; 0: the true one
	child  int            // its process
	memory *os.File       // of the child
	begun  map[int]call   // the current calls, by thread
	texts  map[int][]byte // that these write
	ops    []fileOp       // so far
}

// call is a system call.
type call struct {
	number int
	args   [6]uint64
}

// ackFD is the file descriptor on which a child acknowledges durable states.
const ackFD = 3

// recordedCalls change the content of a disk, in ways that the recorder supports.
func recordedCalls() []int {
	return append(legacyCalls(), syscall.SYS_OPENAT, syscall.SYS_WRITE, syscall.SYS_PWRITE64, syscall.SYS_FTRUNCATE,
		syscall.SYS_FSYNC,
		syscall.SYS_FDATASYNC, syscall.SYS_RENAMEAT, unix.SYS_RENAMEAT2, syscall.SYS_UNLINKAT)
}

// unsupportedCalls change it in ways that the recorder does not support. They must not occur.
func unsupportedCalls() []int {
	return []int{
		syscall.SYS_PWRITEV, syscall.SYS_FALLOCATE, syscall.SYS_TRUNCATE, syscall.SYS_LINKAT, syscall.SYS_SYMLINKAT,
		syscall.SYS_MKDIRAT,
	}
}

// record runs a child to its end and returns its operations in the folder.
func record(t *testing.T, folder, environment string) []fileOp {
	t.Helper()
	r := &recorder{folder: folder}
	if status, said := r.trace(t, environment); status != 0 {
		t.Fatalf("the child ended with %d: %s", status, said)
	}
	return r.ops
}

// trace runs a child to its end and returns its exit status and its output.
func (r *recorder) trace(t *testing.T, environment string) (status int, said string) {
	t.Helper()
	// For the kernel, one thread is the tracer. Only this thread can wait for the child and continue it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r.begun, r.texts = map[int]call{}, map[int][]byte{}
	output, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = output.Close() }()
	status, err = r.run(environment, output)
	text, _ := os.ReadFile(output.Name())
	switch {
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EIO) ||
		status == noMeans: // or the kernel is older than 5.3
		t.Skipf("this system does not let a process be traced: %v %s", err, text)
	case err != nil:
		t.Fatalf("trace the child: %v: %s", err, text)
	}
	return status, string(text)
}

// begins records the beginning of a call, with the text that it writes.
func (r *recorder) begins(thread int) error {
	i, err := r.ask(thread)
	if err != nil {
		return err
	}
	c := modern(call{int(i.number), i.args})
	if slices.Contains(unsupportedCalls(), c.number) {
		return fmt.Errorf("the child makes system call %d, which the recorder does not understand", c.number)
	}
	r.begun[thread] = c
	if c.number == syscall.SYS_WRITE || c.number == syscall.SYS_PWRITE64 {
		text := make([]byte, c.args[2])
		if _, err := r.memory.ReadAt(text, int64(c.args[1])); err != nil {
			return fmt.Errorf("read what the child writes: %w", err)
		}
		r.texts[thread] = text
	}
	return nil
}

// ends records the result of a call.
func (r *recorder) ends(thread int) error {
	i, err := r.ask(thread)
	if err != nil {
		return err
	}
	c, result := r.begun[thread], int64(i.number)
	delete(r.begun, thread)
	if result < 0 {
		return nil
	}
	switch c.number {
	case syscall.SYS_OPENAT, syscall.SYS_RENAMEAT, unix.SYS_RENAMEAT2, syscall.SYS_UNLINKAT:
		return r.named(c)
	case syscall.SYS_STATFS:
		return r.lie(c)
	}
	file := int(c.args[0])
	if file == ackFD {
		r.ops = append(r.ops, fileOp{kind: acknowledges, data: r.texts[thread]})
		return nil
	}
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", r.child, file))
	if err != nil {
		return err
	}
	if path == r.folder && (c.number == syscall.SYS_FSYNC || c.number == syscall.SYS_FDATASYNC) {
		r.ops = append(r.ops, fileOp{kind: syncsFolder})
		return nil
	}
	name, inside := r.name(path)
	if !inside || strings.HasSuffix(path, " (deleted)") {
		return nil
	}
	a := fileOp{name: name}
	switch c.number {
	case syscall.SYS_PWRITE64:
		a.kind, a.at, a.data = writes, int64(c.args[3]), r.texts[thread][:result]
	case syscall.SYS_WRITE:
		end, err := r.position(file)
		if err != nil {
			return err
		}
		a.kind, a.at, a.data = writes, end-result, r.texts[thread][:result]
	case syscall.SYS_FTRUNCATE:
		a.kind, a.at = resizes, int64(c.args[1])
	case syscall.SYS_FSYNC, syscall.SYS_FDATASYNC:
		a.kind = syncs
	}
	r.ops = append(r.ops, a)
	return nil
}

// lie changes the kernel's answer about the file system of the folder.
func (r *recorder) lie(c call) error {
	path, err := r.text(c.args[0])
	if err != nil || path != r.folder || r.system == 0 {
		return err
	}
	// its number comes first
	_, err = r.memory.WriteAt(binary.NativeEndian.AppendUint64(nil, r.system), int64(c.args[1]))
	return err
}

// named records the result of a call on a file with a path.
func (r *recorder) named(c call) error {
	path, err := r.text(c.args[1])
	if err != nil {
		return err
	}
	name, inside := r.name(path)
	switch c.number {
	case syscall.SYS_OPENAT:
		if inside && c.args[2]&syscall.O_CREAT != 0 {
			r.ops = append(r.ops, fileOp{kind: opens, name: name})
		}
		if inside && c.args[2]&syscall.O_TRUNC != 0 {
			r.ops = append(r.ops, fileOp{kind: resizes, name: name})
		}
	case syscall.SYS_UNLINKAT:
		if inside {
			r.ops = append(r.ops, fileOp{kind: unlinks, name: name})
		}
	case syscall.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		other, err := r.text(c.args[3])
		if err != nil {
			return err
		}
		to, stays := r.name(other)
		if inside != stays {
			return fmt.Errorf("%s is renamed to %s: one of them is outside the folder", path, other)
		}
		if inside {
			r.ops = append(r.ops, fileOp{kind: renames, name: name, to: to})
		}
	}
	return nil
}

// name is the name of a file in the folder.
func (r *recorder) name(path string) (name string, inside bool) {
	return filepath.Base(path), filepath.Dir(path) == r.folder
}

// text reads a path from the child's memory.
func (r *recorder) text(address uint64) (string, error) {
	text := make([]byte, syscall.PathMax)
	n, err := r.memory.ReadAt(text, int64(address)) // it may end before that
	end := bytes.IndexByte(text[:n], 0)
	if end < 0 {
		return "", fmt.Errorf("read a path of the child: %w", err)
	}
	return string(text[:end]), nil
}

// position is the offset of the child's next write to a file.
func (r *recorder) position(file int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", r.child, file))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 || fields[0] != "pos:" {
		return 0, fmt.Errorf("where the child writes is not told: %q", text)
	}
	return strconv.ParseInt(fields[1], 10, 64)
}

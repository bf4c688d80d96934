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

// recorder records what a child of the test binary does to the files of a folder, call by call, in the order in which the
// kernel does it. It traces the child, which needs no root; a filter in the child stops it at these calls only.
type recorder struct {
	folder string
	system uint64         // the number of the file system that the child is told the folder is on; 0: it is told the truth
	child  int            // its process
	memory *os.File       // of the child
	begun  map[int]call   // the calls that are under way, by thread
	texts  map[int][]byte // that these write
	ops    []fileOp       // so far
}

// call is a system call.
type call struct {
	number int
	args   [6]uint64
}

// ackFD is the file descriptor on which a child acknowledges what is durable.
const ackFD = 3

// recordedCalls change what a disk holds, in ways that the recorder understands.
func recordedCalls() []int {
	return append(legacyCalls(), syscall.SYS_OPENAT, syscall.SYS_WRITE, syscall.SYS_PWRITE64, syscall.SYS_FTRUNCATE, syscall.SYS_FSYNC,
		syscall.SYS_FDATASYNC, syscall.SYS_RENAMEAT, unix.SYS_RENAMEAT2, syscall.SYS_UNLINKAT)
}

// unsupportedCalls change it in ways that the recorder does not understand. They must not occur.
func unsupportedCalls() []int {
	return []int{
		syscall.SYS_PWRITEV, syscall.SYS_FALLOCATE, syscall.SYS_TRUNCATE, syscall.SYS_LINKAT, syscall.SYS_SYMLINKAT, syscall.SYS_MKDIRAT,
	}
}

// record runs a child to its end and returns what it has done in the folder.
func record(t *testing.T, folder, environment string) []fileOp {
	t.Helper()
	r := &recorder{folder: folder}
	if status, said := r.trace(t, environment); status != 0 {
		t.Fatalf("the child ended with %d: %s", status, said)
	}
	return r.ops
}

// trace runs a child to its end and returns its exit status and what it has said.
func (r *recorder) trace(t *testing.T, environment string) (status int, said string) {
	t.Helper()
	// The kernel knows one thread as the tracer: only that may wait for the child and let it go on.
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
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EIO) || status == noMeans: // or the kernel is older than 5.3
		t.Skipf("this system does not let a process be traced: %v %s", err, text)
	case err != nil:
		t.Fatalf("trace the child: %v: %s", err, text)
	}
	return status, string(text)
}

// begins records a call before it is done, with the text that is to be written.
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

// ends takes down what a call has done.
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

// lie changes what the kernel has answered when it was asked for the folder's file system.
func (r *recorder) lie(c call) error {
	path, err := r.text(c.args[0])
	if err != nil || path != r.folder || r.system == 0 {
		return err
	}
	_, err = r.memory.WriteAt(binary.NativeEndian.AppendUint64(nil, r.system), int64(c.args[1])) // its number comes first
	return err
}

// named takes down what a call has done to a file that it gives by its path.
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

// name is that of a file in the folder.
func (r *recorder) name(path string) (name string, inside bool) {
	return filepath.Base(path), filepath.Dir(path) == r.folder
}

// text reads a path out of the child's memory.
func (r *recorder) text(address uint64) (string, error) {
	text := make([]byte, syscall.PathMax)
	n, err := r.memory.ReadAt(text, int64(address)) // it may end before that
	end := bytes.IndexByte(text[:n], 0)
	if end < 0 {
		return "", fmt.Errorf("read a path of the child: %w", err)
	}
	return string(text[:end]), nil
}

// position is where the child's next write to a file will be.
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

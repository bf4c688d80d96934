package faults_test

import "syscall"

// legacyCalls are the system calls of this processor that have newer equivalents.
func legacyCalls() []int { return []int{syscall.SYS_OPEN, syscall.SYS_UNLINK, syscall.SYS_RENAME} }

// modern converts a call to the newer equivalent.
func modern(c call) call {
	const here = 0 // the folder matters only to relative paths
	switch a := c.args; c.number {
	case syscall.SYS_OPEN:
		return call{syscall.SYS_OPENAT, [6]uint64{here, a[0], a[1], a[2]}}
	case syscall.SYS_UNLINK:
		return call{syscall.SYS_UNLINKAT, [6]uint64{here, a[0]}}
	case syscall.SYS_RENAME:
		return call{syscall.SYS_RENAMEAT, [6]uint64{here, a[0], here, a[1]}}
	}
	return c
}

package faults_test

import "syscall"

// legacyCalls are the system calls that this processor has beside newer ones.
func legacyCalls() []int { return []int{syscall.SYS_OPEN, syscall.SYS_UNLINK, syscall.SYS_RENAME} }

// modern is a call as the newer one that does the same.
func modern(c call) call {
	const here = 0 // what stands for a folder matters to relative paths only
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

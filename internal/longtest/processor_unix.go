//go:build unix

package longtest

import (
	"syscall"
	"testing"
	"time"
)

// ProcessorTime returns the processor time of this process, in user mode and in the kernel.
func ProcessorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

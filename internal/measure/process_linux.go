package main

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"
)

// processorTime returns what this process has used of the processors, in its own code and in the kernel's.
func processorTime() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("read the processor time: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}

// peakMemory returns the most bytes of memory that this process has held at once. The kernel's figure for getrusage will not
// do: a child begins with its parent's.
func peakMemory() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("read the peak of memory: %w", err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kilobytes int64
	if _, err := fmt.Fscan(bytes.NewReader(rest), &kilobytes); err != nil {
		return 0, fmt.Errorf("read the peak of memory: %w", err)
	}
	return kilobytes << 10, nil
}

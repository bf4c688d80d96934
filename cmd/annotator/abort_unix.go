//go:build unix

package main

import "syscall"

// leaveNoCore has the system write no file with the memory of the process. It is not needed where that fails.
func leaveNoCore() { _ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }

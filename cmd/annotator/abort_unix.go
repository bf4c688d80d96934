//go:build unix

package main

import "syscall"

// disableCoreDump sets the size limit of core files to 0.
func disableCoreDump() { _ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }

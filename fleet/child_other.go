//go:build !linux

package main

import "syscall"

// childAttributes has no counterpart here: a program whose worker was killed reads on, and its work is not uploaded.
func childAttributes() *syscall.SysProcAttr { return nil }

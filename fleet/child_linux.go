package main

import "syscall"

// childAttributes has the program end with this process, and keeps a terminal's interrupt for this process.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

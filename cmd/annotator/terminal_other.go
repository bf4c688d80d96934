//go:build !windows

package main

import "os"

// readsSequences reports whether a terminal reads control sequences, as every one here does without being told to.
func readsSequences(*os.File) bool { return true }

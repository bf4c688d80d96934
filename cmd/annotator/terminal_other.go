//go:build !windows

package main

import "os"

// supportsEscapes reports whether a terminal supports escape sequences: on this system, all do.
func supportsEscapes(*os.File) bool { return true }

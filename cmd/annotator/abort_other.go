//go:build !unix

package main

// disableCoreDump does nothing: this system writes no core files.
func disableCoreDump() {}

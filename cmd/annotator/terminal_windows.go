package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// readsSequences has the console read control sequences, which it shows as text otherwise. It reports false for one that
// cannot, as before Windows 10.
func readsSequences(terminal *os.File) bool {
	console := windows.Handle(terminal.Fd())
	var mode uint32
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

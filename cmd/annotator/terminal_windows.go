package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// supportsEscapes enables escape sequences in a console. It reports false if the console does not support them, as
// before Windows 10.
func supportsEscapes(terminal *os.File) bool {
	console := windows.Handle(terminal.Fd())
	var mode uint32
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

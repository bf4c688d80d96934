package longtest

import (
	"runtime"
	"testing"
)

// Unix skips a test of something that Windows does not have, such as the modes of files or signals to other processes.
func Unix(tb testing.TB, what string) {
	tb.Helper()
	if runtime.GOOS == "windows" {
		tb.Skipf("Windows does not have %s", what)
	}
}

package longtest

import (
	"runtime"
	"testing"
)

// Unix skips a test of a feature that Windows does not have, such as file modes or signals to other processes.
func Unix(tb testing.TB, what string) {
	tb.Helper()
	if runtime.GOOS == "windows" {
		tb.Skipf("Windows does not have %s", what)
	}
}

//go:build !unix

package longtest

import (
	"testing"
	"time"
)

// ProcessorTime skips the test: it is supported on Unix only.
func ProcessorTime(tb testing.TB) time.Duration {
	tb.Helper()
	tb.Skip("processor time is measured on Unix only")
	return 0
}

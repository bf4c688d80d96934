// Package longtest selects between the quick and the full form of long tests.
//
// Crash sweeps, fault catalogues, long stories and similar tests run a sample by default, so that `go test ./...` takes
// minutes. With ANNOTATOR_LONG=1 in the environment they run in full.
package longtest

import (
	"flag"
	"os"
	"testing"
)

// Variable is the environment variable that selects the full form, with the value 1.
const Variable = "ANNOTATOR_LONG"

// Enabled reports whether the long tests run in full.
func Enabled() bool { return os.Getenv(Variable) == "1" }

// Pick returns a parameter of a test: one for the default run, another for the full form.
func Pick[T any](sample, full T) T {
	if Enabled() {
		return full
	}
	return sample
}

// SampleCases reduces the cases of a package's properties to a quarter, unless the full form is selected. TestMain
// calls it before the flags are parsed, so that -rapid.checks takes precedence.
func SampleCases() {
	if !Enabled() {
		_ = flag.Set("rapid.checks", "25")
	}
}

// Only skips a test that has no quick form. Cost says why.
func Only(tb testing.TB, cost string) {
	tb.Helper()
	if !Enabled() {
		tb.Skipf("%s; set %s=1", cost, Variable)
	}
}

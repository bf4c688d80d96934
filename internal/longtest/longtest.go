// Package longtest is the switch between the quick form of the long tests and their full form.
//
// Crash sweeps, fault catalogues, long stories and the like run a sample by default, so that `go test ./...` takes minutes.
// With ANNOTATOR_LONG=1 in the environment they run in full.
package longtest

import (
	"os"
	"testing"
)

// Variable is the environment variable that turns the full form on, with the value 1.
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

// Only skips a test that has no quick form. Cost says why.
func Only(tb testing.TB, cost string) {
	tb.Helper()
	if !Enabled() {
		tb.Skipf("%s; set %s=1", cost, Variable)
	}
}

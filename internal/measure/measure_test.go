package main

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestRecordedRequestIsRestored: a request is put together again from what is new in it and the one before.
func TestRecordedRequestIsRestored(t *testing.T) {
	t.Parallel()
	body := rapid.SliceOf(rapid.SampledFrom([]byte("ab")))
	rapid.Check(t, func(t *rapid.T) {
		var former, last, spare []byte
		for range rapid.IntRange(1, 5).Draw(t, "requests") {
			next := body.Draw(t, "body")
			q := requestBehind(former, next)
			former = next
			last, spare = q.body(last, spare), last
			if !bytes.Equal(last, next) {
				t.Fatalf("%q came back as %q (%+v)", next, last, q)
			}
		}
	})
}

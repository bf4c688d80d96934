package conformance_test

import (
	"fmt"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

// TestOnePromptOnEveryWire: a run may change its wire when it resumes. The model reads the same tokens, and the server
// has the same cache.
func TestOnePromptOnEveryWire(t *testing.T) {
	t.Parallel()
	server := scripted.Start(t, scripted.Options{Strict: true, Keep: true, Script: searchTwice})
	talks := map[string]*talk{}
	for turn := range 4 {
		for _, w := range wires() {
			if talks[w.name] == nil {
				talks[w.name] = newTalk(t, w.connect(t, server), searchTool, readTool)
			}
			c := talks[w.name]
			c.user(t, strings.Repeat("a <scene> & more ", 50))
			for range 2 {
				c.answer(t, c.complete(t, turn%2 == 0),
					func(i int) string { return fmt.Sprintf("call%04d%d", turn, i) })
			}
		}
	}
	requests, each := server.Requests(), len(wires())
	for i := range requests {
		turn, place := i/(2*each), i%2
		if first := &requests[turn*2*each+place]; requests[i].Tokens != first.Tokens {
			t.Errorf("turn %d: %d tokens over %s, %d over %s", turn, first.Tokens, first.Path, requests[i].Tokens,
				requests[i].Path)
		}
	}
	if u := server.Usage(); u.Cached < u.Prompt*(each-1)/each {
		t.Errorf("%d of %d tokens were cached", u.Cached, u.Prompt)
	}
}

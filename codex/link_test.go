package codex_test

import (
	"slices"
	"testing"

	"annotator/codex"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		names []string
		plain string
	}{
		"[[Anna]] sails the [[Dawn (ship)|Dawn]].": {[]string{"Anna", "Dawn (ship)"}, "Anna sails the Dawn."},
		"She sails.":           {nil, "She sails."},
		"[[Anna sails. [x]]]":  {nil, "[[Anna sails. [x]]]"},
		"[[[[Anna]]]] [[ ]][]": {[]string{"Anna", ""}, "[[Anna]]  []"},
	} {
		if got, plain := codex.Links(text), codex.WithoutLinks(text); !slices.Equal(got, want.names) ||
			plain != want.plain {
			t.Errorf("%q links to %q, and reads %q", text, got, plain)
		}
	}
}

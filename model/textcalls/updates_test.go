package textcalls_test

import (
	"strings"
	"testing"

	"annotator/model/textcalls"
)

const (
	dawn    = `[{"term":"Dawn","definition":"A ship.","status":"new"}]`
	mik     = `[{"term":"Mik","definition":"A smith.","status":"update"}]`
	opening = "<codex_updates>"
	closing = "</codex_updates>"
)

// own takes no block for a quotation.
func own(string) bool { return false }

func TestUpdatesFindsTheBlock(t *testing.T) {
	t.Parallel()
	const tags = `[{"term":"Mik","definition":"He wrote ` + closing + opening + `[] and <think>.","status":"new"}]`
	for _, test := range []struct{ name, text, want string }{
		{"no block", "Nothing new here.", ""},
		{"bare", opening + dawn + closing, dawn},
		{"with text", "Well.\n" + opening + "\n" + dawn + "\n" + closing + "\nDone.", dawn},
		{"upper case", "<Codex_Updates>" + dawn + "</CODEX_UPDATES>", dawn},
		{"fence inside", opening + "\n```json\n" + dawn + "\n```\n" + closing, dawn},
		{"fence outside", "```\n" + opening + dawn + closing + "\n```", dawn},
		{"empty", opening + "[]" + closing, "[]"},
		{"the last of two", opening + dawn + closing + " Rather: " + opening + mik + closing, mik},
		{"tags in a string", opening + tags + closing, tags},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			array, found, err := textcalls.Updates(test.text, own)
			if err != nil || found != (test.want != "") || array != test.want {
				t.Errorf("%q, %v, %v; want %q", array, found, err, test.want)
			}
		})
	}
}

// TestQuotedUpdates are no model's own: the last block that is, counts.
func TestQuotedUpdates(t *testing.T) {
	t.Parallel()
	quoted := func(array string) bool { return array == mik }
	for text, want := range map[string]string{
		opening + mik + closing: "",
		opening + dawn + closing + " It said: " + opening + mik + closing: dawn,
		opening + mik + closing + " So: " + opening + dawn + closing:      dawn,
		opening + "…" + closing + opening + mik + closing:                 "unreadable",
	} {
		array, found, err := textcalls.Updates(text, quoted)
		switch {
		case want == "unreadable" && err != nil:
		case found != (want != "") || err != nil || array != want:
			t.Errorf("%s: %q, %v, %v", text, array, found, err)
		}
	}
}

func TestMalformedUpdates(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		opening:                         "no JSON array",
		opening + closing:               "no JSON array",
		opening + "none" + closing:      "no JSON array",
		opening + dawn:                  "does not end with </codex_updates>",
		opening + dawn[:20] + closing:   "no JSON array",
		opening + dawn + "," + closing:  "does not end with",
		opening + dawn + dawn + closing: "does not end with",
		opening + "…" + closing + opening + dawn + closing: "no JSON array",
	} {
		array, found, err := textcalls.Updates(text, own)
		if err == nil || !strings.Contains(err.Error(), says) || !found || array != "" {
			t.Errorf("%s: %q, %v, %v; want %q", text, array, found, err, says)
		}
	}
}

func FuzzUpdates(f *testing.F) {
	for _, text := range []string{
		opening + dawn + closing, opening + "```json" + mik + "```" + closing, opening + opening + closing,
		opening + `[{"term":"` + closing + `"}]`, "\xff" + opening + "{}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if array, found, err := textcalls.Updates(text, own); err != nil && (array != "" || !found) || !found && array != "" {
			t.Fatalf("%q, %v, %v", array, found, err)
		}
	})
}

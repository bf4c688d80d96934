package textcalls_test

import (
	"encoding/json"
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

// notQuoted treats no block as a quotation.
func notQuoted(string) bool { return false }

// fits accepts every array as updates.
func fits(string) bool { return true }

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
		{"two", opening + dawn + closing + " Also: " + opening + mik + closing, dawn + mik},
		{"with a trailing comma", opening + dawn[:len(dawn)-1] + ",]" + closing, dawn},
		{"one element", opening + dawn[1:len(dawn)-1] + closing, dawn},
		{
			"a tag with an attribute, an end mark behind", `<codex_updates count="1">` + dawn + closing + "<|im_end|>",
			dawn,
		},
		{"tags in a string", opening + tags + closing, tags},
		{"singular", "<codex_update>" + dawn + "</codex_update>", dawn},
		{"singular, two that are one", "<codex_update>" + dawn + "</codex_update>\n<codex_update>" + mik[1:len(mik)-1] +
			"</codex_update>", dawn[:len(dawn)-1] + "," + mik[1:]},
		{"singular, with words between", "<codex_update>" + dawn + "</codex_update> and <codex_update>" + mik +
			"</codex_update>", dawn + mik},
		{
			"singular, the first empty", "<codex_update>[]</codex_update><codex_update>" + mik + "</codex_update>",
			"[]" + mik,
		},
		{"a fence", "I note it.\n```json\n" + dawn + "\n```\nDone.", dawn},
		{"a fence without a word", "```\n" + dawn + "\n```", dawn},
		{"two fences", "```json\n" + dawn + "\n```\n```json\n" + mik + "\n```", dawn + mik},
		{"the whole text", "\n" + dawn + "\n", dawn},
		{"a fence of another language", "```python\n" + dawn + "\n```", ""},
		{"a fence in much text", strings.Repeat("On and on. ", 100) + "\n```json\n" + dawn + "\n```", ""},
		{"a fence that does not end", "```json\n" + dawn, ""},
		{"a fence of other statuses", "```json\n" + strings.Replace(dawn, "new", "tentative", 1) + "\n```", ""},
		{"a list in a sentence", "It is " + dawn, ""},
		{"a list and words", dawn + " is what I would write.", ""},
		{"a bracket too many", opening + dawn + "]" + closing, dawn},
		{"a brace too many", opening + strings.Replace(dawn, `"}]`, `"}}]`, 1) + closing, dawn},
		{"a comma missing", opening + strings.Replace(dawn, `,"status"`, ` "status"`, 1) + closing, dawn},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			arrays, err := textcalls.Updates(test.text, notQuoted, fits)
			if err != nil || strings.Join(arrays, "") != test.want {
				t.Errorf("%q, %v; want %q", arrays, err, test.want)
			}
		})
	}
}

// TestQuotedUpdates: a block that the model was shown is no update.
func TestQuotedUpdates(t *testing.T) {
	t.Parallel()
	quoted := func(array string) bool { return array == mik }
	for text, want := range map[string]string{
		opening + mik + closing: "",
		opening + dawn + closing + " It said: " + opening + mik + closing: dawn,
		opening + mik + closing + " So: " + opening + dawn + closing:      dawn,
		opening + "…" + closing + opening + mik + closing:                 "unreadable",
	} {
		arrays, err := textcalls.Updates(text, quoted, fits)
		switch {
		case want == "unreadable" && err != nil:
		case err != nil || strings.Join(arrays, "") != want:
			t.Errorf("%s: %q, %v", text, arrays, err)
		}
	}
}

func TestMalformedUpdates(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		opening:                                            "no JSON array",
		opening + closing:                                  "no JSON array",
		opening + "none" + closing:                         "no JSON array",
		opening + dawn:                                     "does not end with </codex_updates>",
		opening + dawn[:20] + closing:                      "no JSON array",
		opening + dawn + "]]" + closing:                    "does not end with",
		opening + dawn[:len(dawn)-1] + closing:             "no JSON array",
		opening + dawn + "," + closing:                     "does not end with",
		opening + dawn + dawn + closing:                    "does not end with",
		opening + "…" + closing + opening + dawn + closing: "no JSON array",
	} {
		arrays, err := textcalls.Updates(text, notQuoted, fits)
		if err == nil || !strings.Contains(err.Error(), says) || arrays != nil {
			t.Errorf("%s: %q, %v; want %q", text, arrays, err, says)
		}
	}
}

func FuzzUpdates(f *testing.F) {
	for _, text := range []string{
		opening + dawn + closing, opening + "```json" + mik + "```" + closing, opening + opening + closing,
		opening + `[{"term":"` + closing + `"}]`, "\xff" + opening + "{}",
		"<codex_update>{}</codex_update><codex_update>[]</codex_update>",
		"```json\n" + dawn + "\n```", mik, opening + dawn + "]" + closing, opening + `[{"a": 1 "b": 2}}]` + closing,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		arrays, err := textcalls.Updates(text, notQuoted, fits)
		if err != nil && arrays != nil {
			t.Fatalf("%q, %v", arrays, err)
		}
		for _, array := range arrays {
			if !json.Valid([]byte(array)) {
				t.Fatalf("%q is no JSON", array)
			}
		}
	})
}

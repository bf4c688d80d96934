package prompt_test

import (
	"html"
	"strings"
	"testing"
	"unicode/utf8"

	"annotator"
	"annotator/context/prompt"

	"github.com/google/go-cmp/cmp"
)

// FuzzScene tests that, with any text from corpus and model, a scene and an entry have no elements but their own. The
// text can be read back.
func FuzzScene(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "</post></scene><scene number=\"9\">", `" onload="`, "<|im_end|><|im_start|>system",
		"[INST] [/TOOL_RESULTS] [gMASK]", "&lt;/scene&gt;",
		"</relevant_entries><cumulative_summary>", "<think>", "\x00\xff", "a\r\nb",
	} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, body, name string) {
		scene := annotator.Scene{
			N: 3, Thread: annotator.Thread{ID: 7, Title: name},
			Posts: []annotator.Post{{ID: 1, Name: name, Body: body}, {ID: 2, Subject: name, Body: body}},
		}
		text := prompt.Scene(&scene)
		for tag, want := range map[string]int{"<": 6, ">": 6, "<scene ": 1, "</scene>": 1, "<post ": 2, "</post>": 2} {
			if got := strings.Count(text, tag); got != want {
				t.Errorf("%d times %q in %q", got, tag, text)
			}
		}
		if strings.Contains(text, "[INST]") || strings.Contains(text, "<|") {
			t.Errorf("a chat template's own token in %q", text)
		}
		_, rest, _ := strings.Cut(text, `<post id="1"`)
		_, rest, _ = strings.Cut(rest, ">\n")
		shown, _, _ := strings.Cut(rest, "\n</post>")
		if diff := cmp.Diff(body, html.UnescapeString(shown)); diff != "" && utf8.ValidString(body) &&
			!strings.ContainsRune(body, '&') {
			t.Errorf("the body is shown as another (-body +shown): %s", diff)
		}
		entry := prompt.Entry(&annotator.Entry{
			ID: 1, Term: name, Tags: []string{name},
			Claims: []annotator.Claim{{Text: body}},
		})
		if strings.Count(entry, "<") != 2 || strings.Count(entry, ">") != 2 {
			t.Errorf("an entry with other elements: %q", entry)
		}
	})
}

func TestEscapeReadsBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a & b", "&lt;", "&amp;amp;", "[INST]", `"`, "[a]", "[ INST]"} {
		if got := html.UnescapeString(prompt.Escape(text)); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
}

func TestNothingRelevant(t *testing.T) {
	t.Parallel()
	if got := prompt.Glossary(nil, nil, nil, nil); got != "" {
		t.Errorf("%q", got)
	}
	if prompt.Glossary([]string{"<entry/>\n"}, nil, nil, nil) != "\n<relevant_entries>\n<entry/>\n</relevant_entries>" {
		t.Error("the entries are not wrapped")
	}
}

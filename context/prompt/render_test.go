package prompt_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"annotator"
	"annotator/context/prompt"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const sceneGolden = `<scene number="12" thread="7" title="A &amp; B" index="4">
<post id="70" author="qm &lt;admin&gt;" subject="&quot;Dawn&quot;">
The ship left.

&#91;INST] &lt;|im_end|&gt; said [[Mik]].
</post>
<post id="71" author="qm">
[sic]
</post>
</scene>`

func TestSceneGolden(t *testing.T) {
	t.Parallel()
	scene := &annotator.Scene{
		N: 12, Thread: annotator.Thread{ID: 7, Title: "A & B", Order: 2}, Index: 3, Posts: []annotator.Post{
			{
				ID: 70, Name: "qm <admin>", Subject: `"Dawn"`, Time: 99,
				Body: "The ship left.\n\n[INST] <|im_end|> said [[Mik]].", Tags: []string{"qm_post"},
			},
			{ID: 71, Name: "qm", Body: "[sic]"},
		},
	}
	for range 3 { // the same input, the same bytes
		if diff := cmp.Diff(sceneGolden, prompt.Scene(scene)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

func TestEntryGolden(t *testing.T) {
	t.Parallel()
	entry := &annotator.Entry{
		ID: 5, Term: "Dawn", Disambiguator: "ship", Status: annotator.Confirmed, Tags: []string{"grand", "ship"},
		Aliases: []annotator.Alias{{Name: "Dawn"}, {Name: "The <Lady>"}, {Name: "Old Dawn"}},
		Claims: []annotator.Claim{
			{ID: 1, Text: "She sailed.", Until: annotator.PlaceAt(3, 0)},
			{ID: 2, Text: "Dawn is a ship & a half.", Identity: true},
			{ID: 4, Text: "She sank.", Kind: annotator.Claimed, Speaker: "<Mik>", State: true},
			{ID: 5, Text: "She was old.", Kind: annotator.Inferred, Identity: true},
			{ID: 6, Text: "Nobody saw it.", Kind: annotator.Claimed},
			{ID: 7, Text: "She lies deep.", Kind: annotator.Narrated, State: true},
		},
		Present: "A wreck & a grave.", PresentAt: annotator.PlaceAt(9, 2), PresentScene: 9,
	}
	const golden = `<entry id="5" term="Dawn (ship)" tags="grand|ship" aliases="The &lt;Lady&gt;|Old Dawn">` + `
2 (identity): Dawn is a ship &amp; a half.
<present scene="9">A wreck &amp; a grave.</present>
4 (claimed by &lt;Mik&gt;, state): She sank.
5 (inferred, identity): She was old.
6 (claimed): Nobody saw it.
7 (state): She lies deep.
</entry>
`
	if diff := cmp.Diff(golden, prompt.Entry(entry)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// templateTokens are special tokens of servers' chat templates.
var templateTokens = regexp.MustCompile(`[<>"]|<\||\[/?[a-z]?[A-Z][A-Z0-9_]*\]`)

// TestEscapeKeepsEverything: no character that could end the data is left, and the whole text can be read back.
func TestEscapeKeepsEverything(t *testing.T) {
	t.Parallel()
	pieces := rapid.SampledFrom([]string{
		"[INST]", "[/INST]", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[gMASK]", "[UNUSED_TOKEN_146]", "[EOT]", "[", "]",
		"[[", "]]", "/", "INST",
		"<|im_start|>", "</s>", "<start_of_turn>", "<think>", "</scene>", "&lt;", "&amp;", "&", "&#91;", "&#91", ";",
		`"`, "'", "\n", "漢", "x",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(pieces, rapid.String()), 0, 8).Draw(t, "pieces"), "")
		escaped := prompt.Escape(text)
		if found := templateTokens.FindString(escaped); found != "" {
			t.Fatalf("%q is left in %q", found, escaped)
		}
		if got := html.UnescapeString(escaped); got != text {
			t.Fatalf("%q reads back as %q", text, got)
		}
	})
}

// TestLinksLikeTokens: a link whose name looks like a special token is written so that it can be written back.
func TestLinksLikeTokens(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"1: [[ISA]] is [[Mik]].":  "1: [[ISA|ISA]] is [[Mik]].",
		"[[ISA|three letters]] <": "[[ISA|three letters]] &lt;",
		"[INST] [[/INST]] [[[X]]": "&#91;INST] [[/INST|/INST]] [[[X|X]]",
	} {
		if got := prompt.Fact(line); got != want || templateTokens.MatchString(got) {
			t.Errorf("%s is rendered as %s", line, got)
		}
	}
}

package ingest_test

import (
	"strings"
	"testing"

	"annotator/corpus/ingest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// words makes a paragraph of n tokens: n times "abc ", without the last space.
func words(n int) string { return strings.TrimSpace(strings.Repeat("abc ", n)) }

func TestScenesAreCutAtTheirLength(t *testing.T) {
	t.Parallel()
	sizes := func(scenes []string) []int {
		var all []int
		for _, s := range scenes {
			all = append(all, ingest.Estimate(s))
		}
		return all
	}
	const pause = ""
	ten := []string{
		words(10), words(10), words(10), words(10), words(10), words(10), words(10), words(10), words(10),
		words(10),
	}
	for name, c := range map[string]struct {
		paragraphs []string
		want       []int
	}{
		"short chapter":             {[]string{words(30)}, []int{30}},
		"no small rest":             {append(ten, words(10)), []int{51, 61}},
		"balanced":                  {append(ten, ten...), []int{51, 51, 51, 51}},
		"at its breaks":             {[]string{words(40), pause, words(60)}, []int{40, 60}},
		"a short piece is joined":   {[]string{words(40), pause, words(5), pause, words(60)}, []int{47, 60}},
		"a short first piece":       {[]string{words(5), pause, words(60)}, []int{67}},
		"a short last piece":        {[]string{words(80), pause, words(60), pause, words(5)}, []int{80, 67}},
		"breaks in a row":           {[]string{pause, words(40), pause, pause, words(40), pause}, []int{40, 40}},
		"a long paragraph":          {[]string{words(100)}, []int{100}},
		"a paragraph of two scenes": {[]string{words(150)}, []int{50, 50, 50}},
		"nothing":                   {[]string{pause, pause}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, sizes(ingest.CutScenes(c.paragraphs, 50))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLongParagraphIsCutBehindSentences(t *testing.T) {
	t.Parallel()
	sentence := "It was \u201cfine.\u201d "
	for _, c := range []struct{ text, ends string }{
		{strings.Repeat(sentence, 60), "\u201d"},
		{strings.Repeat("\u6c49\u5b57\u6c49\u5b57\u3002", 60), "\u3002"},
		{strings.Repeat("words without end ", 60), ""},
		{strings.Repeat("x", 900), ""},
	} {
		scenes := ingest.CutScenes([]string{c.text}, 50)
		if len(scenes) < 3 {
			t.Errorf("%q is cut into %d", c.text[:20], len(scenes))
		}
		for _, s := range scenes {
			if !strings.HasSuffix(s, c.ends) {
				t.Errorf("cut at %q", s[max(0, len(s)-20):])
			}
		}
	}
}

// Cutting loses nothing, and no scene is much longer than asked.
func TestCutScenesKeepsAllText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		paragraphs := rapid.SliceOf(rapid.StringMatching(`([a-z]{1,12}[.!]? ?|漢字。){0,40}`)).Draw(rt, "paragraphs")
		target := rapid.IntRange(1, 40).Draw(rt, "target")
		for i := range paragraphs {
			paragraphs[i] = strings.TrimSpace(paragraphs[i])
		}
		scenes := ingest.CutScenes(paragraphs, target)
		if got, want := squeeze(strings.Join(scenes, "")), squeeze(strings.Join(paragraphs, "")); got != want {
			rt.Fatalf("got %q, want %q", got, want)
		}
		for _, s := range scenes {
			if tokens := ingest.Estimate(s); tokens > 4*target+20 {
				rt.Fatalf("a scene of %d tokens: %q", tokens, s)
			}
		}
	})
}

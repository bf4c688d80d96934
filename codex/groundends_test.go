package codex_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"annotator"
	"annotator/codex"

	"pgregory.net/rapid"
)

func TestGroundEnds(t *testing.T) {
	t.Parallel()
	const body = "“They call me Thimble,” she said, “because of my thimble.”\n\n" +
		"She sat down… She came, and she went. Then she came no more."
	for quote, want := range map[string]string{
		"They call me … my thimble.":      "They call me Thimble,” she said, “because of my thimble.",
		"They call me...my thimble":       "They call me Thimble,” she said, “because of my thimble",
		"\"They call me [...] my thimble": "“They call me Thimble,” she said, “because of my thimble",
		"and  she […] no more.":           "and she went. Then she came no more.",
		"She sat … no more":               "She sat down… She came, and she went. Then she came no more",
		"she … no more":                   "", // three passages
		"They … she":                      "", // two last words
		"no more … They call":             "", // in another order
		"They call me … my bell":          "",
		"They … Thimble … she":            "", // two last words
		"They … me … said":                "They call me Thimble,” she said",
		"They … call … came … more": "They call me Thimble,” she said, “because of my thimble.”\n\n" +
			"She sat down… She came, and she went. Then she came no more",
		"They … said … Thimble … more": "", // in another order
		"They … me … … more":           "",
		"call … she … no more": "call me Thimble,” she said, “because of my thimble.”\n\n" +
			"She sat down… She came, and she went. Then she came no more",
		"They call me …":              "",
		"… my thimble":                "",
		"They call me Thimble":        "", // no ends
		"hey call me … my thimble":    "", // parts of words
		"They call me … my thim":      "",
		"They call m … my thimble":    "",
		"They … ecause … my thimble":  "",
		"They … because … my thimble": "They call me Thimble,” she said, “because of my thimble",
	} {
		evidence, passages := codex.GroundEnds(body, quote)
		if (passages == 1) != (want != "") || passages == 1 && evidence.Quote != want {
			t.Errorf("%q gives %d passages, %q; want %q", quote, passages, evidence.Quote, want)
		}
	}
	if _, passages := codex.GroundEnds("It began"+strings.Repeat(" and went on", codex.MaxQuote)+" and stopped.",
		"It began … stopped."); passages != 0 {
		t.Errorf("a passage of any length: %d", passages)
	}
}

// TestEndsTooFarApart: of words that are far apart, or in several posts, each piece is a quotation. If a piece is no
// quotation by itself, the reason says so.
func TestEndsTooFarApart(t *testing.T) {
	t.Parallel()
	far := strings.Repeat("She waited. ", codex.MaxQuote)
	posts := []annotator.Post{{ID: 3, Body: "No."}, {ID: 7, Body: "They came at dawn. " + far + "Then she slept."}}
	for quote, want := range map[string]string{
		"They came … slept":                    "post 7 has these words",
		"They came at dusk. … Then she slept.": "",
	} {
		found, why := codex.FindQuotes(posts, quote)
		if found != nil || !strings.HasPrefix(why, want) || want == "" && why != "" {
			t.Errorf("%q: %v, %q", quote, found, why)
		}
	}
	for quote, want := range map[string]string{
		"They came at dawn. … Then she slept.":    "7 They came at dawn.|7 Then she slept.",
		"Then she slept. [...] They came at dawn": "7 Then she slept.|7 They came at dawn",
		"came at dawn … No.":                      "7 came at dawn|3 No.",
		"They came … at dawn.":                    "7 They came at dawn.",
		"They … Then she slept":                   "7 Then she slept", // a name alone says who is meant
		"Then she slept … Dawn":                   "",                 // no word of the posts
	} {
		found, why := codex.FindQuotes(posts, quote)
		var got []string
		for _, v := range found {
			got = append(got, fmt.Sprintf("%d %s", v.Post, v.Quote))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, %q", quote, got, why)
		}
	}
}

// TestGroundEndsIsInTheBody tests that the body holds what is found, from its first words to its last, and no other
// such passage.
func TestGroundEndsIsInTheBody(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{
			"she", "came", "“no", "more”", "é", "e\u0301", "\n", "…",
			"漢字", "a--b", "...",
		}), 2, 12)
		body, head, tail := strings.Join(words.Draw(t, "body"), " "), strings.Join(words.Draw(t, "head")[:1], " "),
			strings.Join(words.Draw(t, "tail")[:1], " ")
		evidence, passages := codex.GroundEnds(body, head+" … "+tail)
		if passages != 1 {
			return
		}
		runes := []rune(body)
		if evidence.Start < 0 || evidence.End > len(runes) ||
			string(runes[evidence.Start:evidence.End]) != evidence.Quote {
			t.Fatalf("%q is not at %d to %d of %q", evidence.Quote, evidence.Start, evidence.End, body)
		}
		if n := utf8.RuneCountInString(evidence.Quote); n > codex.MaxQuote || n < 2 {
			t.Fatalf("%d characters", n)
		}
		if again, ok := codex.Ground(body, evidence.Quote); !ok || again.Quote != evidence.Quote {
			t.Fatalf("%q is not found whole", evidence.Quote)
		}
	})
}

func FuzzGroundEnds(f *testing.F) {
	f.Add("“They call me Thimble,” she said.", "They … said")
	f.Add("a…b…c", "a…c")
	f.Add("a b c d", "a…b…c…d")
	f.Add("\xff\u0301…", "\u0301…\xff")
	f.Fuzz(func(t *testing.T, body, quote string) {
		evidence, passages := codex.GroundEnds(body, quote)
		if passages == 1 && !strings.Contains(body, evidence.Quote) {
			t.Errorf("%q is not in %q", evidence.Quote, body)
		}
	})
}

package codex_test

import (
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"annotator"
	"annotator/codex"
)

func TestGroundForgivesTypography(t *testing.T) {
	t.Parallel()
	const body = "“Dawn’s the  ship,”\nshe said — and the café… closed."
	for _, test := range []struct{ quote, want string }{
		{`"Dawn's the ship,"`, "“Dawn’s the  ship,”"},
		{"ship,” she said - and", "ship,”\nshe said — and"},
		{norm.NFD.String("café..."), "café…"},
		{"  closed. ", "closed."},
	} {
		got, ok := codex.Ground(body, test.quote)
		if !ok || got.Quote != test.want {
			t.Errorf("Ground(%q) = %+v, %v; want %q", test.quote, got, ok, test.want)
		}
	}
}

func TestGroundRefuses(t *testing.T) {
	t.Parallel()
	const body = "Dawn is a ship. … She sails."
	for _, quote := range []string{"", " ", "…", ".", "dawn is", "Dawn was", "Dawn is a ship. She sails.", body + "x"} {
		if got, ok := codex.Ground(body, quote); ok {
			t.Errorf("Ground(%q) = %+v", quote, got)
		}
	}
}

// Every part of a body is found as a quotation, also in other composition and white space. The range selects the
// quotation in the body.
func TestGroundFindsEveryPart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		runes := []rune(text(60).Draw(t, "body"))
		start := rapid.IntRange(0, len(runes)).Draw(t, "start")
		end := rapid.IntRange(start, len(runes)).Draw(t, "end")
		body, quote := string(runes), string(runes[start:end])
		if !checkGround(t, body, quote) && codex.HasWord(quote) {
			t.Fatalf("%q is not found in %q", quote, body)
		}
		for _, other := range []string{norm.NFC.String(body), norm.NFD.String(body)} {
			if !checkGround(t, other, body) && codex.HasWord(body) {
				t.Fatalf("%q is not found in %q", body, other)
			}
		}
	})
}

func FuzzGround(f *testing.F) {
	f.Add("Dawn is a ship.", "a ship")
	f.Add("e\u0301a\u0301", "é")
	f.Add("a…b", "...b")
	f.Add("각", "\u1100")
	f.Add("\xffab\xfe", "b\xfe")
	f.Add("\u0344x", "x")
	f.Add("…b", "\xa6b")
	f.Fuzz(func(t *testing.T, body, quote string) {
		if utf8.ValidString(body) {
			checkGround(t, body, quote)
		}
	})
}

func checkGround(t interface{ Fatalf(string, ...any) }, body, quote string) bool {
	got, ok := codex.Ground(body, quote)
	if !ok {
		return false
	}
	runes := []rune(body)
	if got.Start < 0 || got.Start >= got.End || got.End > len(runes) || string(runes[got.Start:got.End]) != got.Quote {
		t.Fatalf("%q in %q: %+v cuts something else", quote, body, got)
	}
	return true
}

// TestQuoteAcrossPosts: of a quotation that runs from a post into the next one the longer part is kept, as it stands in its post.
func TestQuoteAcrossPosts(t *testing.T) {
	t.Parallel()
	posts := []annotator.Post{{ID: 1, Body: " The door é swings open, without a sound.\n\n"}, {ID: 2, Body: "\n“It is a still,” she said."}, {ID: 3, Body: "Nobody spoke."}}
	for quote, want := range map[string]annotator.Evidence{
		"swings open, without a sound. \"It is": {Post: 1, Start: 12, End: 41, Quote: "swings open, without a sound."},
		"sound.\n“It is a still,” she said":     {Post: 2, Start: 1, End: 26, Quote: "“It is a still,” she said"},
		"It is a still,":                        {Post: 2, Start: 2, End: 16, Quote: "It is a still,"},
		"sound. Nobody":                         {},
		"she said. No":                          {Post: 2, Start: 18, End: 27, Quote: "she said."},
	} {
		found, _ := codex.FindQuote(posts, quote)
		if found == nil {
			found = &annotator.Evidence{}
		}
		if *found != want {
			t.Errorf("%q is %+v, want %+v", quote, *found, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.StringMatching(`[ab é\n]{0,12}`)
		posts := []annotator.Post{{ID: 1, Body: body.Draw(t, "first")}, {ID: 2, Body: body.Draw(t, "second")}}
		found, _ := codex.FindQuote(posts, body.Draw(t, "quote"))
		if found == nil {
			return
		}
		if got := string([]rune(posts[found.Post-1].Body)[found.Start:found.End]); got != found.Quote || !codex.HasWord(got) {
			t.Fatalf("%+v is %q in its post", *found, got)
		}
	})
}

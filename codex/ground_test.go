package codex_test

import (
	"slices"
	"strings"
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
		{norm.NFD.String("the café..."), "the café…"},
		{"  closed. ", "closed."},
		{"She said —", "she said —"},
		{"“dawn’s the", "“Dawn’s the"},
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
	for _, quote := range []string{"", " ", "…", ".", "Dawn Is", "Dawn was", "Dawn is a ship. She sails.", body + "x"} {
		if got, ok := codex.Ground(body, quote); ok {
			t.Errorf("Ground(%q) = %+v", quote, got)
		}
	}
}

// TestQuoteIsWords: a quotation is whole words of a post, and more than one unless it is a sentence, line or utterance.
func TestQuoteIsWords(t *testing.T) {
	t.Parallel()
	const body = "The Art of Light\n\n" +
		"“Yes,” she said from the heart. Run! She can’t swim; she owns 10,000 lamps at No. 12 Quay of Dr. Mo.\n\n" +
		"— Да, — сказал он. Il dit qu’il est l’homme du roi. 他收着那盏灯。好！ ผู้ใหญ่มา می\u200cخواهم بروم. A half-moon " +
		"rose—red—over it.\n\n" +
		"‘Never,’ he said of the sailors’ wives’ house. Then 'maybe' too, in the dogs' cats' bowl.\n\nFin"
	for quote, want := range map[string]bool{
		"art": false, // of heart
		"e":   false, "heart": false, "Art": false, "the hear": false, "rom the heart": false, "from the heart": true,
		"the heart": true, "Yes": true, "“Yes,”": true, "Run": true, "Run!": true, "She can": false, "She can’t": true,
		"she owns 10": false,
		"owns 10,000": true, "000 lamps": false, "10,000": false, "No": false, "Dr.": false, "Mo": false,
		"The Art of Light": true, "Fin": true, "Never": true, "maybe": true, "wives": false, "cats": false,
		"said of": true, "Да": true,
		"сказал": false, "он. Il": true, "il est": true, "Il dit qu": false, "homme du roi": true, "收着": true,
		"灯": false, "好": true, "ใหญ": false,
		"ใหญ่": true, "خواهم بروم": false, "می\u200cخواهم بروم": true, "moon rose": true, "red": false, "it": false,
	} {
		if got, ok := codex.Ground(body, quote); ok != want {
			t.Errorf("%q is found: %v, as %q", quote, ok, got.Quote)
		}
	}
	if got, _ := codex.Ground("a heart at the heartland, at the heart", "at the heart"); got.Start != 26 {
		t.Errorf("%+v is no place of whole words", got)
	}
	for quote, reason := range map[string]string{
		"from the hear": "whole words", "the … lamps": "several passages",
		"Nobody spoke": "",
	} {
		found, why := codex.FindQuotes([]annotator.Post{{ID: 1, Body: body + " The lamps are the lamps."}}, quote)
		if found != nil || !strings.Contains(why, reason) || (why == "") != (reason == "") {
			t.Errorf("%q: %+v, %q", quote, found, why)
		}
	}
}

// storyText is a text of known words.
type storyText struct {
	text  string
	words []codex.Span // in bytes
}

// words of several scripts. Those of Chinese are single characters.
var sampleWords = []string{
	"a", "art", "heart", "the", "hear", "don't", "can’t", "10,000", "3.5", "été",
	"e\u0301te\u0301", "дом", "домой", "사람", "사람은", "राजा", "灯", "他", "x",
}

func drawText(t *rapid.T) storyText {
	var s storyText
	var b strings.Builder
	for _, word := range rapid.SliceOfN(rapid.SampledFrom(sampleWords), 1, 12).Draw(t, "words") {
		start := b.Len()
		b.WriteString(word)
		s.words = append(s.words, codex.Span{Start: start, End: b.Len()})
		b.WriteString(rapid.SampledFrom([]string{" ", ", ", " — ", "; ", "  ", " (", "- "}).Draw(t, "gap"))
	}
	s.text = b.String()
	return s
}

// TestWholeWordsAreFound: each run of two or more whole words of a post is a quotation of it, also as a model may write
// it.
func TestWholeWordsAreFound(t *testing.T) {
	t.Parallel()
	typed := strings.NewReplacer("’", "'", " — ", " - ", "  ", "\n")
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t)
		if len(s.words) < 2 {
			return
		}
		first := rapid.IntRange(0, len(s.words)-2).Draw(t, "first")
		last := rapid.IntRange(first+1, len(s.words)-1).Draw(t, "last")
		quote := s.text[s.words[first].Start:s.words[last].End]
		for _, written := range []string{
			quote, norm.NFC.String(quote), norm.NFD.String(quote), typed.Replace(quote),
			"“" + quote + ".”",
		} {
			found, why := codex.FindQuotes([]annotator.Post{{ID: 1, Body: s.text}}, written)
			if found == nil || spacedOut(found[0].Quote) != spacedOut(quote) {
				t.Fatalf("%q is found in %q as %+v: %s", written, s.text, found, why)
			}
			checkGround(t, s.text, written)
		}
	})
}

// spacedOut returns a text with single spaces, composed.
func spacedOut(text string) string {
	return norm.NFC.String(strings.Join(strings.Fields(text), " "))
}

// TestPartsOfWordsGroundNothing tests that a text with a part of a word at an end is no quotation. A single word of a
// sentence is none, either.
func TestPartsOfWordsGroundNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t)
		runes := []rune(s.text)
		start := rapid.IntRange(0, len(runes)).Draw(t, "start")
		quote := strings.TrimSpace(string(runes[start:rapid.IntRange(start, len(runes)).Draw(t, "end")]))
		if _, found := codex.Ground(s.text, quote); found != s.folded().holds(spacedOut(quote)) {
			t.Fatalf("%q of %q is found: %v", quote, s.text, found)
		}
	})
}

// folded returns a text with its words composed and single spaces between them: the forms that a quotation may have.
func (s *storyText) folded() *storyText {
	f := &storyText{}
	for i, w := range s.words {
		start := len(f.text)
		f.text += norm.NFC.String(s.text[w.Start:w.End])
		f.words = append(f.words, codex.Span{Start: start, End: len(f.text)})
		next := len(s.text)
		if i+1 < len(s.words) {
			next = s.words[i+1].Start
		}
		f.text += strings.ReplaceAll(s.text[w.End:next], "  ", " ")
	}
	return f
}

// holds reports whether a quotation stands in the text and holds two whole words or all of them, and no part of a word.
func (s *storyText) holds(quote string) bool {
	for at := range s.text {
		inside, end := 0, at+len(quote)
		for _, w := range s.words {
			if at <= w.Start && w.End <= end {
				inside++
			}
		}
		if strings.HasPrefix(s.text[at:], quote) &&
			(inside > 1 && !s.cuts(at) && !s.cuts(end) || inside == len(s.words)) {
			return true
		}
	}
	return false
}

// cuts reports whether an offset is inside a word.
func (s *storyText) cuts(at int) bool {
	return slices.ContainsFunc(s.words, func(w codex.Span) bool { return w.Start < at && at < w.End })
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

// TestQuoteAcrossPosts tests that the longer part of a quotation across two posts is kept, as its post has it.
func TestQuoteAcrossPosts(t *testing.T) {
	t.Parallel()
	posts := []annotator.Post{
		{ID: 1, Body: " The door é swings open, without a sound.\n\n"},
		{ID: 2, Body: "\n“It is a still,” she said."},
		{ID: 3, Body: "Nobody spoke."},
	}
	for quote, want := range map[string]annotator.Evidence{
		"swings open, without a sound. \"It is": {Post: 1, Start: 12, End: 41, Quote: "swings open, without a sound."},
		"sound.\n“It is a still,” she said":     {Post: 2, Start: 1, End: 26, Quote: "“It is a still,” she said"},
		"It is a still,":                        {Post: 2, Start: 2, End: 16, Quote: "It is a still,"},
		"sound. Nobody":                         {},
		"she said. Nobody":                      {Post: 2, Start: 18, End: 27, Quote: "she said."},
		"she said. No":                          {},
		"said. Nobody":                          {}, // in each post a single word
	} {
		found, _ := codex.FindQuotes(posts, quote)
		if found == nil {
			found = []annotator.Evidence{{}}
		}
		if len(found) != 1 || found[0] != want {
			t.Errorf("%q is %+v, want %+v", quote, found, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.StringMatching(`[ab é\n]{0,12}`)
		posts := []annotator.Post{{ID: 1, Body: body.Draw(t, "first")}, {ID: 2, Body: body.Draw(t, "second")}}
		found, _ := codex.FindQuotes(posts, body.Draw(t, "quote"))
		if found == nil {
			return
		}
		if got := string([]rune(posts[found[0].Post-1].Body)[found[0].Start:found[0].End]); got != found[0].Quote ||
			!codex.HasWord(got) {
			t.Fatalf("%+v is %q in its post", found, got)
		}
	})
}

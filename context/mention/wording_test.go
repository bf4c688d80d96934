package mention_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
)

// support returns the quotations of a fact and the words that they lack, in a story of a post.
func support(
	t testing.TB, x *mention.Index, f codex.Fact, e *annotator.Entry, body, quote string, usage *mention.Usage,
) (quotes []string, lacks []string) {
	t.Helper()
	posts := []annotator.Post{{ID: 1, Body: body}}
	var why string
	if f.Quotes, why = codex.FindQuotes(posts, quote); f.Quotes == nil {
		t.Fatalf("%q is not found: %s", quote, why)
	}
	found, lacks := x.Wording(f.Text, e, usage).Support(&f, nil, posts)
	for _, q := range found {
		if got := string([]rune(body)[q.Start:q.End]); got != q.Quote || q.Post != 1 {
			t.Errorf("%q is %q in the post", q.Quote, got)
		}
		quotes = append(quotes, q.Quote)
	}
	return quotes, lacks
}

// spoken is a usage of scenes with some words.
func spoken(text string) *mention.Usage {
	usage := mention.NewUsage()
	for range 20 {
		usage.Add(text)
	}
	return usage
}

// TestQuotationsAreWidened: a quotation is given by a few words. It has the sentence of them, and as much around it as
// the fact says.
func TestQuotationsAreWidened(t *testing.T) {
	t.Parallel()
	usage := spoken("She was there and he said that it is so, but I had my own. Он был там и не знал. 他是一个人，的。")
	x := mention.New()
	x.SetNames(1, []string{"Mira Vane", "Mira"})
	x.SetNames(2, []string{"Tobin", "the clerk"})
	x.SetNames(3, []string{"Анна"})
	mira := namedEntry(1, "Mira Vane", "Mira")
	const story = `The rain had come. Mira stood at the gate, and the clerk was there.

"You will have it back by Tuesday," she said; and she put the lantern down. Nobody spoke of the harbour.

"Is it so?" he said. "I had it lit." It was so. The gate fell shut, and it was so.`
	for _, test := range []struct{ fact, quote, want string }{
		{"Mira put the lantern down.", "put the lantern", `Mira stood at the gate, and the clerk was there.

"You will have it back by Tuesday," she said; and she put the lantern down.`}, // her name is near
		{
			"The lantern was promised back by Tuesday.", "have it back",
			`"You will have it back by Tuesday," she said; and she put the lantern down.`,
		},
		{"The harbour was not spoken of.", "Nobody spoke", `Nobody spoke of the harbour.`},
		{"The gate fell shut.", "it was so", `The gate fell shut, and it was so.`}, // it has more of the fact
		{"It was so.", "It was so", `It was so.`},
		{"It is lit.", "I had it lit", `"I had it lit."`},
	} {
		of := namedEntry(9, "Zedekiah") // whom the story does not name
		if strings.HasPrefix(test.fact, "Mira") {
			of = mira
		}
		if got, _ := support(t, x, codex.Fact{Text: test.fact}, of, story, test.quote, usage); len(got) != 1 ||
			got[0] != test.want {
			t.Errorf("%q by %q: %q", test.fact, test.quote, got)
		}
	}
	const russian = "Дождь шёл. Анна стояла у ворот. Она погасила фонарь и ушла. Никто не знал."
	anna := namedEntry(3, "Анна")
	got, _ := support(t, x, codex.Fact{Text: "Анна погасила фонарь."}, anna, russian, "погасила фонарь", usage)
	if want := "Анна стояла у ворот. Она погасила фонарь и ушла."; len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
	got, _ = support(t, x, codex.Fact{Text: "他把灯笼放下了。"}, namedEntry(4, "王"), "天黑了。他把灯笼放下，走了。没有人说话。", "灯笼放下", usage)
	if want := "他把灯笼放下，走了。"; len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
}

// TestSeveralPassages: what a fact has from two passages has two quotations, whether the model gives both or one.
func TestSeveralPassages(t *testing.T) {
	t.Parallel()
	usage := spoken("She was there and he said that it is so in the way for the of a at.")
	x, mira := mention.New(), namedEntry(1, "Mira")
	x.SetNames(1, []string{"Mira"})
	filler := strings.Repeat("He said that it was so and so, and she was there. ", 15)
	body := "Mira wore a crimson velvet gown. " + filler + "A sapphire was at her throat."
	const fact = "Mira wore a crimson velvet gown, and a sapphire at her throat."
	want := []string{"Mira wore a crimson velvet gown.", "A sapphire was at her throat."}
	for _, quote := range []string{"crimson velvet … at her throat", "wore a crimson"} {
		got, lacks := support(t, x, codex.Fact{Text: fact}, mira, body, quote, usage)
		if !slices.Equal(got, want) || lacks != nil {
			t.Errorf("%q: %q, %q", quote, got, lacks)
		}
	}
	inferred := codex.Fact{Text: fact, Kind: annotator.Inferred}
	if got, lacks := support(t, x, inferred, mira, body, "wore a crimson", usage); len(got) != 1 || lacks != nil {
		t.Errorf("%q, %q", got, lacks)
	}
}

// TestNamesOfPronouns: where a quotation has a pronoun or the words of a speaker, the nearest sentence with the name is
// quoted, too. It is before it, or behind it in its paragraph.
func TestNamesOfPronouns(t *testing.T) {
	t.Parallel()
	usage := spoken("She was there and he said that it is so in the way for the of a at. You put your it.")
	x, mira := mention.New(), namedEntry(1, "Mira")
	x.SetNames(1, []string{"Mira"})
	x.SetNames(2, []string{"Tobin"})
	filler := strings.Repeat("He said that it was so and so, and she was there. ", 4)
	far := strings.Repeat(filler, 6)
	const lit = "She lit the beacon."
	for _, test := range []struct{ fact, body, want string }{
		{"Mira lit the beacon.", "Mira was there. " + filler + lit, "[She lit the beacon. Mira was there.]"},
		{"Mira lit the beacon.", "Mira was there. " + far + lit, "[She lit the beacon.]"},
		{"Mira lit the beacon.", filler + lit + " " + filler + "So did Mira.", "[She lit the beacon. So did Mira.]"},
		{"Mira lit the beacon.", filler + lit + " " + filler + "\nMira was there.", "[She lit the beacon.]"},
		{
			"Mira lit the beacon.", "Mira was. " + filler + "Mira was there. " + filler + lit,
			"[She lit the beacon. Mira was there.]",
		},
		{
			"Mira lit the beacon for [[Tobin]].", "Tobin was there. " + filler + "Mira was. " + filler + lit,
			"[She lit the beacon. Mira was. Tobin was there.]",
		},
		{"Mira lit the beacon of [[Skerry]].", "Skerry was there. " + filler + lit, // which has no entry yet
			"[She lit the beacon. Skerry was there.]"},
		{"Mira lit the beacon for her.", "Mira was there. " + filler + "You lit the beacon.", "[You lit the beacon.]"},
	} {
		posts := []annotator.Post{{ID: 1, Body: test.body}}
		fact := codex.Fact{Text: test.fact}
		fact.Quotes, _ = codex.FindQuotes(posts, "lit the beacon")
		w := x.Wording(fact.Text, mira, usage)
		if strings.Contains(test.body, "You") {
			w.Address(mira.ID)
		}
		found, _ := w.Support(&fact, nil, posts)
		var quotes []string
		for _, q := range found {
			quotes = append(quotes, q.Quote)
		}
		if got := fmt.Sprint(quotes); got != test.want {
			t.Errorf("%q: %s, not %s", test.fact, got, test.want)
		}
	}
}

// TestASurnameNamesNobody: a part of a name that others have, too, does not say who it is.
func TestASurnameNamesNobody(t *testing.T) {
	t.Parallel()
	usage := spoken("She was there and he said that it is so in the way for the of a at.")
	x := mention.New()
	x.SetNames(1, []string{"Leslie Oakley", "Leslie"})
	x.SetNames(2, []string{"Maurice Oakley", "Mr. Oakley"})
	leslie := namedEntry(1, "Leslie Oakley", "Leslie")
	body := "Leslie was there. " + strings.Repeat("It was so and so, and so it was there. ", 5) +
		"She refused an Oakley."
	got, _ := support(t, x, codex.Fact{Text: "Leslie Oakley refused."}, leslie, body, "She refused", usage)
	if want := []string{"She refused an Oakley.", "Leslie was there."}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	x.SetNames(2, nil) // nobody else has it
	got, _ = support(t, x, codex.Fact{Text: "Leslie Oakley refused."}, leslie, body, "She refused", usage)
	if want := []string{"She refused an Oakley."}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestQuotationsDoNotOverlap: words of one passage that are given as several quotations are one quotation of it.
func TestQuotationsDoNotOverlap(t *testing.T) {
	t.Parallel()
	usage := spoken("She was there and he said that it is so in the way for the of a at.")
	x, mira := mention.New(), namedEntry(1, "Mira")
	x.SetNames(1, []string{"Mira"})
	const body = "Mira lit the beacon at dusk. The gale rose. She rowed to the skerry. He was there."
	posts := []annotator.Post{{ID: 1, Body: body}}
	fact := codex.Fact{Text: "Mira lit the beacon in the gale and rowed to the skerry."}
	for _, quote := range []string{"the gale rose", "Mira lit the beacon at dusk. The gale", "rowed to the skerry"} {
		found, _ := codex.FindQuotes(posts, quote)
		fact.Quotes = append(fact.Quotes, found...)
	}
	got, _ := x.Wording(fact.Text, mira, usage).Support(&fact, nil, posts)
	want := "Mira lit the beacon at dusk. The gale rose. She rowed to the skerry."
	if len(got) != 1 || got[0].Quote != want || got[0].Start != 0 || got[0].End != len(want) {
		t.Errorf("%+v", got)
	}
}

// TestLackingWords: words of a fact lack if its scene has them and its quotations do not. All of them lack if the two
// have nothing in common. Words that the scene has nowhere are other words for what it says.
func TestLackingWords(t *testing.T) {
	t.Parallel()
	usage := spoken("She was there and he said that it is so in the way for the of a at.")
	x, mira := mention.New(), namedEntry(1, "Mira")
	x.SetNames(1, []string{"Mira"})
	filler := strings.Repeat("He said that it was so and so, and she was there. ", 15)
	told := []string{"Mira lit the beacon. ", "The gale rose. ", "The oars broke. ", "He was there."}
	body := strings.Join(told, filler)
	for _, test := range []struct{ fact, quote, lacks string }{
		{"Mira lit the beacon.", "lit the beacon", "[]"},
		{"She kindled the beacon.", "lit the beacon", "[]"}, // in other words
		{"Mira lit the beacon in a gale.", "lit the beacon", "[]"},
		{"Mira lit the beacon in a gale, for want of oars.", "lit the beacon", "[gale oars]"},
		{"The oars broke.", "He was there", "[]"}, // the sentence of these is quoted, too
		{"The oars snapped.", "He was there", "[oars snapped]"},
		{"Who but the oars, nor yet one, snapped?", "He was there", "[oars snapped]"}, // seldom
		{"Mira was there.", "He was there", "[]"},                                     // a name and common words
	} {
		_, lacks := support(t, x, codex.Fact{Text: test.fact}, mira, body, test.quote, usage)
		if fmt.Sprint(lacks) != test.lacks {
			t.Errorf("%q by %q lacks %q", test.fact, test.quote, lacks)
		}
	}
}

// TestSupportIsOfTheStory: whatever the texts, quotations are parts of the post and not too long. They contain what was
// given, and are the same if they are given again.
func TestSupportIsOfTheStory(t *testing.T) {
	t.Parallel()
	usage := spoken("and the of")
	x, e := mention.New(), namedEntry(1, "Anna")
	x.SetNames(1, []string{"Anna"})
	word := rapid.SampledFrom([]string{
		"and", "the", "lamp", "été", "Дом", "灯笼", "등불", "don't", "Anna", ".", "!\n", "”", "“", "; ", "—",
	})
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 4, 300).Draw(t, "words")
		body := strings.Join(words, " ")
		from := rapid.IntRange(0, len(words)-3).Draw(t, "from")
		posts := []annotator.Post{{ID: 1, Body: body}}
		fact := codex.Fact{Text: strings.Join(rapid.SliceOfN(word, 1, 6).Draw(t, "fact"), " ")}
		if fact.Quotes, _ = codex.FindQuotes(posts, strings.Join(words[from:from+3], " ")); fact.Quotes == nil {
			return
		}
		w := x.Wording(fact.Text, e, usage)
		quotes, _ := w.Support(&fact, nil, posts)
		for _, q := range quotes {
			if string([]rune(body)[q.Start:q.End]) != q.Quote || q.End-q.Start > codex.MaxQuote {
				t.Fatalf("%+v of %q", q, body)
			}
		}
		trimmed := strings.Trim(fact.Quotes[0].Quote, " “”.!;—\n")
		if !strings.Contains(quotes[0].Quote, trimmed) {
			t.Fatalf("%q has not %q", quotes[0].Quote, trimmed)
		}
		fact.Quotes = quotes
		if again, _ := w.Support(&fact, nil, posts); !slices.Contains(again, quotes[0]) {
			t.Fatalf("%+v becomes %+v", quotes, again)
		}
	})
}

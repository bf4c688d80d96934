package mention_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"annotator"
	"annotator/context/mention"
)

// TestQuotationSharesAWordWithItsFact: a quotation shares a word with its fact that is not common, or a name, in any
// script.
func TestQuotationSharesAWordWithItsFact(t *testing.T) {
	t.Parallel()
	usage, index := mention.NewUsage(), mention.New()
	for range 20 {
		usage.Add("She is the one that they have with them, and there was this. Mira said so. 他是一个人，的。 Она была там " +
			"с ними.")
	}
	index.SetNames(2, []string{"Hollow Street", "the lane"})
	index.SetNames(3, []string{"Tobin Vane", "the clerk"})
	e := &annotator.Entry{
		ID: 7, Term: "Mira", Disambiguator: "glazier",
		Aliases: []annotator.Alias{{Name: "Mira"}, {Name: "the girl"}, {Name: "镜娘"}},
	}
	for _, test := range []struct {
		fact, quote string
		bears       bool
	}{
		{"Mira owns a lantern.", "two lanterns hung there", true},     // another form
		{"Mira owns a lantern.", "that was the one they have", false}, // common words
		{"Mira owns a lantern.", "Mira said so", true},                // a name, common as it is
		{"She owns a lantern.", "the girl had it with her", true},     // an alias
		// what distinguishes her from others
		{"She owns a lantern.", "there was a glazier", true},
		{"Tobin Vane loves her.", "the clerk turned red", true}, // another entry by its alias
		{"Tobin Vane loves her.", "he turned red", false},       // a pronoun is no name
		{"It is in the lane.", "Hollow Street was empty", true}, //
		{"Она зажгла фонарь.", "там горели фонари", true},       // another form
		{"Она зажгла фонарь.", "она была там с ними", false},    //
		{"등불은 사람이 켰다.", "사람을 보았다", true},                        // another particle
		{"她收着一盏灯。", "灯灭了", true},                                // a character that is not common
		{"她收着一盏灯。", "他是一个人", false},                             //
		{"她收着一盏灯。", "镜娘来了", true},                               // an alias
		{"เขาเก็บตะเกียงไว้", "ตะเกียงดับแล้ว", true},           // a run of characters
		{"เขาเก็บตะเกียงไว้", "ฝนตกหนัก", false},                //
		{"She owns it.", "", false},
		{"", "She owns it", false},
		{"!", "?", false}, // no words
	} {
		if got := index.Bears(test.quote, test.fact, e, usage); got != test.bears {
			t.Errorf("%q bears out %q: %v", test.quote, test.fact, got)
		}
	}
	if !index.Bears("that was the one", "It is the one.", e, mention.NewUsage()) {
		t.Error("a story's first scenes do not show which words are common")
	}
}

// TestTextBearsOutItsRepetition: a text bears out each text that repeats it, unless it has nothing but common words.
func TestTextBearsOutItsRepetition(t *testing.T) {
	t.Parallel()
	usage := mention.NewUsage()
	for range 20 {
		usage.Add("and the of")
	}
	word := rapid.SampledFrom([]string{"and", "the", "of", "lamp", "été", "Дом", "灯笼", "등불", "don't"})
	rapid.Check(t, func(t *rapid.T) {
		quote := rapid.SliceOfN(word, 1, 5).Draw(t, "quote")
		rest := rapid.SliceOfN(word, 0, 5).Draw(t, "rest")
		distinctive := false
		for _, w := range quote {
			distinctive = distinctive || !strings.Contains("and the of", w)
		}
		q, fact := strings.Join(quote, " "), strings.ToUpper(strings.Join(append(rest, quote...), " "))
		if got := mention.New().Bears(q, fact, &annotator.Entry{}, usage); got != distinctive {
			t.Fatalf("%q bears out %q: %v", q, fact, got)
		}
	})
}

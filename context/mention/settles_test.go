package mention_test

import (
	"testing"

	"annotator"
	"annotator/context/mention"
)

// TestSettles: a fact that confirms a guess has a word of it that is not common, or names another entry that it names.
func TestSettles(t *testing.T) {
	t.Parallel()
	usage := spoken("She was there and he said that it is so and it seems to be the one.")
	x, mira := mention.New(), namedEntry(1, "Mira")
	x.SetNames(1, mira.Names())
	x.SetNames(2, []string{"Tobin", "the clerk"})
	guess := &annotator.Claim{Text: "Mira seems to be the drinker that Tobin said."}
	for text, want := range map[string]bool{
		"Mira drinks.":           true,
		"The clerk was there.":   true, // another name of whom the guess names
		"Mira was there.":        false,
		"It seems to be the one": false,
	} {
		if got := x.Settles(mira, guess, mira, &annotator.Claim{Text: text}, usage); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !x.Settles(mira, guess, mira, &annotator.Claim{Text: "Mira was there.", Identity: true}, usage) {
		t.Error("who the entry is says its name")
	}
	common := &annotator.Claim{Text: "It seems to be Mira."}
	if !x.Settles(mira, common, mira, &annotator.Claim{Text: "She drinks."}, usage) {
		t.Error("a claim of common words says nothing that a fact could lack")
	}
	tobin := namedEntry(2, "Tobin", "the clerk")
	for text, want := range map[string]bool{"Tobin was there.": false, "Tobin said that of Mira.": true} {
		if got := x.Settles(mira, guess, tobin, &annotator.Claim{Text: text}, usage); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

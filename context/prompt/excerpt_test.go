package prompt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/context/prompt"

	"pgregory.net/rapid"
)

// TestExcerpt: an excerpt fits, says how many facts it leaves out, and shows all states that hold or as many of them as
// fit. Without a statement everything is shown that fits; with one, what it sums up is not.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := &annotator.Entry{
			ID: 3, Term: "Dawn", Status: annotator.Tentative, PresentAt: annotator.PlaceAt(5, 0), PresentScene: 5,
			PresentRevision: 5,
		}
		if rapid.Bool().Draw(t, "present") {
			e.Present = "Dawn is a wreck."
		}
		states, open := 0, 0
		for n := range rapid.IntRange(0, 12).Draw(t, "facts") {
			c := annotator.Claim{
				ID: int64(n + 1), Ord: n, From: annotator.PlaceAt(3, 0),
				Revision: rapid.Int64Range(1, 9).Draw(t, "revision"), State: rapid.Bool().Draw(t, "state"),
				Text: fmt.Sprintf("Fact %d %s", n+1, strings.Repeat("sails ", rapid.IntRange(0, 30).Draw(t, "length"))),
			}
			if rapid.IntRange(0, 3).Draw(t, "closed") == 0 {
				c.Until, c.Revision = annotator.PlaceAt(9, 1), 9
			} else if open++; c.State {
				states++
			}
			e.Claims = append(e.Claims, c)
		}
		if slices.ContainsFunc(e.Claims, func(c annotator.Claim) bool {
			return c.State && c.Revision > e.PresentRevision
		}) {
			e.Present = "" // it says what is no longer so
		}
		room := rapid.IntRange(20, 2_000).Draw(t, "room")
		text := prompt.Excerpt(e, "The harbour sails.", func(text string) bool { return len(text) <= room })
		if text == "" {
			return
		}
		if len(text) > room {
			t.Fatalf("%d of %d: %s", len(text), room, text)
		}
		shown, shownStates, lead := 0, 0, 0
		first := slices.IndexFunc(e.Claims, func(c annotator.Claim) bool { return c.Until == 0 }) // opens the entry
		for i := range e.Claims {
			c := &e.Claims[i]
			switch there := strings.Contains(text, fmt.Sprintf("\n%d: Fact", c.ID)) ||
				strings.Contains(text, fmt.Sprintf("\n%d (state): Fact", c.ID)); {
			case there && (c.Until != 0 || e.Present != "" && !c.State && c.Revision <= e.PresentRevision):
				t.Fatalf("fact %d is shown: %s", c.ID, text)
			case there:
				shown++
				switch {
				case c.State:
					shownStates++
				case i == first:
					lead = 1
				}
			}
		}
		more := ""
		if shown < open {
			more = fmt.Sprintf(` more_facts="%d">`, open-shown)
		}
		if !strings.Contains(text, more) || more == "" && strings.Contains(text, "more_facts") {
			t.Fatalf("%d of %d facts are shown: %s", shown, open, text)
		}
		if others := shown - shownStates - lead; others > 0 && shownStates < states {
			t.Fatalf("a state is left out for another fact: %s", text)
		}
	})
}

// TestExcerptPrefersTheScene: of facts that are no states the first is shown, and then those that have words of the
// scene. A word that most facts have counts for little.
func TestExcerptPrefersTheScene(t *testing.T) {
	t.Parallel()
	e := &annotator.Entry{ID: 3, Term: "Dawn", Status: annotator.Confirmed}
	for i, text := range []string{
		"She is a ship of the line.", "The captain burnt her letters.", "Captain Harker bought sails for her.",
		"Captain Harker painted her.",
	} {
		e.Claims = append(e.Claims, annotator.Claim{ID: int64(i + 1), Ord: i, Text: text})
	}
	const want = "<entry id=\"3\" term=\"Dawn\" more_facts=\"2\">\n1: She is a ship of the line.\n" +
		"2: The captain burnt her letters.\n</entry>\n"
	if got := prompt.Excerpt(e, "Captain Harker found the burnt letters.", func(text string) bool {
		return len(text) <= len(want)+5
	}); got != want {
		t.Errorf("%q", got)
	}
}

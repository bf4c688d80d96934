package codex_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"annotator/codex"

	"pgregory.net/rapid"
)

func clausesOf(text string) (clauses []string) {
	for _, c := range codex.Clauses(text) {
		clauses = append(clauses, text[c.Start:c.End])
	}
	return clauses
}

func TestClauses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("and so on ", 30)
	for text, want := range map[string]string{
		"She came. He went?  “No,” she said: “never.”\n\n* * *\nMr. Ash slept": "She came.|He went?|" +
			"“No,” she said: “never.”|Mr. Ash slept",
		"她来了。他走了！\n　「谁？」":                              "她来了。|他走了！|「谁？」",
		"Then; " + long + "— so it was: " + long + ".": "Then;|" + long + "—|so it was:|" + long + ".",
		" \n…": "",
	} {
		if got := strings.Join(clausesOf(text), "|"); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}

// TestClausesHoldTheText: clauses follow each other, and nothing but white space, marks and breaks is between them.
func TestClausesHoldTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"She came", ". ", "; ", "— ", "\n", "“", "é", " ", "他。", "Mr. ", strings.Repeat("long ", 60),
		})).Draw(t, "text"), "")
		at := 0
		for _, c := range codex.Clauses(text) {
			clause := text[c.Start:c.End]
			if c.Start < at || codex.HasWord(text[at:c.Start]) || !codex.HasWord(clause) ||
				strings.TrimSpace(clause) != clause || strings.Contains(clause, "\n") {
				t.Fatalf("%q at %d of %q", clause, c.Start, text)
			}
			at = c.End
		}
		if codex.HasWord(text[at:]) {
			t.Fatalf("%q is left", text[at:])
		}
	})
}

func TestPaired(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`I know you are good!"`: `I know you are good!`, `"I know," she said.`: `"I know," she said.`,
		`"I know him.`: `I know him.`, `you," she said, "know.`: `you," she said, "know.`,
		`you must," he said, "go."`: `you must," he said, "go.`, "“Go.”": "“Go.”", "Go.”": "Go.",
		"“You,” she said, “are": "“You,” she said, “are", "「谁？」": "「谁？」", "谁？」": "谁？", "it's": "it's",
	} {
		r := codex.Paired(text, codex.Range{End: len(text)})
		if got := text[r.Start:r.End]; got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}

// TestPlaces: the place of the quotation comes first, and each place has its words.
func TestPlaces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"she", "came", "é", "no"})
		body := strings.Join(rapid.SliceOfN(word, 2, 30).Draw(t, "words"), " ")
		q, ok := codex.Ground(body, rapid.SampledFrom([]string{"she came", "é no"}).Draw(t, "quote"))
		if !ok {
			return
		}
		places := codex.Places(body, q)
		for i, p := range places {
			if body[p.Start:p.End] != q.Quote || i == 0 && utf8.RuneCountInString(body[:p.Start]) != q.Start {
				t.Fatalf("%q at %+v of %q", q.Quote, p, body)
			}
		}
		wide := strings.NewReplacer(" ", "  ") // so that no two words have a space in common
		if n := strings.Count(wide.Replace(" "+body+" "), " "+wide.Replace(q.Quote)+" "); len(places) > 1 != (n > 1) {
			t.Fatalf("%d places of %d", len(places), n)
		}
	})
}

package codex

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"annotator"
)

// Shown reports whether a rendering of an entry has a claim. A settled claim and an error of the codex are only in the
// history of the entry.
func Shown(c *annotator.Claim) bool { return !c.Settled() && c.Ended != annotator.EndWrong }

// maxOpening is how many claims open an entry at most. More would bury its statement.
const maxOpening = 3

// InOrder returns the claims of an entry in the order in which they are read, and how many of them open the entry.
// Those are the most certain ones by which it is identified now: first those whose subject is its term, then the
// newest. If it is not any more what it was, its statement opens it. Without one, the newest state does so, else the
// first fact that holds. The others follow in the order of the story. The statement belongs between the two. The order
// does not depend on when claims were written or merged.
func InOrder(e *annotator.Entry) (ordered []annotator.Claim, opening int) {
	told := slices.Clone(e.Claims)
	slices.SortStableFunc(told, CompareTold)
	compare := compareOpening(e.Term)
	var opens []int
	for i, c := range told {
		if c.Identity && c.Until == 0 {
			opens = append(opens, i)
		}
	}
	slices.SortStableFunc(opens, func(a, b int) int { return compare(told[a], told[b]) })
	if at := opener(told, e.Present != ""); opens == nil && at >= 0 {
		opens = []int{at}
	}
	for _, i := range opens[:min(len(opens), maxOpening)] {
		if certainty(told[i].Kind) == certainty(told[opens[0]].Kind) {
			ordered = append(ordered, told[i])
		}
	}
	opening = len(ordered)
	for i, c := range told {
		if !slices.Contains(opens[:opening], i) {
			ordered = append(ordered, c)
		}
	}
	return ordered, opening
}

// opener returns the index of the claim that opens an entry without a claim that identifies it now; -1 for none.
func opener(told []annotator.Claim, stated bool) int {
	first := slices.IndexFunc(told, func(c annotator.Claim) bool { return c.Until == 0 })
	if !slices.ContainsFunc(told, func(c annotator.Claim) bool { return c.Identity && c.Ended == annotator.EndOver }) {
		return first
	}
	if stated {
		return -1
	}
	for i, c := range slices.Backward(told) {
		if c.State && c.Until == 0 {
			return i
		}
	}
	return first
}

// CompareTold compares two claims by the order of the story: by the posts in which they are told, then by their first
// quotations.
func CompareTold(a, b annotator.Claim) int {
	return cmp.Or(cmp.Compare(a.From, b.From), compareQuotations(a.Evidence, b.Evidence), cmp.Compare(a.ID, b.ID))
}

// compareOpening compares two claims that open the entry with a term.
func compareOpening(term string) func(a, b annotator.Claim) int {
	rank := func(c annotator.Claim) int {
		if isSubject(term, c.Text) {
			return 2 * certainty(c.Kind)
		}
		return 2*certainty(c.Kind) + 1
	}
	return func(a, b annotator.Claim) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), CompareTold(b, a)) }
}

// isSubject reports whether a text begins with a term, perhaps after one other word, such as an article.
func isSubject(term, text string) bool {
	text, term = Normalize(WithoutLinks(text)), Normalize(term)
	_, rest, _ := strings.Cut(text, " ")
	for _, from := range []string{text, rest} {
		if after, ok := strings.CutPrefix(from, term); ok && strings.IndexAny(after, " ,") == 0 {
			return true
		}
	}
	return false
}

// compareQuotations compares claims of one post by their first quotations. Later quotations may be of other posts.
func compareQuotations(a, b []annotator.Evidence) int {
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(len(a), len(b))
	}
	return cmp.Or(cmp.Compare(a[0].Start, b[0].Start), cmp.Compare(a[0].End, b[0].End))
}

// certainty orders kinds of claims, the plainest first.
func certainty(kind annotator.ClaimKind) int {
	switch kind {
	case annotator.Claimed:
		return 1
	case annotator.Inferred:
		return 2
	}
	return 0
}

// EndWords returns the words before the scene in which a claim ended: "confirmed in".
func EndWords(how annotator.Ending) string {
	switch how {
	case annotator.EndConfirmed, annotator.EndRefuted, annotator.EndReworded, annotator.EndMoved:
		return string(how) + " in"
	case annotator.EndWrong:
		return "found wrong in"
	}
	return "until"
}

// Definition joins the claims of an entry that hold, in the order in which they are read.
func Definition(e *annotator.Entry) string {
	ordered := annotator.Entry{}
	ordered.Claims, _ = InOrder(e)
	return ordered.Definition()
}

// Gist says in short who or what an entry is, and how it stands. Without a statement of the latter, it is all claims
// that hold, in the order in which they are read. Each is attributed.
func Gist(e *annotator.Entry) string {
	ordered, opening := InOrder(e)
	var parts []string
	for i := range ordered {
		if c := &ordered[i]; e.Present == "" && c.Until == 0 || e.Present != "" && i == 0 && opening > 0 {
			parts = append(parts, Attributed(c))
		}
	}
	if e.Present != "" {
		parts = append(parts, Dated(e.Present, e.PresentScene, Outdated(e)))
	}
	return strings.Join(parts, " ")
}

// Attributed returns the text of a claim. A guess begins with that word, and what somebody says with who does. So a
// text that is cut keeps it.
func Attributed(c *annotator.Claim) string {
	switch c.Kind {
	case annotator.Inferred:
		return "A guess: " + c.Text
	case annotator.Claimed:
		return "According to " + cmp.Or(Source(c.Speaker, c.Document), "somebody") + ": " + c.Text
	}
	return c.Text
}

// Source names a speaker and the document in which it is said: "Osmer Pym in the notice". It is "" if neither is known.
func Source(speaker, document string) string {
	if speaker == "" || document == "" {
		return speaker + document
	}
	return speaker + " in " + document
}

// Dated returns the statement of how an entry stands. An outdated one begins with the scene at whose end it was so.
func Dated(statement string, scene int, outdated bool) string {
	if !outdated || scene == 0 {
		return statement
	}
	return fmt.Sprintf("As of scene %d: %s", scene, statement)
}

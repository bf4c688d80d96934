package codex

import (
	"cmp"
	"slices"

	"annotator"
)

// Shown reports whether a rendering of an entry has a claim. A settled claim and an error of the codex are only in the
// history of the entry.
func Shown(c *annotator.Claim) bool { return !c.Settled() && c.Ended != annotator.EndWrong }

// InOrder returns the claims of an entry in the order in which they are read, and how many of them open the entry.
// Those are the claims by which it is identified now: narrated ones first, the newest of a kind first. If it is not any
// more what it was, the newest state opens it, else the first fact that holds. The others follow in the order of the
// story. A statement of what the entry is now belongs between the two. The order does not depend on when claims were
// written or merged.
func InOrder(claims []annotator.Claim) (ordered []annotator.Claim, opening int) {
	told := slices.Clone(claims)
	slices.SortStableFunc(told, CompareTold)
	for _, c := range told {
		if c.Identity && c.Until == 0 {
			ordered = append(ordered, c)
		}
	}
	slices.SortStableFunc(ordered, CompareOpening)
	if ordered == nil {
		if at := opener(told); at >= 0 {
			first := told[at]
			return slices.Insert(slices.Delete(told, at, at+1), 0, first), 1
		}
	}
	opening = len(ordered)
	for _, c := range told {
		if !c.Identity || c.Until != 0 {
			ordered = append(ordered, c)
		}
	}
	return ordered, opening
}

// opener returns the index of the claim that opens an entry without a claim that identifies it now; -1 for none.
func opener(told []annotator.Claim) int {
	opens := slices.IndexFunc(told, func(c annotator.Claim) bool { return c.Until == 0 })
	if slices.ContainsFunc(told, func(c annotator.Claim) bool { return c.Identity && c.Ended == annotator.EndOver }) {
		for i := range told {
			if told[i].State && told[i].Until == 0 {
				opens = i
			}
		}
	}
	return opens
}

// CompareTold compares two claims by the order of the story: by the posts in which they are told, then by their first
// quotations.
func CompareTold(a, b annotator.Claim) int {
	return cmp.Or(cmp.Compare(a.From, b.From), compareQuotations(a.Evidence, b.Evidence), cmp.Compare(a.ID, b.ID))
}

// CompareOpening compares two claims that open an entry.
func CompareOpening(a, b annotator.Claim) int {
	return cmp.Or(cmp.Compare(certainty(a.Kind), certainty(b.Kind)), CompareTold(b, a))
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
	ordered.Claims, _ = InOrder(e.Claims)
	return ordered.Definition()
}

// Gist says in short who or what an entry is, and what it is now. Without a statement of the latter, it is the
// definition.
func Gist(e *annotator.Entry) string {
	ordered, opening := InOrder(e.Claims)
	present := Present(e)
	switch {
	case present == "":
		return Definition(e)
	case opening == 0:
		return present
	}
	return ordered[0].Text + " " + present
}

package codex

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"annotator"
)

// definition keeps the claims whose sentence is repeated, closes the others and opens the new ones. It refuses a
// shorter definition that drops a claim unless the edit sets DropsClaims, so that a partial definition does not
// replace a complete one by mistake.
func (r *reviser) definition() {
	if r.edit.Definition == nil {
		return
	}
	definition := r.text("definition", *r.edit.Definition, MaxDefinition)
	claims, closed := r.revisedClaims(Sentences(definition))
	shorter := countLettersAndDigits(definition) < countLettersAndDigits(r.entry.Definition())
	if closed > 0 && shorter && !r.edit.DropsClaims {
		r.fail(refuse("NARROWER", "the definition would say less than it does now (%q); repeat what still holds, "+
			"or set narrow to true if the story has taken it back", r.entry.Definition()))
	}
	for _, claim := range claims {
		var old string
		if at := claimIndex(&r.entry, claim.ID); at >= 0 {
			old = annotator.EncodeJSON(r.entry.Claims[at])
		}
		if new := annotator.EncodeJSON(claim); new != old {
			r.add(annotator.FieldClaim, old, new)
		}
	}
}

// countLettersAndDigits measures the length of a text independently of script and punctuation.
func countLettersAndDigits(text string) int {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			n++
		}
	}
	return n
}

// revisedClaims returns the claims that change or stay with a new definition: first those it closes, then those that
// hold, in the order of the sentences. closed is the number of the former.
func (r *reviser) revisedClaims(sentences []string) (claims []annotator.Claim, closed int) {
	open, last := map[string]annotator.Claim{}, lastClaim(&r.entry)
	for _, claim := range r.entry.Claims {
		if claim.Until == 0 {
			open[Normalize(claim.Text)] = claim
		}
	}
	var holding []annotator.Claim
	seen := map[string]bool{}
	for _, sentence := range joinClaims(sentences, open) {
		key := Normalize(sentence)
		if seen[key] {
			continue
		}
		seen[key] = true
		claim, ok := open[key]
		if !ok {
			last++
			claim = annotator.Claim{
				ID: last, Text: sentence, Kind: cmp.Or(r.edit.Kind, annotator.Narrated), From: r.edit.At,
			}
		}
		claim.Ord, claim.Text = len(holding), sentence // a change of case or spelling keeps the claim's id
		holding = append(holding, claim)
	}
	for _, claim := range r.entry.Claims {
		if claim.Until == 0 && !seen[Normalize(claim.Text)] {
			claim.Until = max(r.edit.At, claim.From)
			claims = append(claims, claim)
		}
	}
	return append(claims, holding...), len(claims)
}

// joinClaims joins sentences that are one open claim together: a fact may have been added as several.
func joinClaims(sentences []string, open map[string]annotator.Claim) []string {
	longest := 1
	for _, claim := range open {
		longest = max(longest, len(Sentences(claim.Text)))
	}
	var joined []string
	for len(sentences) > 0 {
		n := min(longest, len(sentences))
		for ; n > 1; n-- {
			if _, known := open[Normalize(strings.Join(sentences[:n], " "))]; known {
				break
			}
		}
		joined = append(joined, strings.Join(sentences[:n], " "))
		sentences = sentences[n:]
	}
	return joined
}

// evidence attaches the quotation to the open claim that shares the most words with it; the newest of equal ones.
func (r *reviser) evidence() {
	if r.edit.Evidence == nil {
		return
	}
	best, bestShared := -1, -1
	quote := words(r.edit.Evidence.Quote)
	for i, claim := range r.entry.Claims {
		if claim.Until != 0 {
			continue
		}
		shared := sharedWords(words(claim.Text), quote)
		if shared > bestShared || shared == bestShared && claim.ID > r.entry.Claims[best].ID {
			best, bestShared = i, shared
		}
	}
	if best < 0 {
		r.fail(refuse("EMPTY", "entry %d has no definition for the quotation to stand behind", r.entry.ID))
		return
	}
	r.attach(best, *r.edit.Evidence)
}

// attach adds evidence to the claim with an index, unless the claim has it.
func (r *reviser) attach(claim int, evidence annotator.Evidence) {
	evidence.Claim = r.entry.Claims[claim].ID
	isSame := func(other annotator.Evidence) bool {
		other.Weak = evidence.Weak
		return other == evidence
	}
	if !slices.ContainsFunc(r.entry.Claims[claim].Evidence, isSame) {
		r.add(annotator.FieldEvidence, "", annotator.EncodeJSON(evidence))
	}
}

// Closest returns the index of the text that shares the most words with a quotation; the last of equal ones.
func Closest(texts []string, quote string) int {
	best, most, quoted := -1, -1, words(quote)
	for i, text := range texts {
		if shared := sharedWords(words(text), quoted); shared >= most {
			best, most = i, shared
		}
	}
	return best
}

// sharedWords counts the distinct words of a text that another one has.
func sharedWords(text, other []string) int {
	slices.Sort(text)
	lacks := func(word string) bool { return !slices.Contains(other, word) }
	return len(slices.DeleteFunc(slices.Compact(text), lacks))
}

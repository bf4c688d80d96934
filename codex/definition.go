package codex

import (
	"cmp"
	"slices"
	"unicode"

	"annotator"
)

// definition keeps the claims whose sentence stands, closes those that are gone and opens the new ones. A definition
// that drops a claim and says less than before is refused unless that is what was asked: a later, smaller reading must
// not overwrite the fuller one unawares.
func (r *reviser) definition() error {
	if r.edit.Definition == nil {
		return nil
	}
	definition, err := text("definition", *r.edit.Definition, MaxDefinition)
	if err != nil {
		return err
	}
	claims, closed := r.revisedClaims(Sentences(definition))
	if closed > 0 && !r.edit.DropsClaims && countLettersAndDigits(definition) < countLettersAndDigits(r.entry.Definition()) {
		return refuse("NARROWER", "the definition would say less than it does now (%q); repeat what still holds, "+
			"or set narrow to true if the story has taken it back", r.entry.Definition())
	}
	for _, claim := range claims {
		var old string
		if at := claimIndex(&r.entry, claim.ID); at >= 0 {
			old = encode(r.entry.Claims[at])
		}
		if new := encode(claim); new != old {
			if err := r.add(annotator.FieldClaim, old, new); err != nil {
				return err
			}
		}
	}
	return nil
}

// extent measures how much a text says, in any script: its letters and digits.
func countLettersAndDigits(text string) int {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			n++
		}
	}
	return n
}

// claims returns the claims that a definition's sentences leave: closed ones first, then those that hold, in order.
func (r *reviser) revisedClaims(sentences []string) (claims []annotator.Claim, closed int) {
	held := map[string]annotator.Claim{}
	var last int64
	for _, claim := range r.entry.Claims {
		last = max(last, claim.ID)
		if claim.Until == 0 {
			held[Normalize(claim.Text)] = claim
		}
	}
	var holding []annotator.Claim
	seen := map[string]bool{}
	for _, sentence := range sentences {
		key := Normalize(sentence)
		if seen[key] {
			continue
		}
		seen[key] = true
		claim, ok := held[key]
		if !ok {
			last++
			claim = annotator.Claim{
				ID: last, Text: sentence, Kind: cmp.Or(r.edit.Kind, annotator.Narrated), From: r.edit.At,
			}
		}
		claim.Ord, claim.Text = len(holding), sentence // a claim of which only case or spelling changed keeps its identity
		holding = append(holding, claim)
	}
	for _, claim := range r.entry.Claims {
		if claim.Until == 0 && !seen[Normalize(claim.Text)] {
			claim.Until = r.edit.At
			claims = append(claims, claim)
		}
	}
	return append(claims, holding...), len(claims)
}

// evidence goes to the holding claim that shares most words with the quotation; of equals, to the newest.
func (r *reviser) evidence() error {
	if r.edit.Evidence == nil {
		return nil
	}
	best, most := -1, -1
	quote := words(r.edit.Evidence.Quote)
	for i, claim := range r.entry.Claims {
		if claim.Until != 0 {
			continue
		}
		if shared := sharedWords(words(claim.Text), quote); shared > most || shared == most && claim.ID > r.entry.Claims[best].ID {
			best, most = i, shared
		}
	}
	if best < 0 {
		return refuse("EMPTY", "entry %d has no definition for the quotation to stand behind", r.entry.ID)
	}
	evidence := *r.edit.Evidence
	evidence.Claim = r.entry.Claims[best].ID
	if slices.Contains(r.entry.Claims[best].Evidence, evidence) {
		return nil
	}
	return r.add(annotator.FieldEvidence, "", encode(evidence))
}

func sharedWords(a, b []string) int {
	set := map[string]bool{}
	for _, word := range a {
		set[word] = true
	}
	shared := 0
	for _, word := range b {
		if set[word] {
			shared++
			delete(set, word)
		}
	}
	return shared
}

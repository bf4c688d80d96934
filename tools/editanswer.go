package tools

import (
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
)

// editAnswer says what was done. It does not repeat the entry, whose facts the window holds.
type editAnswer struct {
	OK    bool      `json:"ok"`
	Entry entryName `json:"entry"`
	Added []int64   `json:"added,omitempty"` // the numbers of the new facts, in their order in the call
	// the numbers of facts that were not added, because they are there
	Known []int64 `json:"known,omitempty"`
	// those of the known facts to which their quotations were added
	Quoted []int64 `json:"quoted,omitempty"`
	// the facts that were not added, because another entry has them
	Elsewhere []elsewhere `json:"elsewhere,omitempty"`
	// the facts whose quotations lack words of them
	Weak       []weakFact    `json:"weak,omitempty"`
	Closed     []string      `json:"closed,omitempty"`      // the facts that no longer hold: their numbers and first words
	KnownNames []string      `json:"known_names,omitempty"` // the aliases that it had already
	General    []string      `json:"general,omitempty"`     // those that were not added, since they mean several people
	NotTaken   []refusedPart `json:"not_taken,omitempty"`   // what was not done
}

// weakFact is a fact that says what its quotations do not.
type weakFact struct {
	Fact  int64    `json:"fact"`  // its number
	Lacks []string `json:"lacks"` // the words
}

// maxLacking is how many of the words an answer names.
const maxLacking = 5

// entryName names an entry.
type entryName struct {
	ID   int64  `json:"id"`
	Term string `json:"term"`
}

// answer writes what was taken, and answers. It fails with the first refusal if nothing was.
func (ed *editor) answer() (Result, error) {
	if ed.err != nil || ed.first != nil && len(ed.revisions)+len(ed.known)+len(ed.elsewhere) == 0 {
		return Result{}, ed.failure()
	}
	created, result := ed.stored.ID == 0, Result{Suggests: ed.suggests}
	answer := editAnswer{
		OK: true, Entry: entryName{ed.entry.ID, ed.entry.Name()}, Added: ed.added(), Known: ed.known,
		Quoted: ed.quoted(), Elsewhere: ed.elsewhere, Weak: ed.weak, Closed: ed.closed(),
		KnownNames: firstNames(ed.named), General: firstNames(ed.general), NotTaken: shortened(ed.refused),
	}
	for _, t := range ed.targets {
		if len(t.revisions) == 0 {
			continue
		}
		if _, err := ed.env.Glossary.Revise(ed.ctx, t.revisions); err != nil {
			return Result{}, err
		}
		result.Changed = append(result.Changed, t.entry.ID)
	}
	if len(ed.revisions) > 0 {
		e, err := ed.env.Glossary.Revise(ed.ctx, ed.revisions)
		if err != nil {
			return Result{}, err
		}
		answer.Entry.ID, result.Changed = e.ID, append(result.Changed, e.ID)
		if created { // the call holds all of it
			result.Shows = []annotator.Shown{{Entry: e.ID, Revision: e.Revision}}
		}
	}
	result.Content = annotator.EncodeJSON(answer)
	return result, nil
}

// failure returns the error of a call of which nothing is taken: the program's own, or the first refusal.
func (ed *editor) failure() error {
	if ed.err != nil {
		return ed.err
	}
	failure := *ed.first
	failure.Suggests = ed.suggests
	if len(ed.refused) > 1 {
		ed.refused[0].Why = "" // the failure's message
		failure.NotTaken = shortened(ed.refused)
	}
	return &failure
}

// quoted returns the numbers of the known facts that have more quotations than before the call.
func (ed *editor) quoted() []int64 {
	return slices.DeleteFunc(slices.Clone(ed.known), func(id int64) bool {
		return len(codex.Quotations(&ed.entry, id)) <= len(codex.Quotations(ed.stored, id))
	})
}

// firstNames returns as many names as an answer has room for, and the number of the others.
func firstNames(names []string) []string {
	for i, used := 0, 0; i < len(names); i++ {
		if used += jsonLength(names[i]); used > maxAnswerNames {
			return append(names[:i:i], fmt.Sprintf("%d more", len(names)-i))
		}
	}
	return names
}

// How many characters of JSON an answer has for what was not taken, for what was closed, and for a list of names.
const (
	maxRefused     = 4000
	maxClosings    = 2000
	maxAnswerNames = 1000
)

// shortened returns as many of the refused parts as an answer has room for, and the number of the others.
func shortened(parts []refusedPart) []refusedPart {
	for i, used := 0, 0; i < len(parts); i++ {
		if used += jsonLength(parts[i]); used > maxRefused {
			return append(parts[:i:i], refusedPart{Part: fmt.Sprintf("%d more", len(parts)-i), Code: parts[i].Code})
		}
	}
	return parts
}

// added returns the numbers of the facts that the call added: those of its list in their order, then any others.
func (ed *editor) added() []int64 {
	known := map[int64]bool{0: true}
	for i := range ed.stored.Claims {
		known[ed.stored.Claims[i].ID] = true
	}
	ids := slices.Clone(ed.facts)
	for i := range ed.entry.Claims {
		ids = append(ids, ed.entry.Claims[i].ID)
	}
	return slices.DeleteFunc(ids, func(id int64) bool {
		before := known[id]
		known[id] = true
		return before
	})
}

// maxClosed is how many characters of a closed fact an answer repeats, so that a wrong number is noticed.
const maxClosed = 40

// closed returns the facts that held before the call and do not after it. A reworded one has its new number.
func (ed *editor) closed() []string {
	holds, reworded := map[int64]bool{}, map[int64]int64{}
	for i := range ed.entry.Claims {
		c := &ed.entry.Claims[i]
		if holds[c.ID] = c.Until == 0; c.Ended == annotator.EndReworded {
			reworded[c.ID] = c.ReplacedBy
		}
	}
	var facts []string
	used, more := 0, 0
	for i := range ed.stored.Claims {
		c := &ed.stored.Claims[i]
		if c.Until != 0 || holds[c.ID] {
			continue
		}
		fact := fmt.Sprintf("%d: %s", c.ID, beginning(c.Text, maxClosed))
		if by := reworded[c.ID]; by != 0 {
			fact = fmt.Sprintf("%d, now %d: %s", c.ID, by, beginning(c.Text, maxClosed))
		}
		if used += jsonLength(fact); used > maxClosings {
			more++
			continue
		}
		facts = append(facts, fact)
	}
	if more > 0 {
		facts = append(facts, fmt.Sprintf("%d more", more))
	}
	return facts
}

// beginning returns the first whole words of a text, in at most limit characters.
func beginning(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	cut := string(runes[:limit])
	if space := strings.LastIndexByte(cut, ' '); space > len(cut)/2 {
		cut = cut[:space]
	}
	return cut + "…"
}

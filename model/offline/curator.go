package offline

import (
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/codex/identity"
)

// decision is a curator's decision on an entry.
type decision struct {
	Entry    int64  `json:"entry"`
	Term     string `json:"term"`
	Decision string `json:"decision"`
	Target   int64  `json:"target,omitempty"` // of MERGE: the id of the entry it goes into
	Reason   string `json:"reason"`
}

// asksDecision reports whether a text asks for a curator's decision.
func asksDecision(s string) bool {
	return strings.Contains(s, "CONFIRM") && strings.Contains(s, "REJECT") && strings.Contains(s, "MERGE")
}

// decide decides on the candidates of the last message. The first entry of each group is the candidate, the others are
// similar.
func (m *Model) decide(w *window) string {
	decisions := []decision{}
	for c := range elements(w.last, "candidate") {
		entries := readEntries(c.body)
		if len(entries) == 0 {
			continue
		}
		d := m.decideOn(w, &c, &entries[0], entries[1:])
		d.Entry, d.Term = entries[0].ID, entries[0].Term
		decisions = append(decisions, d)
	}
	return annotator.EncodeJSON(decisions)
}

// decideOn merges an entry whose name is a short form of another entry's name, unless it may be that of others in the
// scenes. It confirms an entry that is mentioned in the shown text or has a quotation. A common word needs two mentions
// or a quotation.
func (m *Model) decideOn(w *window, shown *element, e *entry, similar []entry) decision {
	own := strings.Fields(normal(e.names()[0]))
	if full := fullForm(e, similar); full != nil && m.read(w.scenes).agrees(e, full) {
		return decision{
			Decision: "MERGE", Target: full.ID,
			Reason: fmt.Sprintf("%q and %q are forms of one name.", e.Term, full.Term),
		}
	}
	named, quotes := w.occurrences(e), 0
	for range elements(shown.body, "quote") {
		quotes++
	}
	common := len(own) == 0 || len(own) == 1 && m.lex.generic(own[0])
	switch {
	case common && named < 2 && quotes == 0:
		return decision{Decision: "REJECT", Reason: fmt.Sprintf("%q is a common word, not a name.", e.Term)}
	case named > 0:
		return decision{Decision: "CONFIRM", Reason: fmt.Sprintf("The text shown names it, in %d of its posts.", named)}
	case quotes > 0:
		return decision{Decision: "CONFIRM", Reason: fmt.Sprintf("It rests on %d quotations.", quotes)}
	case e.Definition != "":
		return decision{Decision: "CONFIRM", Reason: "It has a definition, and nothing shown speaks against it."}
	}
	return decision{Decision: "REJECT", Reason: "Nothing shown here names it."}
}

// fullForm returns the only entry of the similar ones whose names are of the same thing; nil if there is none.
func fullForm(e *entry, similar []entry) *entry {
	set, g := identity.NewSet(), newGlossary(append([]entry{*e}, similar...))
	for _, other := range g.entries {
		names := other.names()
		for _, written := range names {
			set.Add(written, other.kind(), identity.Unknown)
			if g.byForm[normal(written)] != nil {
				set.Join(names[0], written)
			}
		}
	}
	partEntries(set, g.entries)
	own := set.Resolve().Of(e.names()[0])
	var full *entry
	for i := range similar {
		if similar[i].ID == e.ID || !slices.Contains(own, similar[i].names()[0]) {
			continue
		}
		if full != nil {
			return nil
		}
		full = &similar[i]
	}
	return full
}

// agrees reports whether two entries are also of one thing if the other names of the scenes are known.
func (b *book) agrees(e, full *entry) bool {
	var named []*name
	for _, written := range append(e.names(), full.names()...) {
		if n := b.names[identity.Read(written).Key()]; n != nil {
			named = append(named, n)
		}
	}
	found, _ := b.resolve(newGlossary([]entry{*e, *full}), named)
	own := found.Of(e.names()[0])
	return len(own) == 0 || slices.Contains(own, full.names()[0])
}

// occurrences counts the posts in the window that have one of an entry's names.
func (w *window) occurrences(e *entry) int {
	posts := readPosts(w.last)
	for _, s := range w.scenes {
		posts = append(posts, s.posts...)
	}
	seen := map[int64]bool{}
	for _, p := range posts {
		text := normal(p.body)
		if slices.ContainsFunc(e.names(), func(name string) bool { return strings.Contains(text, normal(name)) }) {
			seen[p.id] = true
		}
	}
	return len(seen)
}

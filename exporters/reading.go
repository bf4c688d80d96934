package exporters

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
)

// Reading is an entry as people read it. Claims that only its history has are left out.
type Reading struct {
	Opening  []Claim   // they say who or what it is; the present statement follows them
	Passages []Passage // the other facts, in the order of the story
}

// Passage is a run of facts that have the same headings.
type Passage struct {
	Chapter string // the title of the thread in which they are told; "" unless it begins here
	As      string // "as Sorrel, scenes 9 to 26": how the entry was known then; "" unless that begins here
	Claims  []Claim
}

// Heading joins the headings of a passage; "" if it has none.
func (p *Passage) Heading() string {
	return strings.Trim(oneLine(p.Chapter)+", "+oneLine(p.As), ", ")
}

// Reading arranges the claims of an entry. It names chapters by the given titles of threads, unless all facts are of
// one.
func (e *Entry) Reading(titles map[int64]string) Reading { return e.reading(titles, (*Claim).Shown) }

// reading arranges the claims that are kept.
func (e *Entry) reading(titles map[int64]string, kept func(*Claim) bool) Reading {
	keep := func(claims []Claim) []Claim {
		return slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return !kept(&c) })
	}
	return Reading{Opening: keep(e.Claims[:e.Opening]), Passages: e.passages(keep(e.Claims[e.Opening:]), titles)}
}

// passages divides facts of the entry, in the order of the story, at their headings.
func (e *Entry) passages(told []Claim, titles map[int64]string) (passages []Passage) {
	ofOthers := func(c Claim) bool { return c.From.Thread != told[0].From.Thread }
	severalChapters, names, as := slices.ContainsFunc(told, ofOthers), e.formerNames(), ""
	for i, c := range told {
		var p Passage
		if severalChapters && (i == 0 || c.From.Thread != told[i-1].From.Thread) {
			if p.Chapter = titles[c.From.Thread]; p.Chapter != "" {
				as = ""
			}
		}
		if known := names[c.As]; known != as {
			as, p.As = known, cmp.Or(known, "as "+e.Term)
		}
		if i == 0 || p.Chapter+p.As != "" {
			passages = append(passages, p)
		}
		last := &passages[len(passages)-1]
		last.Claims = append(last.Claims, c)
	}
	return passages
}

// formerNames returns what is said of claims that were noted under another name: "as Sorrel, scenes 9 to 26".
func (e *Entry) formerNames() map[string]string {
	first, last, known := map[string]int{}, map[string]int{}, map[string]string{}
	for _, c := range e.Claims {
		if !c.Shown() || c.As == "" || codex.Normalize(c.As) == codex.Normalize(e.Term) {
			continue
		}
		if first[c.As] == 0 || c.From.Scene < first[c.As] {
			first[c.As] = c.From.Scene
		}
		last[c.As] = max(last[c.As], c.From.Scene)
	}
	for name := range first {
		known[name] = fmt.Sprintf("as %s, scene %d", name, first[name])
		if first[name] < last[name] {
			known[name] = fmt.Sprintf("as %s, scenes %d to %d", name, first[name], last[name])
		}
	}
	return known
}

// told returns the statement, with its scene if it is outdated; "" if there is none.
func (p *Present) told() string {
	if p == nil {
		return ""
	}
	return codex.Dated(p.Text, p.AsOf.Scene, p.Outdated)
}

// Claims returns the claims of a reading in its order.
func (r *Reading) Claims() []Claim {
	all := r.Opening
	for i := range r.Passages {
		all = append(all, r.Passages[i].Claims...)
	}
	return all
}

// Shown reports whether people are shown a claim outside of its history. See codex.Shown.
func (c *Claim) Shown() bool { return codex.Shown(&annotator.Claim{Ended: c.Ended}) }

// shown returns the claims that people are shown, in the order of reading.
func (e *Entry) shown() []Claim {
	return slices.DeleteFunc(slices.Clone(e.Claims), func(c Claim) bool { return !c.Shown() })
}

// Thought begins a guess that has proved false: "Thought until scene 12: ". It is "" for any other claim.
func (c *Claim) Thought() string {
	if c.Until == nil || c.Ended != annotator.EndRefuted || c.Kind == annotator.Claimed {
		return ""
	}
	return fmt.Sprintf("Thought until scene %d: ", c.Until.Scene)
}

// Origin says whence a claim is: "according to Osmer Pym in the notice". It is "" if it is narrated.
func (c *Claim) Origin() string {
	switch source := c.Source(); {
	case c.Kind == annotator.Inferred:
		return "inferred"
	case c.Kind == annotator.Noted:
		return "noted by a person"
	case c.Kind == annotator.Claimed && source != "":
		return "according to " + source
	case c.Kind == annotator.Claimed:
		return "somebody says so"
	}
	return ""
}

// doubted is said of a claim that a person has locked and the model would have changed or ended.
const doubted = "perhaps out of date"

// FormerText is said of a quotation of a post whose text the source no longer has.
const FormerText = "the source no longer has this text"

// End says how and when a claim ended, unless Thought does; "" while it holds. It says of a doubted one that it is.
func (c *Claim) End() string {
	if c.Until == nil && c.Doubted {
		return doubted
	}
	if c.Until == nil || c.Thought() != "" {
		return ""
	}
	return fmt.Sprintf("%s scene %d", codex.EndWords(c.Ended), c.Until.Scene)
}

// told returns the text of a claim with its origin, and with how it ended.
func (c *Claim) told() string {
	text := c.Thought() + codex.WithoutLinks(c.Text)
	var about []string
	for _, part := range []string{c.Origin(), c.End()} {
		if part != "" && (part != "inferred" || c.Thought() == "") {
			about = append(about, part)
		}
	}
	if about != nil {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	return text
}

// Source names the speaker of a claim and the document in which it is said: "Osmer Pym in the notice". It is "" if
// neither is known.
func (c *Claim) Source() string {
	return codex.WithoutLinks(codex.Source(c.Speaker, c.Document))
}

package exporters

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"annotator"
	"annotator/codex"
)

// pageEntry is an entry with all its values over the story. At the end of a scene, the page shows those in force.
type pageEntry struct {
	ID                      int64
	In                      intervals
	Titles                  timeline[pageTitle]
	Tags, Aliases, Presents timeline[string]
	Statuses                timeline[annotator.Status]
	Claims                  []*pageClaim

	names  timeline[pageName]
	claims map[int64][]*pageClaim // by the claim's id
}

// pageTitle is the title of an entry with its sort key.
type pageTitle struct {
	Name string
	key  nameKey
}

// pageName is a normalised name by which texts link to an entry.
type pageName struct {
	name  string
	title nameKey // of the entry; a link leads to the first of several
}

// pageClaim is a claim as it was at some time.
type pageClaim struct {
	claimText
	In       intervals
	Opens    ranks            // among the claims that open the entry
	N        int              // among the claims as they are told
	Thoughts timeline[string] // see Claim.Thought
	Ends     timeline[string] // see Claim.End
	Evidence timeline[Evidence]
	Tie      timeline[pageTie]
	last     annotator.Claim
}

// pageTie is the relation of a claim, and what it is to.
type pageTie struct{ Relation, Object string }

// claimText is the text of a claim, with its place in the story. A claim that is quoted later has another place.
type claimText struct {
	ID     int64
	Text   string
	Origin string
	As     string
	Thread int64
	From   int    // scene
	Quoted [2]int // where its first quotation begins and ends
}

// newPageEntry collects the values of an entry over the story.
func (c *Codex) newPageEntry(l *entryHistory) (*pageEntry, error) {
	p := &pageEntry{ID: l.entry.ID, claims: map[int64][]*pageClaim{}}
	for len(l.next) > 0 {
		seen := l.next[0].Seen
		e, since, err := l.at(seen)
		if err != nil {
			return nil, err
		}
		scene := c.count(seen)
		p.head(scene, e, c.has(e), c.placeOf)
		changed, err := changedClaims(since)
		if err != nil {
			return nil, err
		}
		for i := range e.Claims {
			if changed[e.Claims[i].ID] {
				p.claim(scene, &e.Claims[i], c.placeOf)
			}
		}
		p.open(scene, e)
	}
	slices.SortStableFunc(p.Tags, func(a, b *timed[string]) int { return cmp.Compare(a.Value, b.Value) })
	slices.SortStableFunc(p.Aliases,
		func(a, b *timed[string]) int { return cmp.Compare(codex.Normalize(a.Value), codex.Normalize(b.Value)) })
	slices.SortStableFunc(p.Claims, func(a, b *pageClaim) int { return codex.CompareTold(a.last, b.last) })
	for i, claim := range p.Claims {
		claim.N = i
		for _, quoted := range claim.Evidence {
			quoted.Value.Former = c.Former[quoted.Value.Post]
		}
	}
	return p, nil
}

// noPosition is for values that are shown without their positions.
func noPosition(annotator.Place) annotator.Position { return annotator.Position{} }

// head sets the values of an entry at the end of a scene, without its claims.
func (p *pageEntry) head(
	scene int, e *annotator.Entry, shown bool, position func(annotator.Place) annotator.Position,
) {
	p.In.set(scene, shown)
	if !shown {
		p.Titles.set(scene)
		p.names.set(scene)
		return
	}
	short := *e
	short.Claims = nil
	exported := NewEntry(&short, noPosition)
	title := pageTitle{nameOf(&exported), keyOf(e)}
	p.Titles.set(scene, title)
	p.Statuses.set(scene, e.Status)
	p.Tags.set(scene, exported.Tags...)
	p.Aliases.set(scene, aliasNames(&exported)...)
	p.Presents.set(scene, words(codex.Dated(e.Present, position(e.PresentAt).Scene, codex.Outdated(e)))...)
	var names []pageName
	for _, name := range append(each(exported.Aliases, func(a Alias) string { return a.Name }), title.Name,
		exported.Term) {
		names = append(names, pageName{codex.Normalize(name), title.key})
	}
	p.names.set(scene, names...)
}

// changedClaims returns the ids of the claims that revisions change.
func changedClaims(revisions []annotator.Revision) (map[int64]bool, error) {
	changed := map[int64]bool{}
	for i := range revisions {
		var of struct{ ID, Claim int64 } // a claim has an id, evidence that of its claim
		if r := &revisions[i]; r.Field == annotator.FieldClaim || r.Field == annotator.FieldEvidence {
			if err := json.Unmarshal([]byte(cmp.Or(r.New, r.Old)), &of); err != nil {
				return nil, fmt.Errorf("revision %d: %w", r.ID, err)
			}
			changed[of.ID+of.Claim] = true
		}
	}
	return changed, nil
}

// claim sets the values of a claim at the end of a scene.
func (p *pageEntry) claim(scene int, told *annotator.Claim, position func(annotator.Place) annotator.Position) {
	c := NewClaim(*told, position)
	text := claimText{ID: c.ID, Text: c.Text, Origin: c.Origin(), As: c.As, Thread: c.From.Thread, From: c.From.Scene}
	if len(c.Evidence) > 0 {
		text.Quoted = [2]int{c.Evidence[0].Start, c.Evidence[0].End}
	}
	var now *pageClaim
	for _, version := range p.claims[c.ID] {
		if version.In.set(scene, version.claimText == text && c.Shown()); version.claimText == text {
			now = version
		}
		version.Tie.set(scene, version.tie(&c, text)...)
	}
	if !c.Shown() {
		return
	}
	if now == nil {
		now = &pageClaim{claimText: text, In: intervals{scene}}
		p.claims[c.ID], p.Claims = append(p.claims[c.ID], now), append(p.Claims, now)
	}
	now.last = *told
	now.Thoughts.set(scene, words(c.Thought())...)
	now.Ends.set(scene, words(c.End())...)
	now.Evidence.set(scene, c.Evidence...)
	now.Tie.set(scene, now.tie(&c, text)...)
}

// tie returns the relation that a claim of a text holds, if that is the text of this version.
func (c *pageClaim) tie(now *Claim, text claimText) []pageTie {
	if c.claimText != text || !now.Shown() || now.Until != nil || now.Relation == "" {
		return nil
	}
	return []pageTie{{now.Relation, now.Object}}
}

// words returns a text as a list, which is empty for no text.
func words(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// open sets which claims open the entry from the end of a scene on.
func (p *pageEntry) open(scene int, e *annotator.Entry) {
	ordered, opening := codex.InOrder(e)
	rank := map[int64]int{}
	for i, c := range ordered[:opening] {
		rank[c.ID] = i + 1
	}
	for _, c := range p.Claims {
		if c.In.in(scene) {
			c.Opens.set(scene, rank[c.ID])
		} else {
			c.Opens.set(scene, 0)
		}
	}
}

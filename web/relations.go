package web

import (
	"cmp"
	"context"
	"slices"

	"annotator"
	"annotator/codex"
	"annotator/view"
)

// relation is a relation as the page of one of its entries shows it, in the order of codex.Told.
type relation struct {
	Of     *annotator.Entry // nil: the entry of the page
	Words  string           // of the relation
	Other  *annotator.Entry // nil: Object is other words, or the name of the entry of the page
	Object string
	Entry  int64 // that has the fact
	Fact   int64
	Source string // see sourceOf
	Over   string // how and when it ended; empty while it holds
}

// infoLine are the values of a relation of an entry to words, such as its rank: those that hold first.
type infoLine struct {
	Name   string
	Values []relation
}

// addLine adds a relation to words.
func (shown *entryPage) addLine(r relation) {
	isSame := func(l infoLine) bool { return codex.Normalize(l.Name) == codex.Normalize(r.Words) }
	at := slices.IndexFunc(shown.Lines, isSame)
	if at < 0 {
		shown.Lines, at = append(shown.Lines, infoLine{Name: r.Words}), len(shown.Lines)
	}
	line := &shown.Lines[at]
	held := slices.IndexFunc(line.Values, func(v relation) bool { return v.Over != "" })
	if r.Over != "" || held < 0 {
		held = len(line.Values)
	}
	line.Values = slices.Insert(line.Values, held, r)
}

// fillRelations sets the relations of the entry, those that it has before those that others have to it.
func (shown *entryPage) fillRelations(r *request) error {
	ties, err := r.view.TiesOf(r.Context(), shown.ID)
	if err != nil {
		return err
	}
	entries, err := r.view.Headings(r.Context(), idsOfTies(ties))
	for i := range ties {
		t := &ties[i]
		isOwn := t.Entry == shown.ID
		line := relation{
			Words: t.Claim.Relation, Other: entries[t.Object], Object: t.Claim.Object,
			Entry: t.Entry, Fact: t.Claim.ID, Source: sourceOf(&t.Claim),
			Over: r.view.over(&t.Claim),
		}
		if !isOwn {
			line.Of, line.Other, line.Object = entries[t.Entry], nil, shown.Name()
		}
		if isOwn && line.Other == nil && line.Object != "" {
			shown.addLine(line)
			continue
		}
		shown.Relations = append(shown.Relations, line)
	}
	return err
}

func idsOfTies(ties []view.Tie) (ids []int64) {
	for i := range ties {
		ids = append(ids, ties[i].Entry, ties[i].Object)
	}
	return ids
}

// over says how and when a claim ended; empty while it holds.
func (v *codexView) over(c *annotator.Claim) string {
	if c.Until == 0 {
		return ""
	}
	return codex.EndWords(c.Ended) + " scene " + groupDigits(v.place(c.Until).Scene)
}

// castTies is the maximum number of relations that the page of the cast lists.
const castTies = 200

// toldTie is a relation between two entries, in the list and perhaps in the picture of the cast.
type toldTie struct {
	view.Tie
	From, To       *annotator.Entry
	Source         string // see sourceOf
	Over           string
	X1, Y1, X2, Y2 float64
	TextX, TextY   float64
	Drawn          bool // both are in the picture
}

// fillTold sets the relations between entries that the story tells. Those of the entries in the picture are drawn.
func (c *castPage) fillTold(ctx context.Context, v *codexView) error {
	first, more, err := v.Ties(ctx, castTies)
	if err != nil {
		return err
	}
	drawn, err := v.TiesOf(ctx, idsOf(c.Nodes, func(n *node) int64 { return n.ID })...)
	if err != nil {
		return err
	}
	isListed := map[[2]int64]bool{}
	for _, t := range first {
		isListed[[2]int64{t.Entry, t.Claim.ID}] = true
	}
	isKnown := func(t view.Tie) bool { return isListed[[2]int64{t.Entry, t.Claim.ID}] }
	ties := append(first, slices.DeleteFunc(drawn, isKnown)...)
	ties = slices.DeleteFunc(ties, func(t view.Tie) bool { return t.Object == 0 })
	c.MoreTold = more
	entries, err := v.Headings(ctx, idsOfTies(ties))
	places := map[int64]*node{}
	for i := range c.Nodes {
		places[c.Nodes[i].ID] = &c.Nodes[i]
	}
	for _, t := range ties {
		told := toldTie{Tie: t, From: entries[t.Entry], To: entries[t.Object]}
		told.Source, told.Over = sourceOf(&t.Claim), v.over(&t.Claim)
		if told.From == nil || told.To == nil {
			continue
		}
		a, b := places[t.Entry], places[t.Object]
		if told.Drawn = a != nil && b != nil && told.Over == "" && told.Source == ""; told.Drawn {
			told.X1, told.Y1, told.X2, told.Y2 = a.X, a.Y, b.X, b.Y
			told.TextX, told.TextY = a.X+(b.X-a.X)/3, a.Y+(b.Y-a.Y)/3 // lines cross in the middle
			c.Labels++
		}
		c.Told = append(c.Told, told)
	}
	return err
}

// Labelled reports whether so few relations are drawn that their words fit beneath each other.
func (c *castPage) Labelled() bool { return c.Labels <= 24 }

// standingPage lists where things stand.
type standingPage struct {
	Sections []standingSection
	More     bool // older ones are not listed
}

// standingSection are the matters of a sort.
type standingSection struct {
	Title   string
	Matters []standingMatter
}

type standingMatter struct {
	*view.Matter
	Object  *annotator.Entry
	Quotes  []quote
	Source  string // see sourceOf
	Since   annotator.Position
	Over    string
	Settled string
}

// matterTitles are the headings of the sorts.
var matterTitles = map[codex.Matter]string{
	codex.Promise: "Promises", codex.Conflict: "Conflicts", codex.Knowledge: "Who knows what",
	codex.Question: "Questions", codex.OpenState: "States",
}

func showStanding(r *request) (*page, error) {
	const most = 100 // of a sort, the newest
	matters, more, err := r.view.Standing(r.Context(), most)
	if err != nil {
		return nil, err
	}
	former, err := r.view.FormerPosts(r.Context())
	if err != nil {
		return nil, err
	}
	weights, err := r.view.Weights(r.Context(), idsOf(matters, func(m *view.Matter) int64 { return m.Entry.ID }))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(matters, func(a, b view.Matter) int { return cmp.Compare(b.Claim.From, a.Claim.From) })
	p := &standingPage{More: more}
	var objects []int64
	for _, sort := range codex.Matters() {
		section := standingSection{Title: matterTitles[sort]}
		for i := range matters {
			if m := &matters[i]; m.Sort == sort {
				section.Matters = append(section.Matters, standingMatter{Matter: m})
			}
		}
		if sort == codex.OpenState {
			slices.SortStableFunc(section.Matters, func(a, b standingMatter) int {
				return weights[b.Entry.ID] - weights[a.Entry.ID]
			})
		}
		for i := range section.Matters {
			m := &section.Matters[i]
			objects = append(objects, m.Matter.Object)
			m.Source, m.Since, m.Over = sourceOf(&m.Claim), r.view.place(m.Claim.From), r.view.over(&m.Claim)
			m.Quotes = quotes(m.Claim.Evidence, former)
			if m.Matter.Settled != nil {
				m.Settled = m.Matter.Settled.Text
			}
		}
		if section.Matters != nil {
			p.Sections = append(p.Sections, section)
		}
	}
	entries, err := r.view.Headings(r.Context(), objects)
	for i := range p.Sections {
		for k := range p.Sections[i].Matters {
			m := &p.Sections[i].Matters[k]
			m.Object = entries[m.Matter.Object]
		}
	}
	return &page{template: "standing", Title: "Where things stand", Section: "standing", Data: p}, err
}

// timelinePage lists the events of the story.
type timelinePage struct {
	Chapters []timelineChapter
	More     bool // earlier ones are not listed
}

// timelineChapter are the events of a chapter.
type timelineChapter struct {
	Thread int64
	Title  string
	Events []timelineEvent
}

type timelineEvent struct {
	*view.Event
	Scene int
	Text  string
	With  []*annotator.Entry
}

func showTimeline(r *request) (*page, error) {
	const most = 100 // the newest
	events, more, err := r.view.Events(r.Context(), most)
	if err != nil {
		return nil, err
	}
	p := &timelinePage{More: more}
	var ids []int64
	for i := range events {
		ids = append(ids, events[i].With...)
	}
	entries, err := r.view.Headings(r.Context(), ids)
	if err != nil {
		return nil, err
	}
	titles, err := r.view.Titles(r.Context())
	for i := range events {
		e := &events[i]
		at := r.view.place(e.At)
		if n := len(p.Chapters); n == 0 || p.Chapters[n-1].Thread != at.Thread {
			thread := annotator.Thread{ID: at.Thread, Title: titles[at.Thread]}
			p.Chapters = append(p.Chapters, timelineChapter{Thread: at.Thread, Title: view.ChapterLabel(&thread)})
		}
		chapter := &p.Chapters[len(p.Chapters)-1]
		chapter.Events = append(chapter.Events, timelineEvent{
			Event: e, Scene: at.Scene, Text: gist(e.Entry), With: present(e.With, entries),
		})
	}
	return &page{template: "timeline", Title: "Timeline", Section: "timeline", Data: p}, err
}

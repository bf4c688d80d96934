package web

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
	"annotator/view"
)

// entryPage is the page of an entry.
type entryPage struct {
	*annotator.Entry
	AsOf       annotator.Position // of the present statement
	Outdated   bool               // a state has begun or ended since
	Now        []span             // the present statement
	Opening    []*fact            // they say who or what it is
	Passages   []passage
	Listed     claimRange // of the facts in passages
	Names      []name     // other names
	Seen       seen
	Merged     *annotator.Entry  // that it was merged into; nil if it was not
	Linked     []linked          // entries that its facts name, by kind
	Lines      []infoLine        // relations to words: a rank, or a field that a user asks for
	Relations  []relation        // to entries
	Holds      []annotator.Claim // states that hold, the newest first
	Held       []annotator.Claim // states that have ended, the last first
	Events     []datedEvent
	Earlier    []datedEvent       // the events before those
	MoreEvents bool               // there are more before them
	LinkedBy   []*annotator.Entry // with the most mentions first
	NamedAll   bool               // there are more facts that name the entry
	Mentions   *mentionLine
	Record     bool // ids, kinds and histories are shown
	Switch     string
	Edits      *entryEdits       // nil: the reader may not edit
	heads      []annotator.Claim // of all facts, as view.ClaimHeads reads them
}

// seen is where the story mentions an entry first and last; nil for nowhere.
type seen struct{ First, Last *annotator.SceneRow }

// states returns the states of an entry that readers are shown: those that hold, the newest first, and those that have
// ended, the last first.
func states(e *annotator.Entry) (holds, held []int64) {
	const most = 5 // of each
	ordered, opening := codex.InOrder(e)
	ordered = slices.DeleteFunc(ordered[opening:], func(c annotator.Claim) bool {
		return !c.State || c.Kind != annotator.Narrated
	})
	for _, c := range slices.Backward(ordered) {
		if c.Until == 0 && len(holds) < most {
			holds = append(holds, c.ID)
		}
	}
	slices.SortStableFunc(ordered, func(a, b annotator.Claim) int { return cmp.Compare(a.Until, b.Until) })
	for _, c := range slices.Backward(ordered) {
		if c.Ended == annotator.EndOver && len(held) < most {
			held = append(held, c.ID)
		}
	}
	return holds, held
}

// passage is a run of facts with the same headings.
type passage struct {
	Chapter string
	Thread  int64
	As      string
	Facts   []*fact
}

// fact is a claim as a page shows it.
type fact struct {
	annotator.Claim
	Text    []span
	From    annotator.Position
	Ended   annotator.Position // Scene is 0 while it holds
	Quotes  []quote
	Locked  bool   // by a person; only set where the reader may edit
	Thought string // begins a guess that has proved false
	End     string // how and when it ended
}

// quote is a quotation as a page shows it.
type quote struct {
	annotator.Evidence
	Gone string // says that the source no longer has it; "" if it has
}

// quotes returns quotations, some of which may be of former posts.
func quotes(evidence []annotator.Evidence, former map[int64]bool) []quote {
	list := make([]quote, len(evidence))
	for i, v := range evidence {
		if list[i].Evidence = v; former[v.Post] {
			list[i].Gone = exporters.FormerText
		}
	}
	return list
}

// name is a name of an entry, and the position from which it is known.
type name struct {
	Name  string
	From  annotator.Position
	Later bool // than the entry itself
}

func showEntry(r *request, id int64) (*page, error) {
	ctx := r.Context()
	if r.URL.Query().Get("format") == "json" {
		e, err := r.view.Entry(ctx, id)
		if err != nil {
			return nil, err
		}
		former, err := r.view.FormerPosts(ctx)
		if err != nil {
			return nil, err
		}
		exported := exporters.NewEntry(e, r.view.at.At)
		exported.MarkFormer(former)
		return nil, r.sendJSON(exported)
	}
	head, err := r.view.heading(ctx, id)
	if err != nil {
		return nil, err
	}
	if head.Claims, err = r.view.ClaimHeads(ctx, id); err != nil {
		return nil, err
	}
	facts := r.claimRange(listed(head))
	holds, held := states(head)
	e, err := r.view.WithClaims(ctx, id, slices.Concat(facts.ids, holds, held))
	if err != nil {
		return nil, err
	}
	shown := &entryPage{
		Entry: e, AsOf: r.view.place(e.PresentAt), Outdated: codex.Outdated(head), Listed: facts, heads: head.Claims,
		Holds: claimsOf(e, holds), Held: claimsOf(e, held),
	}
	e.Claims = claimsOf(e, facts.ids)
	shown.setSwitch(r)
	if e.MergedInto != 0 {
		if shown.Merged, err = r.view.heading(ctx, e.MergedInto); err != nil && !isNotFound(err) {
			return nil, err
		}
	}
	for _, fill := range []func(*request) error{
		shown.fillFacts, shown.fillNames, shown.fillLinks, shown.fillRelations,
		shown.fillSeen, shown.fillEdits,
	} {
		if err := fill(r); err != nil {
			return nil, err
		}
	}
	return &page{
		template: "entry", Title: e.Name(), Section: "entries", Data: shown,
		JSON: r.Link("entry", id, "?", "format", "json"),
	}, r.view.at.Err
}

// setSwitch sets the switch between what a reader and who checks the record is shown.
func (shown *entryPage) setSwitch(r *request) {
	record := "1"
	if shown.Record = r.URL.Query().Get("record") != ""; shown.Record {
		record = ""
	}
	shown.Switch = r.Link("entry", shown.ID, "?", "record", record)
}

// listed returns the claims of an entry that readers are shown, in the order in which they are read.
func listed(e *annotator.Entry) (ids []int64) {
	claims, _ := codex.InOrder(e)
	for i := range claims {
		if codex.Shown(&claims[i]) {
			ids = append(ids, claims[i].ID)
		}
	}
	return ids
}

// claimsOf returns the claims of an entry with some ids, in their order.
func claimsOf(e *annotator.Entry, ids []int64) (claims []annotator.Claim) {
	for _, id := range ids {
		if at := slices.IndexFunc(e.Claims, func(c annotator.Claim) bool { return c.ID == id }); at >= 0 {
			claims = append(claims, e.Claims[at])
		}
	}
	return claims
}

// fillNames sets the other names of the entry, by where they are known from.
func (shown *entryPage) fillNames(r *request) error {
	e := shown.Entry
	slices.SortStableFunc(e.Aliases, func(a, b annotator.Alias) int {
		return cmp.Compare(a.From.Order(), b.From.Order())
	})
	for _, a := range e.Aliases {
		if a.Name != e.Term {
			later := a.From.Order() > e.First.Order()
			shown.Names = append(shown.Names, name{a.Name, r.view.place(a.From), later})
		}
	}
	return nil
}

// fillSeen sets where the story mentions the entry, or tells of it without a name.
func (shown *entryPage) fillSeen(r *request) (err error) {
	if shown.Mentions, err = r.view.mentionLine(r.Context(), shown.ID); err != nil {
		return err
	}
	found, err := r.view.Seen(r.Context(), []int64{shown.ID})
	at, ok := found[shown.ID]
	if !ok {
		at = view.Span{First: shown.First, Last: shown.Last}
	}
	if r.view.place(at.First).Scene != 0 && err == nil {
		if shown.Seen.First, err = r.view.Scene(r.Context(), r.view.place(at.First).Scene); err == nil {
			shown.Seen.Last, err = r.view.Scene(r.Context(), r.view.place(at.Last).Scene)
		}
	}
	return err
}

// claimRange is a part of the claims of an entry.
type claimRange struct {
	ids           []int64
	From, To, All int
	Before, After string // URLs of the neighbouring parts; empty: there is none
}

// claimRange returns the claims for the page: those after the claim "after" in the URL, or the part with the claim
// "fact".
func (r *request) claimRange(claims []int64) claimRange {
	from := slices.Index(claims, r.queryNumber("after")) + 1
	if at := slices.Index(claims, r.queryNumber("fact")); at >= 0 {
		from = at - at%pageSize
	}
	to := min(from+pageSize, len(claims))
	l := claimRange{ids: claims[from:to], From: min(from+1, to), To: to, All: len(claims)}
	link := func(at int) string {
		after := ""
		if at > 0 {
			after = strconv.FormatInt(claims[at-1], 10)
		}
		return r.Link("entry", r.PathValue("id"), "?", "after", after)
	}
	if from > 0 {
		l.Before = link(max(0, from-pageSize))
	}
	if to < len(claims) {
		l.After = link(to)
	}
	return l
}

// heading returns an entry without its claims.
func (v *codexView) heading(ctx context.Context, id int64) (*annotator.Entry, error) {
	found, err := v.Headings(ctx, []int64{id})
	if err == nil && found[id] == nil {
		err = notFound()
	}
	return found[id], err
}

// fillFacts sets the facts in the order in which they are read, and the present statement.
func (shown *entryPage) fillFacts(r *request) error {
	facts, err := shown.facts(r)
	if err != nil {
		return err
	}
	titles, err := r.view.Titles(r.Context())
	if err != nil {
		return err
	}
	entry := exporters.NewEntry(shown.Entry, r.view.at.At)
	reading := entry.Reading(titles)
	take := func(claims []exporters.Claim) (list []*fact) {
		for i := range claims {
			f := facts[claims[i].ID]
			f.Thought, f.End = claims[i].Thought(), claims[i].End()
			list = append(list, f)
		}
		return list
	}
	if shown.Listed.Before == "" {
		shown.Opening = take(reading.Opening)
	} else if first := reading.Opening; len(first) > 0 { // the facts of a later page
		at := first[0].From.Thread
		shown.Passages = append(shown.Passages, passage{titles[at], at, "", take(first)})
	}
	for _, p := range reading.Passages {
		shown.Passages = append(shown.Passages, passage{p.Chapter, p.Claims[0].From.Thread, p.As, take(p.Claims)})
	}
	return nil
}

// facts returns the facts by the ids of their claims, and sets the present statement. Their texts have links.
func (shown *entryPage) facts(r *request) (map[int64]*fact, error) {
	ctx, e := r.Context(), shown.Entry
	texts, scenes := []string{e.Present}, []annotator.Order{e.PresentAt.Order()}
	places := make([]annotator.Place, 0, 2*len(e.Claims))
	for i := range e.Claims {
		c := &e.Claims[i]
		texts, scenes, places = append(texts, c.Text), append(scenes, c.From.Order()), append(places, c.From, c.Until)
	}
	r.view.at.Read(places)
	former, err := r.view.FormerPosts(ctx)
	if err != nil {
		return nil, err
	}
	linker, err := r.newTermLinker(ctx, e.ID, texts, scenes)
	if err != nil {
		return nil, err
	}
	if e.Present != "" {
		shown.Now, err = linker.spans(ctx, e.Present)
	}
	facts := map[int64]*fact{}
	for i := range e.Claims {
		if err != nil {
			return nil, err
		}
		c := &e.Claims[i]
		f := &fact{Claim: *c, From: r.view.place(c.From), Quotes: quotes(c.Evidence, former)}
		f.Text, err = linker.spans(ctx, c.Text)
		if c.Until != 0 {
			f.Ended = r.view.place(c.Until)
		}
		facts[c.ID] = f
	}
	return facts, err
}

// present returns the existing entries with some ids, in their order.
func present(ids []int64, entries map[int64]*annotator.Entry) (list []*annotator.Entry) {
	for _, id := range ids {
		if entries[id] != nil {
			list = append(list, entries[id])
		}
	}
	return list
}

// Holds reports whether a fact can be edited: it is not over, and was not found false.
func (f *fact) Holds() bool { return f.Until == 0 }

// Source says who says so, of a claim; or that it is a guess. It is "" if the story tells the fact.
func (f *fact) Source() string { return sourceOf(&f.Claim) }

func sourceOf(c *annotator.Claim) string {
	switch c.Kind {
	case annotator.Claimed:
		return cmp.Or(codex.WithoutLinks(codex.Source(c.Speaker, c.Document)), "somebody") + " says so"
	case annotator.Inferred:
		return "a guess"
	case annotator.Noted:
		return "a person’s note"
	}
	return ""
}

// OtherQuotes returns the quotations that say more than the text of the fact.
func (f *fact) OtherQuotes() []quote {
	return slices.DeleteFunc(slices.Clone(f.Quotes), func(q quote) bool { return sameWords(q.Quote, f.Claim.Text) })
}

// sameWords reports whether two texts are equal but for the quotation marks around them.
func sameWords(a, b string) bool {
	words := func(text string) string {
		return strings.Trim(strings.Join(strings.Fields(text), " "), "\"'“”‘’«»")
	}
	return words(a) == words(b)
}

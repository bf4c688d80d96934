package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"unicode"

	"annotator"
	"annotator/codex"
	"annotator/view"
)

// contents is the list of the chapters, with who appears in each.
type contents struct {
	part
	Chapters []listedChapter
}

// listedChapter is a chapter in a list.
type listedChapter struct {
	ID    int64
	Label string
	Who   []*annotator.Entry // who is mentioned most, of the cast
}

// listSize is the number of chapters on a page of the list.
const listSize = 200

func showStory(r *request) (*page, error) {
	all, err := r.view.Threads(r.Context())
	if err != nil {
		return nil, err
	}
	s := &contents{part: r.part(len(all), listSize)}
	cast, err := r.view.cast(r.Context(), castInLists)
	if err == nil {
		s.Chapters, err = r.view.chapters(r.Context(), all, s.From, s.To, cast)
	}
	return &page{template: "story", Title: "Chapters", Section: "story", Data: s}, err
}

// castInLists is the number of entries of which lists of chapters name those that appear.
const castInLists = 40

// whoInLists is the number of entries that a list names for a chapter.
const whoInLists = 4

// cast returns the entries that are mentioned most, without their claims.
func (v *codexView) cast(ctx context.Context, size int) ([]*annotator.Entry, error) {
	mentioned, err := v.MostMentioned(ctx, size)
	if err != nil {
		return nil, err
	}
	ids := idsOf(mentioned, func(m *view.EntryCount) int64 { return m.Entry })
	entries, err := v.Headings(ctx, ids)
	return present(ids, entries), err
}

// chapters lists some of all chapters, with those of the cast that appear in each.
func (v *codexView) chapters(ctx context.Context, all []view.ThreadSpan, from, to int,
	cast []*annotator.Entry,
) ([]listedChapter, error) {
	ids := make([]int64, len(cast))
	entries := map[int64]*annotator.Entry{}
	for i, e := range cast {
		ids[i], entries[e.ID] = e.ID, e
	}
	counts, err := v.MentionCounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(counts, func(a, b view.ThreadCount) int { return b.Count - a.Count })
	who := map[int64][]*annotator.Entry{}
	for _, c := range counts {
		if len(who[c.Thread]) < whoInLists {
			who[c.Thread] = append(who[c.Thread], entries[c.Entry])
		}
	}
	list := make([]listedChapter, 0, to-from)
	for i := from; i < to; i++ {
		t := &all[i]
		list = append(list, listedChapter{t.ID, chapterLabel(i+1, t.Title), who[t.ID]})
	}
	return list, nil
}

// chapterPage is a chapter, or a part of one that is long.
type chapterPage struct {
	view.ThreadSpan
	Scenes        []sceneText
	Parts         []choice // of a long chapter; Name is empty for the part that is shown
	Before, After string   // URLs of the text before and after; empty: there is none
	Limit         bool     // the limit is at the end of the page
	Who           []whoAppears
	Summary       *annotator.Episode // nil if there is none
	Density       string             // which names are links: all, first or none
	Facts         string             // whether the margin shows facts
	HasText       bool               // the corpus is there
}

// whoAppears is an entry that a chapter mentions.
type whoAppears struct {
	*annotator.Entry
	Kind     kind
	Mentions int
}

// sceneText is a scene of a page of a chapter.
type sceneText struct {
	*annotator.SceneRow
	Posts []postText
}

// postText is a post of a scene.
type postText struct {
	annotator.Post
	Paragraphs []paragraph
}

// paragraph is a paragraph of a post, and the facts that its sentences support.
type paragraph struct {
	Text  []span
	Notes []note
}

func showChapter(r *request) (*page, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, notFound()
	}
	ctx := r.Context()
	c := &chapterPage{Density: r.density(), Facts: r.URL.Query().Get("facts"), HasText: r.db.Story != nil}
	if c.ThreadSpan, err = r.view.Thread(ctx, id); err != nil {
		return nil, err
	}
	scenes, err := r.view.Scenes(ctx, id)
	if err != nil || len(scenes) == 0 {
		return nil, err
	}
	parts := partsOf(scenes)
	at := min(max(1, int(r.queryNumber("part"))), len(parts)) - 1
	shown := parts[at]
	if err := c.fillWay(r, parts, at, scenes); err != nil {
		return nil, err
	}
	if c.Summary, err = r.summary(id); err != nil {
		return nil, err
	}
	if err := c.fillText(r, shown); err != nil {
		return nil, err
	}
	if err := c.fillWho(r, scenes); err != nil {
		return nil, err
	}
	title, err := r.chapterTitle(&c.ThreadSpan)
	return &page{template: "chapter", Title: title, Section: "story", Data: c}, err
}

// partsOf divides the scenes of a chapter into parts of at most maxPart words.
func partsOf(scenes []annotator.SceneRow) (parts [][]annotator.SceneRow) {
	from, words := 0, 0
	for i := range scenes {
		if words += scenes[i].Words; words > maxPart && i > from {
			parts, from, words = append(parts, scenes[from:i]), i, scenes[i].Words
		}
	}
	return append(parts, scenes[from:])
}

// chapterTitle names a chapter in the title of a page.
func (r *request) chapterTitle(t *view.ThreadSpan) (string, error) {
	if t.Title != "" {
		return t.Title, nil
	}
	all, err := r.view.Threads(r.Context())
	at := slices.IndexFunc(all, func(o view.ThreadSpan) bool { return o.ID == t.ID })
	return chapterLabel(at+1, ""), err
}

// chapterLink returns the URL of a part of a chapter, with the choices of the page.
func (c *chapterPage) chapterLink(r *request, id int64, part int) string {
	number := ""
	if part > 0 {
		number = strconv.Itoa(part + 1)
	}
	return r.Link("chapter", id, "?", "part", number, "names", r.URL.Query().Get("names"), "facts", c.Facts)
}

// fillWay sets the ways to the other parts and to the neighbouring chapters.
func (c *chapterPage) fillWay(r *request, parts [][]annotator.SceneRow, at int, scenes []annotator.SceneRow) error {
	if len(parts) > 1 {
		for i, p := range parts {
			label := fmt.Sprintf("scenes %s to %s", groupDigits(p[0].N), groupDigits(p[len(p)-1].N))
			part := choice{"part", label, c.chapterLink(r, c.ID, i)}
			if i == at {
				part.Name = ""
			}
			c.Parts = append(c.Parts, part)
		}
	}
	before, _, err := r.view.Neighbors(r.Context(), &scenes[0])
	if err != nil {
		return err
	}
	_, after, err := r.view.Neighbors(r.Context(), &scenes[len(scenes)-1])
	if err != nil {
		return err
	}
	switch {
	case at > 0:
		c.Before = c.chapterLink(r, c.ID, at-1)
	case before > 0:
		c.Before = r.Link("scene", before, "?", "names", r.URL.Query().Get("names"), "facts", c.Facts)
	}
	switch {
	case at+1 < len(parts):
		c.After = c.chapterLink(r, c.ID, at+1)
	case after > 0:
		c.After = r.Link("scene", after, "?", "names", r.URL.Query().Get("names"), "facts", c.Facts)
	}
	c.Limit = r.limit.Limited() && c.After == ""
	return nil
}

// summary returns the summary of a chapter; nil if there is none that a server's model wrote.
func (r *request) summary(thread int64) (*annotator.Episode, error) {
	run, err := r.db.DB.Run.Status(r.Context())
	if err != nil || !isModel(&run) {
		return nil, err
	}
	return r.view.SummaryOf(r.Context(), thread)
}

// fillWho sets who appears in the chapter.
func (c *chapterPage) fillWho(r *request, scenes []annotator.SceneRow) error {
	const most = 30
	counts, err := r.view.Appearing(r.Context(), scenes[0].Order, scenes[len(scenes)-1].Order, most)
	if err != nil {
		return err
	}
	entries, err := r.view.Headings(r.Context(), idsOf(counts, func(c *view.EntryCount) int64 { return c.Entry }))
	for _, n := range counts {
		if e := entries[n.Entry]; e != nil {
			c.Who = append(c.Who, whoAppears{e, kindOf(e.Tags), n.Count})
		}
	}
	slices.SortStableFunc(c.Who, func(a, b whoAppears) int { return int(a.Kind) - int(b.Kind) })
	return err
}

// fillText reads the text of some scenes, with names as links and facts in the margin.
func (c *chapterPage) fillText(r *request, scenes []annotator.SceneRow) error {
	ctx := r.Context()
	for i := range scenes {
		c.Scenes = append(c.Scenes, sceneText{SceneRow: &scenes[i]})
	}
	if r.db.Story == nil {
		return nil
	}
	names, err := r.namesIn(ctx, scenes, c.Density)
	if err != nil {
		return err
	}
	var notes *notes
	if c.Facts != factsNone {
		if notes, err = r.newNotes(ctx, scenes); err != nil {
			return err
		}
	}
	post, start, end := quotation(r.URL.Query().Get("quote"))
	for i := range scenes {
		posts, err := r.db.Story.Scene(ctx, scenes[i].Thread.ID, scenes[i].Posts)
		if err != nil {
			return err
		}
		linker := &linker{density: c.Density, linked: map[namedSpan]bool{}}
		for rank := range posts {
			m := marker{body: []rune(posts[rank].Body), notes: map[int]int{}}
			m.links = linker.links(m.body, names[annotator.PlaceAt(scenes[i].Order, rank)])
			if posts[rank].ID == post {
				m.quote(start, end)
			}
			if posts[rank].Subject == c.Title { // the heading of the page
				posts[rank].Subject = ""
			}
			c.Scenes[i].Posts = append(c.Scenes[i].Posts, postText{posts[rank], m.paragraphs(posts[rank].ID, notes)})
		}
	}
	return nil
}

// The choices of whether the margin shows the facts that sentences support. Otherwise it does where there is room.
const (
	factsShown = "shown"
	factsNone  = "none"
)

// paragraphs splits a post at its empty lines.
func (m *marker) paragraphs(post int64, notes *notes) (list []paragraph) {
	for from := 0; from < len(m.body); {
		to := endOfParagraph(m.body, from)
		start, end := from, to
		for start < end && unicode.IsSpace(m.body[start]) && m.body[start] != ' ' {
			start++
		}
		for end > start && unicode.IsSpace(m.body[end-1]) {
			end--
		}
		if start < end {
			of := notes.within(post, start, to)
			for i := range of {
				m.notes[min(of[i].end, end)] = of[i].Number
			}
			list = append(list, paragraph{m.part(start, end), of})
		}
		from = to
	}
	return list
}

// endOfParagraph returns the offset after the next empty line.
func endOfParagraph(body []rune, from int) int {
	for i := from; i < len(body); i++ {
		if body[i] != '\n' {
			continue
		}
		at := i + 1
		for at < len(body) && body[at] != '\n' && unicode.IsSpace(body[at]) {
			at++
		}
		if at < len(body) && body[at] == '\n' && i > from {
			return at + 1
		}
	}
	return len(body)
}

// note says in the margin which facts a sentence supports.
type note struct {
	Number int
	Facts  []notedFact
	More   int // facts that it does not list
	start  int // offsets of the sentence in its post
	end    int
}

// notedFact is a fact of a note.
type notedFact struct {
	Entry *annotator.Entry
	Fact  int64
	Text  string // empty if it is the sentence itself
}

// notes are the notes on the text of a page, by post.
type notes struct {
	byPost map[int64][]view.Quotation
	of     map[int64]*annotator.Entry
	next   int
}

// newNotes reads the facts that some scenes support. Facts that are only in the history of an entry are left out.
func (r *request) newNotes(ctx context.Context, scenes []annotator.SceneRow) (*notes, error) {
	var posts []int64
	for i := range scenes {
		posts = append(posts, scenes[i].Posts...)
	}
	found, err := r.view.Quotations(ctx, posts)
	if err != nil {
		return nil, err
	}
	n := &notes{byPost: map[int64][]view.Quotation{}}
	ids := make([]int64, 0, len(found))
	for i := range found {
		if q := &found[i]; codex.Shown(&q.Claim) {
			n.byPost[q.Evidence.Post] = append(n.byPost[q.Evidence.Post], *q)
			ids = append(ids, q.Entry)
		}
	}
	n.of, err = r.view.Headings(ctx, ids)
	return n, err
}

// within returns the notes on the sentences that begin in a part of a post.
func (n *notes) within(post int64, from, to int) (list []note) {
	if n == nil {
		return nil
	}
	const mostFacts = 4 // of a note
	for _, q := range n.byPost[post] {
		e := n.of[q.Entry]
		if q.Evidence.Start < from || q.Evidence.Start >= to || e == nil || !e.Status.Live() {
			continue
		}
		if len(list) == 0 || list[len(list)-1].start != q.Evidence.Start || list[len(list)-1].end != q.Evidence.End {
			n.next++
			list = append(list, note{Number: n.next, start: q.Evidence.Start, end: q.Evidence.End})
		}
		last := &list[len(list)-1]
		if len(last.Facts) == mostFacts {
			last.More++
			continue
		}
		fact := notedFact{Entry: e, Fact: q.Claim.ID}
		if !sameWords(q.Claim.Text, q.Evidence.Quote) {
			fact.Text = codex.WithoutLinks(q.Claim.Text)
		}
		last.Facts = append(last.Facts, fact)
	}
	return list
}

// showScene leads to a scene in its chapter. It keeps the choices of the page.
func showScene(r *request, n int64) (*page, error) {
	scene, err := r.view.Scene(r.Context(), int(min(n, maxNumber)))
	if err != nil {
		return nil, err
	}
	to, err := r.sceneLink(scene)
	if err == nil {
		http.Redirect(r.w, r.Request, to, http.StatusSeeOther)
	}
	return nil, err
}

// sceneLink returns the URL of a scene in its chapter, with the choices of the request.
func (r *request) sceneLink(scene *annotator.SceneRow) (string, error) {
	scenes, err := r.view.Scenes(r.Context(), scene.Thread.ID)
	number := ""
	for i, part := range partsOf(scenes) {
		if i > 0 && slices.ContainsFunc(part, func(s annotator.SceneRow) bool { return s.N == scene.N }) {
			number = strconv.Itoa(i + 1)
		}
	}
	q := r.URL.Query()
	fragment := fmt.Sprintf("scene-%d", scene.N)
	if q.Get("quote") != "" {
		fragment = "quote"
	}
	return r.Link("chapter", scene.Thread.ID, "?", "part", number, "names", q.Get("names"), "facts", q.Get("facts"),
		"quote", q.Get("quote"), "#", fragment), err
}

// The choices of which names in the text are links.
const (
	namesAll   = "all"
	namesFirst = "first" // the first occurrence of each entry in a scene
	namesNone  = "none"
)

// density returns the choice in the URL of which names are links.
func (r *request) density() string {
	switch d := r.URL.Query().Get("names"); d {
	case namesAll, namesNone:
		return d
	}
	return namesFirst
}

// Densities returns the choices of which names are links.
func (p *page) Densities() []choice {
	return p.choices("names", choice{namesAll, "all", ""}, choice{namesFirst, "first in a scene", ""},
		choice{namesNone, "none", ""})
}

// Margins returns the choices of what the margin shows.
func (p *page) Margins() []choice {
	return p.choices("facts", choice{factsShown, "always", ""}, choice{"", "where there is room", ""},
		choice{factsNone, "never", ""})
}

// choices sets the URLs of the choices of a setting.
func (p *page) choices(setting string, choices ...choice) []choice {
	for i := range choices {
		u := *p.URL
		values := u.Query()
		values.Set(setting, choices[i].Name)
		if choices[i].Name == "" {
			values.Del(setting)
		}
		if point := p.AsOf(); point != "" {
			values.Set(asOf, point)
		}
		u.RawQuery = values.Encode()
		choices[i].URL = u.RequestURI()
	}
	return choices
}

// quotation reads the position of a quotation: POST-START-END.
func quotation(text string) (post int64, start, end int) {
	if n, err := fmt.Sscanf(text, "%d-%d-%d", &post, &start, &end); err != nil || n != 3 {
		return 0, 0, 0
	}
	return post, start, end
}

// showPost leads to a post in its scene. It marks the quotation that the URL names by start and end.
func showPost(r *request) (*page, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, notFound()
	}
	at, err := r.view.PlaceOf(r.Context(), id)
	if err != nil {
		return nil, err
	}
	scene, err := r.view.Scene(r.Context(), r.view.place(at).Scene)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	if q.Get("end") != "" {
		q.Set("quote", fmt.Sprintf("%d-%s-%s", id, q.Get("start"), q.Get("end")))
		r.URL.RawQuery = q.Encode()
	}
	to, err := r.sceneLink(scene)
	if err == nil {
		http.Redirect(r.w, r.Request, to, http.StatusSeeOther)
	}
	return nil, err
}

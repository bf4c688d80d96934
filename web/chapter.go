package web

import (
	"fmt"
	"slices"
	"strconv"

	"annotator"
	"annotator/view"
)

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
			if posts[rank].Former {
				continue
			}
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

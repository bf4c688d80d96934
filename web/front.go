package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"annotator"
	"annotator/storage"
	"annotator/view"
)

// front is the first page of a codex.
type front struct {
	Here     *annotator.SceneRow // how far the reader has read; nil without a limit, or before the story
	Story    *annotator.Episode  // the story until there; nil if there is none that a server's model wrote
	Columns  []column
	New      []*annotator.Entry // that have appeared since the last visit
	Chapters []listedChapter    // the last ones
	Running  bool
	Halted   bool
	Done     int // scenes that the run has read, up to the limit
	Total    int // scenes up to the limit
}

// column is a part of the cast.
type column struct {
	Kind    kind
	Members []member
}

// member is an entry of the cast, with what it is in short.
type member struct {
	*annotator.Entry
	Gist string
}

// The sizes of the front page.
const (
	frontCast     = 120 // entries that columns are filled from
	frontColumn   = 9   // entries of a column
	frontChapters = 8
	frontNew      = 24
	gistLength    = 120 // characters
)

func showFront(r *request) (*page, error) {
	ctx := r.Context()
	f := new(front)
	cast, err := r.view.cast(ctx, frontCast)
	if err != nil {
		return nil, err
	}
	if f.Columns, err = r.view.columns(ctx, cast); err != nil {
		return nil, err
	}
	all, err := r.view.Threads(ctx)
	if err != nil {
		return nil, err
	}
	cast = cast[:min(castInLists, len(cast))]
	f.Chapters, err = r.view.chapters(ctx, all, max(0, len(all)-frontChapters), len(all), cast)
	if err != nil {
		return nil, err
	}
	if err := f.fillState(r, all); err != nil {
		return nil, err
	}
	if since, ok := r.lastVisit(all); ok {
		if f.New, err = r.view.newSince(ctx, since); err != nil {
			return nil, err
		}
	}
	title, err := (&page{request: r}).StoryTitle()
	return &page{template: "front", Title: title, Section: "front", Data: f}, err
}

// columns divides the cast by kind.
func (v *codexView) columns(ctx context.Context, cast []*annotator.Entry) (columns []column, err error) {
	var ids []int64
	of := map[kind][]int64{}
	for _, e := range cast {
		if k := kindOf(e.Tags); e.Status.Live() && len(of[k]) < frontColumn {
			of[k], ids = append(of[k], e.ID), append(ids, e.ID)
		}
	}
	entries, err := v.Outlines(ctx, ids)
	for k := people; k <= others; k++ {
		c := column{Kind: k}
		for _, e := range present(of[k], entries) {
			c.Members = append(c.Members, member{e, brief(gist(e), gistLength)})
		}
		if len(c.Members) > 0 {
			columns = append(columns, c)
		}
	}
	return columns, err
}

// fillState sets where the reader is, the story until there, and the state of the run.
func (f *front) fillState(r *request, all []view.ThreadSpan) error {
	ctx := r.Context()
	run, err := r.db.DB.Run.Status(ctx)
	if err != nil {
		return err
	}
	if isModel(&run) {
		if f.Story, err = r.view.Story(ctx); err != nil {
			return err
		}
	}
	if n := r.limit.moment.Scene; n > 0 {
		if f.Here, err = r.view.Scene(ctx, n); err != nil {
			return err
		}
	}
	if f.Running, err = storage.Running(r.db.DB.Path()); err != nil {
		return err
	}
	f.Halted = run.Halted != "" && !r.limit.Limited()
	recorded, quarantined, err := r.view.Outcomes(ctx)
	if err != nil {
		return err
	}
	f.Done = recorded + quarantined
	if len(all) > 0 {
		f.Total = all[len(all)-1].Last
	}
	return nil
}

// visitCookie remembers when the reader was here last, and how far the story went then and at the visit before.
const visitCookie = "visit"

// newVisit is the time after which a reader visits again.
const newVisit = 4 * time.Hour

// lastVisit returns the last scene that the reader could see at the visit before this one, if there was one.
func (r *request) lastVisit(all []view.ThreadSpan) (scene int, ok bool) {
	now, last := r.db.server.Now().Unix(), 0
	if len(all) > 0 {
		last = all[len(all)-1].Last
	}
	var at int64
	var then, before int
	if c, err := r.Cookie(visitCookie); err == nil {
		if n, _ := fmt.Sscanf(c.Value, "%d.%d.%d", &at, &then, &before); n != 3 {
			at, then, before = 0, 0, 0
		}
	}
	if now-at > int64(newVisit.Seconds()) {
		before = then
	}
	http.SetCookie(r.w, &http.Cookie{
		Name: visitCookie, Value: fmt.Sprintf("%d.%d.%d", now, last, before),
		Path:   "/" + url.PathEscape(r.db.Name) + "/",
		MaxAge: cookieAge, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil,
	})
	return before, before > 0 && before != last
}

// newSince returns the entries that the story mentions first after a scene, those with the most mentions first.
func (v *codexView) newSince(ctx context.Context, scene int) ([]*annotator.Entry, error) {
	const scenes, candidates = 60, 200 // the last scenes that it reads, and the entries that appear in them
	then, err := v.Scene(ctx, scene)
	if isNotFound(err) {
		return nil, nil // the reader has gone back
	}
	if err != nil {
		return nil, err
	}
	last, err := v.lastScene(ctx)
	if err != nil {
		return nil, err
	}
	end, err := v.Scene(ctx, last)
	if err != nil {
		return nil, err
	}
	from := then.Order + 1
	if back, err := v.db.DB.Scenes.Neighbor(ctx, end.Order, -scenes); err == nil {
		from = max(from, back.Order)
	}
	counts, err := v.Appearing(ctx, from, end.Order, candidates)
	if err != nil {
		return nil, err
	}
	ids := idsOf(counts, func(c *view.EntryCount) int64 { return c.Entry })
	seen, err := v.Seen(ctx, ids)
	if err != nil {
		return nil, err
	}
	var fresh []int64
	for _, id := range ids {
		if seen[id].First.Order() > then.Order && len(fresh) < frontNew {
			fresh = append(fresh, id)
		}
	}
	entries, err := v.Headings(ctx, fresh)
	return present(fresh, entries), err
}

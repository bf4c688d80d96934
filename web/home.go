package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"annotator"
	"annotator/storage"
	"annotator/view"
)

// home shows the list of databases, or redirects to the only one. Links keep the limit of the URL.
func (s *Server) home(w http.ResponseWriter, hr *http.Request) {
	r := &request{Request: hr, w: w}
	point, err := pointOf(hr.URL)
	if err = cmp.Or(hr.ParseForm(), err); err != nil {
		s.write(r, s.errorPage(r, annotator.Errorf(annotator.Misused, "the query cannot be read: %w", err)))
		return
	}
	first := func(d *servedDatabase) string {
		return (&request{db: d, limit: limit{point: point, explicit: true}}).Link()
	}
	if len(s.served) == 1 && len(s.Unreadable) == 0 {
		http.Redirect(w, hr, first(s.served[0]), http.StatusSeeOther)
		return
	}
	list := databaseList{Unreadable: s.Unreadable}
	for _, d := range s.served {
		pulse, err := d.DB.Run.Pulse(hr.Context())
		if d.DB.Replaced() {
			err = annotator.Errorf(annotator.Storage, "%s", isReplaced)
		}
		if err != nil {
			list.Unreadable = append(slices.Clip(list.Unreadable), Unreadable{d.Name, err})
			continue
		}
		scenes := pulse.Scenes
		if d.bounded() {
			scenes = d.Limit.Scene
		}
		list.Databases = append(list.Databases, listedDatabase{d.Name, pulse.Title, first(d), scenes})
	}
	s.write(r, &page{template: "home", Title: "Codexes", Data: list})
}

// databaseList is the list of the databases.
type databaseList struct {
	Databases  []listedDatabase
	Unreadable []Unreadable
}

// listedDatabase is a database of the list.
type listedDatabase struct {
	Name, Title, URL string
	Scenes           int // of the story, up to the server's limit
}

// progress is the state of a run up to the limit.
type progress struct {
	Running     bool
	Halted      string // why; empty under a limit
	Entries     int
	Recorded    int
	Quarantined int
	Total       int // scenes, up to the limit
	Usage       annotator.Usage
	Calls       int
	Failed      int
	Scenes      []view.SceneEnd
	Tools       []storage.Audited
	Changed     map[int64]*annotator.Entry // the first that each tool call changed
	Left        string                     // time to the end of the story, of an active run without a limit; else empty
}

// Done returns the number of scenes with an outcome.
func (p *progress) Done() int { return p.Recorded + p.Quarantined }

// timeLeft estimates the time to the end of the story by the times of the latest scenes. Under a limit it would tell
// how long the story is.
func (p *progress) timeLeft(limited bool) string {
	ends := make([]time.Time, len(p.Scenes))
	for i := range p.Scenes {
		ends[i] = time.UnixMilli(p.Scenes[i].At)
	}
	left := time.Duration(p.Total-p.Done()) * storage.SceneTime(ends)
	if limited || !p.Running || left <= 0 {
		return ""
	}
	return left.Round(max(time.Second, left/50).Truncate(time.Second)).String()
}

// readProgress reads the state of a run up to the limit of a view.
func (v *codexView) readProgress(ctx context.Context) (*progress, error) {
	p := new(progress)
	db := v.db.DB
	run, err := db.Run.Status(ctx)
	if err != nil {
		return nil, err
	}
	if p.Running, err = storage.Running(db.Path()); err != nil {
		return nil, err
	}
	if p.Total, err = v.lastScene(ctx); err != nil {
		return nil, err
	}
	if v.limited() {
		totals, err := v.Totals(ctx)
		if err != nil {
			return nil, err
		}
		p.Entries = totals.Entries[annotator.Tentative] + totals.Entries[annotator.Confirmed]
	} else {
		p.Entries, p.Halted = run.Entries, run.Halted
	}
	if p.Recorded, p.Quarantined, err = v.Outcomes(ctx); err != nil {
		return nil, err
	}
	costs, err := v.Costs(ctx, maxNumber)
	if err != nil {
		return nil, err
	}
	for i := range costs {
		c := &costs[i]
		p.Usage, p.Calls, p.Failed = c.Usage, c.Calls, c.Failed
	}
	const latest, timed = 6, 20
	if p.Scenes, err = v.LatestScenes(ctx, timed); err != nil {
		return nil, err
	}
	p.Left = p.timeLeft(v.limited())
	p.Scenes = p.Scenes[:min(latest, len(p.Scenes))]
	if p.Tools, err = v.ToolCalls(ctx, storage.AuditFilter{}, 0, latest); err != nil {
		return nil, err
	}
	var changed []int64
	for i := range p.Tools {
		if revisions := p.Tools[i].Revisions; len(revisions) > 0 {
			changed = append(changed, revisions[0].Entry)
		}
	}
	p.Changed, err = v.Headings(ctx, changed)
	return p, err
}

// showRun shows the state of the run.
func showRun(r *request) (*page, error) {
	p, err := r.view.readProgress(r.Context())
	return &page{template: "run", Title: "The run", Section: "run", Data: p}, err
}

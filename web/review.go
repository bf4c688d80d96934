package web

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"annotator"
	"annotator/review"
	"annotator/storage"
)

// reviewQueue keeps the newest queue of a database, because a page shows one question of it.
type reviewQueue struct {
	mu    sync.Mutex
	basis string // what it was computed from, with the limit
	queue *review.Queue
}

// latestDecisions is how many decisions a page lists.
const latestDecisions = 10

// reviewPage is one question of a review.
type reviewPage struct {
	*review.Suggestion // nil: no question is left
	Chapters           []string
	Number, Total      int // of the questions of the kind
	Kind               review.Kind
	Facets             []facet
	Latest             []latestDecision
	Like               int // questions of the same kind and reason
	Left               int // entries that were not looked at
	Next               string
}

// facet is a kind of question.
type facet struct {
	choice
	Count   int
	Current bool
}

// latestDecision is one of the newest decisions.
type latestDecision struct {
	annotator.Decision
	About string
}

// showReview shows the first question of a kind, or one that the query names.
func showReview(r *request) (*page, error) {
	q, open, err := r.openQuestions()
	if err != nil {
		return nil, err
	}
	shown := &reviewPage{Kind: review.Kind(r.URL.Query().Get("kind")), Left: q.Left}
	of := r.countKinds(shown, open)
	shown.Total = len(of)
	at := slices.IndexFunc(of, func(s review.Suggestion) bool { return s.Key == r.URL.Query().Get("key") })
	if at = max(at, 0); at < len(of) {
		r.ask(shown, of, at)
	}
	decisions, err := r.db.DB.Decisions.Latest(r.Context(), review.ShownTo(r.view.View), latestDecisions)
	if err != nil {
		return nil, err
	}
	for _, d := range decisions {
		about, err := r.aboutDecision(q, &d)
		if err != nil {
			return nil, err
		}
		shown.Latest = append(shown.Latest, latestDecision{d, about})
	}
	return &page{template: "review", Title: "Review", Section: "review", Data: shown}, r.view.at.Err
}

// ask sets the question of a page, and what leads to the next one.
func (r *request) ask(shown *reviewPage, of []review.Suggestion, at int) {
	s := &of[at]
	shown.Suggestion, shown.Number = s, at+1
	for i := range of {
		if of[i].IsLike(s) {
			shown.Like++
		}
	}
	for _, place := range s.Places() {
		if chapter := r.view.at.Named(place).Chapter; chapter != "" && !slices.Contains(shown.Chapters, chapter) {
			shown.Chapters = append(shown.Chapters, chapter)
		}
	}
	if at+1 < len(of) {
		shown.Next = r.Link("review", "?", "kind", shown.Kind, "key", of[at+1].Key)
	}
}

// countKinds sets the facets of a page, and returns the questions of its kind.
func (r *request) countKinds(shown *reviewPage, open []review.Suggestion) (of []review.Suggestion) {
	counts := map[review.Kind]int{}
	for i := range open {
		counts[open[i].Kind]++
		if shown.Kind == "" || open[i].Kind == shown.Kind {
			of = append(of, open[i])
		}
	}
	shown.Facets = []facet{{choice{Label: "all", URL: r.Link("review")}, len(open), shown.Kind == ""}}
	for _, k := range review.Kinds() {
		if counts[k] > 0 {
			at := choice{Label: k.Label(), URL: r.Link("review", "?", "kind", k)}
			shown.Facets = append(shown.Facets, facet{at, counts[k], k == shown.Kind})
		}
	}
	return of
}

// openQuestions returns the queue of the reader's view, and what of it is not decided.
func (r *request) openQuestions() (*review.Queue, []review.Suggestion, error) {
	basis, err := r.db.DB.Decisions.Basis(r.Context())
	if err != nil {
		return nil, nil, err
	}
	basis = fmt.Sprintf("%+v %s", r.limit.moment, basis)
	c := r.db.review
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.queue == nil || c.basis != basis {
		var story review.Story
		if r.db.Story != nil {
			story = r.db.Story
		}
		if c.queue, err = review.Read(r.Context(), r.view.View, story); err != nil {
			c.queue = nil
			return nil, nil, err
		}
		c.basis = basis
	}
	decisions, err := r.db.DB.Decisions.InForce(r.Context())
	return c.queue, c.queue.Open(decisions, r.db.server.Now()), err
}

// aboutDecision says what a decision is about: the question, if it is still one, or the entry that it has edited.
func (r *request) aboutDecision(q *review.Queue, d *annotator.Decision) (string, error) {
	at := slices.IndexFunc(q.Suggestions, func(s review.Suggestion) bool { return s.Key == d.Key })
	if at >= 0 {
		return q.Suggestions[at].Asks + " (" + q.Suggestions[at].Kind.Label() + ")", nil
	}
	kind, _, _ := strings.Cut(d.Key, "/")
	about := review.Kind(kind).Label()
	if len(d.Edits) == 0 {
		return about, nil
	}
	id := d.Edits[0].Operation.Entry
	found, err := r.view.Headings(r.Context(), []int64{id})
	if e := found[id]; e != nil {
		about += ": " + e.Name()
	}
	return about, err
}

// decide answers a question, and others like it if the form says so, and leads to the next one.
func decide(r *request) (*page, error) {
	_, open, err := r.openQuestions()
	if err != nil {
		return nil, err
	}
	key, letter := r.PostFormValue("key"), r.PostFormValue("letter")
	at := slices.IndexFunc(open, func(s review.Suggestion) bool { return s.Key == key })
	if at < 0 || open[at].Digest != r.PostFormValue("digest") {
		return r.refused("What this question was about has changed since. Look at the review again."), nil
	}
	like := []review.Suggestion{open[at]}
	if r.PostFormValue("all") != "" && letter != review.LetterEdit && letter != review.LetterSplit {
		like = slices.DeleteFunc(open, func(s review.Suggestion) bool { return !s.IsLike(&like[0]) })
	}
	allowed := true
	for i := range like {
		all, err := r.decideOne(&like[i], letter)
		if err != nil {
			return nil, err
		}
		allowed = allowed && all
	}
	if !allowed { // the reason may be what is told later
		return r.refused("The answer is noted, but the codex does not allow the change. " +
			"Without a limit, the page says why."), nil
	}
	http.Redirect(r.w, r.Request, r.Link("review", "?", "kind", r.PostFormValue("kind")), http.StatusSeeOther)
	return nil, nil
}

// decideOne applies an answer to a question, and stores the decision. It reports whether the codex allows all of it.
func (r *request) decideOne(s *review.Suggestion, letter string) (allowed bool, err error) {
	verdict, choice, ok := s.Answer(letter)
	if !ok {
		return false, annotator.Errorf(annotator.Misused, "this is no answer to the question")
	}
	operations, err := r.chosen(choice)
	if err != nil {
		return false, err
	}
	d, refusal, err := s.Decide(r.Context(), r.view.View, verdict, operations, r.submit)
	if err != nil {
		return false, err
	}
	return refusal == nil, storage.FileDecision(r.Context(), r.db.DB.Path(), r.db.server.Now, d)
}

// chosen returns the operations of a choice with what the form says.
func (r *request) chosen(c *review.Choice) ([]annotator.Operation, error) {
	switch {
	case c == nil:
		return nil, nil
	case c.Input == review.InputNone:
		return c.Operations, nil
	}
	text := strings.TrimSpace(r.PostFormValue("text"))
	if text == "" {
		return nil, annotator.Errorf(annotator.Misused, "nothing was typed")
	}
	if c.Input != review.InputEntry {
		return c.With(text, 0), nil
	}
	id, err := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 64)
	if err != nil {
		e, err := r.view.named(r.Context(), text)
		if e == nil {
			return nil, orNotFound(err)
		}
		id = e.ID
	}
	return c.With("", id), nil
}

func orNotFound(err error) error {
	if err == nil {
		return notFound()
	}
	return err
}

// undecide takes a decision back, with its edits.
func undecide(r *request, id int64) (*page, error) {
	latest, err := r.db.DB.Decisions.Latest(r.Context(), review.ShownTo(r.view.View), latestDecisions)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(latest, func(d annotator.Decision) bool { return d.ID == id })
	if at < 0 {
		return nil, notFound()
	}
	rows, waits, err := r.db.DB.Edits.RowsOf(r.Context(), &latest[at])
	if err != nil {
		return nil, err
	}
	if waits {
		return r.refused("The run has not applied this yet. Undo it after the run's next scene."), nil
	}
	for _, row := range rows {
		if _, err := r.apply(annotator.Operation{Do: annotator.DeedUndo, Row: row}); err != nil {
			return nil, err
		}
	}
	if err := storage.TakeBackDecision(r.Context(), r.db.DB.Path(), r.db.server.Now, id); err != nil {
		return nil, err
	}
	return r.goBack()
}

// PlaceLabel returns a place of the story as people name it.
func (p *page) PlaceLabel(place annotator.Place) string { return p.view.at.Label(place) }

package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"annotator"
	"annotator/codex"
	"annotator/storage"
	"annotator/view"
)

// question asks how far a reader has read. It shows nothing of the story that the reader has not read, nor how many
// chapters that has. Only a reader without a limit gets a list.
type question struct {
	Unknown  string // a limit that the story does not have; empty: none
	Kept     bool   // this browser remembers it
	Here     string // how far the reader has read; empty: not known
	Back     string // the page to show then
	Begin    string // the page to show to a reader who has not begun
	Action   string
	Begun    bool     // the story has a chapter
	Chapters []choice // all of them, of a reader who knows them; none: the reader names one
	Selected string   // the chapter that the form shows; empty: none
	Scenes   []choice
	Chapter  string // whose scenes those are; empty: the reader does not know its title
	Bounded  bool   // the server has a limit
}

// maxListed is the maximum number of chapters, and of scenes, that the question lists.
const maxListed = 2000

// askFirst asks a reader who has not said how far. A program gets an error, because it cannot answer.
func (r *request) askFirst() (*page, error) {
	if r.URL.Query().Get("format") != "" || strings.HasSuffix(r.URL.Path, "/live") {
		return nil, annotator.Errorf(annotator.Misused, "the address does not say how far the story was read").
			WithAdvice("add as-of=scene:200 to it, or as-of=all for everything")
	}
	q, err := r.question(nil)
	return r.questionPage(q, 0), err
}

// askAgain asks a reader whose limit the story does not have.
func (r *request) askAgain() (*page, error) {
	unknown, kept := r.limit.point, !r.limit.explicit
	r.limit = limit{}
	q, err := r.question(nil)
	if err != nil {
		return nil, err
	}
	q.Unknown, q.Kept, q.Back = unknown, kept, r.URL.Path
	return r.questionPage(q, http.StatusBadRequest), nil
}

// showWhere asks a reader to change the limit.
func showWhere(r *request) (*page, error) {
	q, err := r.question(r.view)
	if err != nil {
		return nil, err
	}
	q.Here, err = r.placeLabel()
	return r.questionPage(q, 0), err
}

func (r *request) questionPage(q *question, status int) *page {
	return &page{template: "where", Title: "How far have you read?", status: status, Section: "where", Data: q}
}

// back returns the page to show after the answer: the one that was asked for.
func (r *request) back() string {
	asking := strings.HasSuffix(r.URL.Path, "/where") || strings.HasSuffix(r.URL.Path, "/share")
	switch back := localURL(r.URL.Query().Get("back")); {
	case asking && back != nil:
		return back.String()
	case asking || r.Method != http.MethodGet:
		return r.Link()
	}
	here := *r.URL
	values := here.Query()
	if !values.Has(editedName) {
		return here.RequestURI()
	}
	values.Del(editedName)
	values.Del(editedRow)
	here.RawQuery = values.Encode()
	return here.RequestURI()
}

// question returns what a reader is asked. What the reader knows is nil before the first answer.
func (r *request) question(known *codexView) (*question, error) {
	ctx := r.Context()
	q := &question{Back: r.back(), Action: r.Link("limit"), Begin: r.Link(), Bounded: r.db.bounded()}
	all, err := r.db.all().Chapters(ctx)
	if err != nil || len(all) == 0 {
		return q, err
	}
	chosen := chapterNamed(all, r.URL.Query().Get("chapter"))
	if len(all) == 1 {
		chosen = 0
	}
	shown := chosen
	if q.Begun = true; chosen < 0 {
		isHere := func(c view.Chapter) bool { return c.First <= r.limit.moment.Scene && r.limit.moment.Scene <= c.Last }
		shown = slices.IndexFunc(all, isHere)
	}
	if known != nil && !r.limit.Limited() && len(all) <= maxListed {
		for i := range all {
			q.Chapters = append(q.Chapters, choice{Name: rankName(i), Label: chapterLabel(i+1, all[i].Title)})
		}
		q.Selected = rankName(shown)
	} else if shown >= 0 {
		q.Selected = cmp.Or(r.URL.Query().Get("chapter"), all.Name(shown))
	}
	if chosen < 0 {
		return q, nil
	}
	if known != nil {
		titles, err := known.Titles(ctx)
		if err != nil {
			return nil, err
		}
		q.Chapter = titles[all[chosen].ID]
	}
	q.Scenes, err = r.sceneChoices(ctx, all[chosen].ID)
	return q, err
}

// chapterNamed returns the index of the only chapter with a name; -1 if there is none, or several.
func chapterNamed(all view.Chapters, name string) int {
	if found := all.Find(strings.TrimSpace(name)); len(found) == 1 {
		return found[0]
	}
	return -1
}

// rankName is the name of a chapter by its index.
func rankName(i int) string { return "#" + strconv.Itoa(i+1) }

// endOfChapter returns the limit at the end of a chapter that a form names. The error tells of no chapter.
func (r *request) endOfChapter(name string) (string, error) {
	all, err := r.db.all().Chapters(r.Context())
	if err != nil {
		return "", err
	}
	i := chapterNamed(all, name)
	if i < 0 {
		return "", annotator.Errorf(annotator.Misused, "no chapter alone has the name %q", name).
			WithAdvice("write its number, 2.3 for the third of part two, #20 for the twentieth of all, or its title")
	}
	return view.Point{Kind: view.PointScene, ID: int64(all[i].Last)}.String(), nil
}

// sceneChoices lists the scenes of a chapter that can be the limit.
func (r *request) sceneChoices(ctx context.Context, thread int64) (list []choice, err error) {
	scenes, err := r.db.all().ScenesFrom(ctx, thread, 0, maxListed)
	for i := range scenes {
		point := fmt.Sprintf("%s:%d", view.PointScene, scenes[i].N)
		if _, _, err := r.moment(point); err == nil {
			list = append(list, choice{"", groupDigits(scenes[i].N), point})
		}
	}
	return list, err
}

// chapterLabel names a chapter of the story: by its title, or by its number alone where the title is not known.
func chapterLabel(number int, title string) string {
	if title == "" {
		return fmt.Sprintf("Chapter %s", groupDigits(number))
	}
	return title
}

// placeLabel says how far the reader has read: "Chapter V, scene 14".
func (r *request) placeLabel() (string, error) {
	if !r.limit.Limited() {
		return "the end", nil
	}
	n := r.limit.moment.Scene
	if n == 0 {
		return "the beginning", nil
	}
	scene, err := r.view.Scene(r.Context(), n)
	if err != nil {
		return "", err
	}
	return sceneLabel(scene), nil
}

// sceneLabel names a scene: "Chapter XVIII, scene 60".
func sceneLabel(s *annotator.SceneRow) string {
	if s.Thread.Title == "" {
		return "scene " + groupDigits(s.N)
	}
	return shorten(view.ChapterLabel(&s.Thread), 60) + ", scene " + groupDigits(s.N)
}

// readOn is the way on from the limit.
type readOn struct {
	Action string
	Back   string // the text that comes next
	Part   string // the limit at the end of the chapter, or of its next scene if more would be too long
	Scene  string // the limit at the end of the next scene; empty if that is Part
	Begins bool   // it is the beginning of the story
}

// maxPart is the number of words of a part of a long chapter.
const maxPart = 10_000

// ReadOn returns the way on from the limit of the page; nil without one, and at the end of what the server shows.
func (p *page) ReadOn() (*readOn, error) {
	if !p.limit.Limited() || p.view == nil {
		return nil, nil
	}
	ctx := p.Context()
	first, last, err := p.view.Next(ctx)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	on := &readOn{Action: p.Link("limit"), Begins: p.limit.moment.Scene == 0}
	scene := view.Point{Kind: view.PointScene, ID: int64(first.N)}
	if _, err := p.db.all().LimitAt(ctx, scene); err != nil {
		return nil, cannotRead(err)
	}
	on.Back, on.Part = p.Link("scene", first.N), scene.String()
	end := view.Point{Kind: view.PointScene, ID: int64(last.N)}
	words, err := p.db.words(ctx, first, last)
	if _, within := p.db.all().LimitAt(ctx, end); within == nil && err == nil && first.N != last.N && words <= maxPart {
		on.Part, on.Scene = end.String(), on.Part
	}
	return on, err
}

// cannotRead removes the error of a point that comes after the server's limit.
func cannotRead(err error) error {
	if isNotFound(err) {
		return nil
	}
	return err
}

// words counts the words from one scene to another of the same chapter.
func (d *servedDatabase) words(ctx context.Context, first, last *annotator.SceneRow) (n int, err error) {
	const most = 64 // scenes; more have too many words in any case
	scenes, err := d.DB.Scenes.After(ctx, first.Order-1, last.Order, most+1)
	if len(scenes) > most {
		return maxPart + 1, err
	}
	for i := range scenes {
		n += scenes[i].Words
	}
	return n, err
}

// Place says in the header how far the reader has read: the chapter, and the scene or what stands for it.
func (p *page) Place() (place struct{ Chapter, Scene string }, err error) {
	n := p.limit.moment.Scene
	switch {
	case !p.limit.Limited():
		place.Scene = "the end"
	case n == 0:
		place.Scene = "not begun"
	default:
		var scene *annotator.SceneRow
		if scene, err = p.view.Scene(p.Context(), n); err == nil {
			place.Scene = "scene " + groupDigits(n)
			if scene.Thread.Title != "" {
				place.Chapter, err = p.withoutTitle(view.ChapterLabel(&scene.Thread))
			}
		}
	}
	return place, err
}

// withoutTitle returns a chapter's name without the title of the story before it, as threads of a forum have it.
func (p *page) withoutTitle(chapter string) (string, error) {
	title, err := p.StoryTitle()
	if rest, found := strings.CutPrefix(chapter, title); found && codex.HasWord(rest) {
		chapter = strings.TrimLeftFunc(rest, func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune(":,-–—", r)
		})
	}
	return chapter, err
}

// AskedFrom returns the page that asks how far the reader has read, and then returns to this one.
func (p *page) AskedFrom() string {
	return p.Link("where", "?", "back", p.back())
}

// isModel reports whether a server's model made the codex. Summaries of the offline model are not worth reading.
func isModel(run *storage.RunStatus) bool { return run.Endpoint != "offline" }

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

// question asks how far a reader has read. It shows nothing of the story that the reader has not read: chapters after
// the reader's limit have numbers only.
type question struct {
	Unknown  string // a limit that the story does not have; empty: none
	Kept     bool   // this browser remembers it
	Here     string // how far the reader has read; empty: not known
	Back     string // the page to show then
	Begin    string // the page to show to a reader who has not begun
	Action   string
	Chapters []choice
	Selected int  // the number of the chapter that the list shows; 0: none
	Many     bool // there are too many chapters for a list
	Scenes   []choice
	Chapter  string // whose scenes those are
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

// question lists the chapters up to the server's limit, with the titles of those that are known to the reader.
func (r *request) question(known *codexView) (*question, error) {
	ctx := r.Context()
	q := &question{Back: r.back(), Action: r.Link("limit"), Begin: r.Link(), Bounded: r.db.bounded()}
	all, err := r.db.all().Chapters(ctx)
	if err != nil {
		return nil, err
	}
	var titles map[int64]string
	if known != nil {
		if titles, err = known.Titles(ctx); err != nil {
			return nil, err
		}
	}
	chosen := r.queryNumber("chapter")
	if chosen == 0 && len(all) == 1 {
		chosen = 1
	}
	q.Selected = int(chosen)
	q.Many = len(all) > maxListed
	for i := range all {
		t := &all[i]
		label := cmp.Or(titles[t.ID], unknownLabel(all, i))
		if n := r.limit.moment.Scene; chosen == 0 && t.First <= n && n <= t.Last {
			q.Selected = i + 1
		}
		if !q.Many {
			end := fmt.Sprintf("%s:%d", view.PointThread, t.ID)
			q.Chapters = append(q.Chapters, choice{strconv.Itoa(i + 1), label, end})
		}
		if int64(i+1) == chosen {
			q.Chapter = label
			if q.Scenes, err = r.sceneChoices(ctx, t.ID); err != nil {
				return nil, err
			}
		}
	}
	if r.db.bounded() { // the last chapter may be within the limit in part
		q.Chapters = slices.DeleteFunc(q.Chapters, func(c choice) bool {
			_, _, err := r.moment(c.URL)
			return err != nil
		})
	}
	return q, nil
}

// endOfChapter returns the limit at the end of a chapter, which a form names by its number in the story.
func (r *request) endOfChapter(number string) (string, error) {
	threads, err := r.db.all().Threads(r.Context())
	n, invalid := strconv.Atoi(number)
	if err == nil && (invalid != nil || n < 1 || n > len(threads)) {
		err = annotator.Errorf(annotator.Misused, "the story has no chapter %q", number)
	}
	if err != nil {
		return "", err
	}
	return view.Point{Kind: view.PointScene, ID: int64(threads[n-1].Last)}.String(), nil
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

// unknownLabel names a chapter by numbers alone, because its title may tell of what a reader does not know yet.
func unknownLabel(all view.Chapters, i int) string {
	if name := all.Name(i); '0' <= name[0] && name[0] <= '9' {
		return "Chapter " + name
	}
	return ordinal(i+1) + " chapter"
}

// ordinal writes the rank of something in a list: "1st", "12th".
func ordinal(n int) string {
	ending := "th"
	if tens := n / 10 % 10; tens != 1 && n%10 >= 1 && n%10 <= 3 {
		ending = [...]string{"st", "nd", "rd"}[n%10-1]
	}
	return groupDigits(n) + ending
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

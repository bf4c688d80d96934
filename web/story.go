package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"annotator"
	"annotator/view"
)

// storyPage is the list of the threads.
type storyPage struct {
	part
	Threads []view.ThreadSpan
}

// listSize is the number of threads or scenes on a page of a list.
const listSize = 200

func showStory(r *request) (*page, error) {
	all, err := r.view.Threads(r.Context())
	if err != nil {
		return nil, err
	}
	s := &storyPage{part: r.part(len(all), listSize)}
	s.Threads = all[s.From:s.To]
	return &page{template: "story", Title: "Story", Section: "story", Data: s}, nil
}

// threadPage is a thread with its scenes.
type threadPage struct {
	view.ThreadSpan
	part
	Scenes  []annotator.SceneRow
	Summary *annotator.Episode // nil if there is none
}

func showThread(r *request) (*page, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, notFound()
	}
	ctx := r.Context()
	t := &threadPage{}
	if t.ThreadSpan, err = r.view.Thread(ctx, id); err != nil {
		return nil, err
	}
	scenes, err := r.view.CountScenes(ctx, id)
	if err != nil {
		return nil, err
	}
	t.part = r.part(scenes, listSize)
	if t.Scenes, err = r.view.ScenesFrom(ctx, id, t.From, listSize); err != nil {
		return nil, err
	}
	t.Summary, err = r.view.SummaryOf(ctx, id)
	return &page{template: "thread", Title: cmp.Or(t.Title, fmt.Sprintf("Thread %d", id)), Section: "story", Data: t},
		err
}

// scenePage is the page of a scene.
type scenePage struct {
	*annotator.SceneRow
	Posts         []postText // nil if the corpus is missing
	Before, After int        // the neighbouring scenes within the limit; 0: none
	Density       string     // which names are links: all, first or none
}

// postText is a post of a scene.
type postText struct {
	annotator.Post
	Text []span
}

func showScene(r *request, n int64) (*page, error) {
	ctx := r.Context()
	scene, err := r.view.Scene(ctx, int(min(n, maxNumber)))
	if err != nil {
		return nil, err
	}
	shown := &scenePage{SceneRow: scene, Density: r.density()}
	if shown.Before, shown.After, err = r.view.Neighbors(ctx, scene); err != nil {
		return nil, err
	}
	if r.db.Story != nil {
		posts, err := r.db.Story.Scene(ctx, scene.Thread.ID, scene.Posts)
		if err != nil {
			return nil, err
		}
		if shown.Posts, err = r.mark(scene.Order, posts, shown.Density); err != nil {
			return nil, err
		}
	}
	title := fmt.Sprintf("Scene %d", scene.N)
	if scene.Thread.Title != "" {
		title += ": " + scene.Thread.Title
	}
	return &page{template: "scene", Title: title, Section: "story", Data: shown}, nil
}

// The choices of which names in the text of a scene are links.
const (
	namesAll   = "all"
	namesFirst = "first" // the first occurrence of each entry in the scene
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

// mark splits the posts of a scene into text, links and the quotation that the URL names: quote=POST-START-END.
func (r *request) mark(scene annotator.Order, posts []annotator.Post, density string) ([]postText, error) {
	post, start, end := quotation(r.URL.Query().Get("quote"))
	var names map[int][]namedSpan
	if density != namesNone {
		var err error
		if names, err = r.view.mentionSpans(r.Context(), scene); err != nil {
			return nil, err
		}
	}
	linker := &linker{density: density, linked: map[namedSpan]bool{}}
	shown := make([]postText, len(posts))
	for i := range posts {
		shown[i] = postText{Post: posts[i]}
		m := marker{body: []rune(posts[i].Body)}
		m.links = linker.links(m.body, names[i])
		if posts[i].ID == post {
			m.quote(start, end)
		}
		shown[i].Text = m.spans()
	}
	return shown, nil
}

// quotation reads the position of a quotation.
func quotation(text string) (post int64, start, end int) {
	parts := strings.Split(text, "-")
	if len(parts) != 3 {
		return 0, 0, 0
	}
	post, errPost := strconv.ParseInt(parts[0], 10, 64)
	start, errStart := strconv.Atoi(parts[1])
	end, errEnd := strconv.Atoi(parts[2])
	if cmp.Or(errPost, errStart, errEnd) != nil {
		return 0, 0, 0
	}
	return post, start, end
}

// showPost redirects to a post in its scene. It marks the quotation that the URL names by start and end.
func showPost(r *request) (*page, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, notFound()
	}
	at, err := r.view.PlaceOf(r.Context(), id)
	if err != nil {
		return nil, err
	}
	scene := r.view.place(at).Scene
	if err := r.view.at.Err; err != nil {
		return nil, err
	}
	parts := []any{"scene", scene, "?", "names", r.URL.Query().Get("names")}
	fragment := fmt.Sprintf("post-%d", id)
	if q := r.URL.Query(); q.Get("end") != "" {
		parts = append(parts, "quote", fmt.Sprintf("%d-%s-%s", id, q.Get("start"), q.Get("end")))
		fragment = "quote"
	}
	http.Redirect(r.w, r.Request, r.Link(append(parts, "#", fragment)...), http.StatusSeeOther)
	return nil, nil
}

package web

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"annotator"
)

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

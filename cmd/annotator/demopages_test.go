package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"annotator/corpus"
	"annotator/web"
)

// TestDemoPages reads pages of the demo under limits. What is older than the limit, and what is no more than a guess,
// is marked. A common word is no link.
func TestDemoPages(t *testing.T) {
	t.Parallel()
	db := openDemo(t)
	story, err := corpus.Open(t.Context(), filepath.Join(filepath.Dir(db.Path()), demoCorpus))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = story.Close() })
	server, err := web.New(web.Options{
		Databases: []web.Database{{Name: "demo", DB: db, Story: story}}, Now: time.Now,
		Log: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	page := func(path string) string {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/demo/"+path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d: %.300s", path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	get := func(path string) string {
		tags := regexp.MustCompile(`<[^>]*>`)
		return strings.ReplaceAll(tags.ReplaceAllString(page(path), ""), "&nbsp;", " ")
	}
	hasInOrder(t, get("?as-of=scene:60"), "The story until scene 52", "A guess: The pot of emberwax",
		"According to Orrin Vane: Long Wick Night")
	_, events, _ := strings.Cut(get("entry/35?as-of=scene:40"), "Events")
	events, _, _ = strings.Cut(events, "What the story tells")
	if !strings.Contains(events, "bargain with the Ferryman") || strings.Contains(events, "Snuffing") {
		t.Errorf("the events of the Ferryman are %s; that the Snuffing is one is a guess", events)
	}
	hasInOrder(t, get("entry/35?as-of=scene:60"), "Relations", "seems to be", "a guess")
	text := page("chapter/12045?as-of=all&names=all")
	hasInOrder(t, text, ">Mik</a>", "the Captain")
	if strings.Contains(text, ">Captain</a>") {
		t.Error("a captain is taken for Captain Marrow")
	}
}

package main

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"annotator/web"
)

// TestDemoPages reads pages of the demo under limits. What is older than the limit, and what is no more than a guess,
// is marked.
func TestDemoPages(t *testing.T) {
	t.Parallel()
	server, err := web.New(web.Options{
		Databases: []web.Database{{Name: "demo", DB: openDemo(t)}}, Now: time.Now,
		Log: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) string {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/demo/"+path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d: %.300s", path, w.Code, w.Body)
		}
		tags := regexp.MustCompile(`<[^>]*>`)
		return strings.ReplaceAll(tags.ReplaceAllString(w.Body.String(), ""), "&nbsp;", " ")
	}
	hasInOrder(t, get("?as-of=scene:60"), "The story until scene 52", "A guess: The pot of emberwax",
		"According to Orrin Vane: Long Wick Night")
	_, events, _ := strings.Cut(get("entry/35?as-of=scene:40"), "Events")
	events, _, _ = strings.Cut(events, "What the story tells")
	if !strings.Contains(events, "bargain with the Ferryman") || strings.Contains(events, "Snuffing") {
		t.Errorf("the events of the Ferryman are %s; that the Snuffing is one is a guess", events)
	}
	hasInOrder(t, get("entry/35?as-of=scene:60"), "Relations", "seems to be", "a guess")
}

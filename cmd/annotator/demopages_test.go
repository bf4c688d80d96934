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
	hasInOrder(t, get("?as-of=scene:60"), "The story until scene 52")
}

package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"annotator/view"
	"annotator/web"
)

// everyPage returns an address of each pattern, for items up to scene 4.
func (s *site) everyPage() []string {
	s.Helper()
	first, err := s.db.Scenes.Get(s.Context(), 1)
	if err != nil {
		s.Fatal(err)
	}
	return []string{
		"/lanterns/", "/lanterns/entries", "/lanterns/entries?q=lamp", "/lanterns/entry/1",
		"/lanterns/entry/1?format=json", "/lanterns/entry/1/history",
		"/lanterns/entry/1/claim/1", "/lanterns/entry/1/named", "/lanterns/revision/1", "/lanterns/cast",
		"/lanterns/timeline", "/lanterns/standing",
		"/lanterns/names", "/lanterns/names?sort=weight", "/lanterns/names?sort=first",
		"/lanterns/story", fmt.Sprintf("/lanterns/chapter/%d", first.Thread.ID), "/lanterns/scene/1",
		"/lanterns/run", "/lanterns/where", "/lanterns/entry/1/mentions", "/lanterns/entry/1/card?at=2",
		"/lanterns/entries?begins=la&format=json", "/lanterns/entries?sort=first", "/lanterns/entries?letter=l",
		"/lanterns/snapshots", "/lanterns/snapshot/1", "/lanterns/plots", "/lanterns/audit", "/lanterns/turn/1",
		"/lanterns/row/1", "/lanterns/live",
	}
}

// with appends to the query of an address.
func with(path, query string) string {
	if strings.Contains(path, "?") {
		return path + "&" + query
	}
	return path + "?" + query
}

// TestUnclearLimitShowsNothing: an address with an unclear limit shows nothing of the story.
func TestUnclearLimitShowsNothing(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	unreadable := []string{
		"as-of=scene:3;x=1", "x=1;as-of=scene:3", "as-of=scene:3%", "as-of=scene:3%zz", "x=%&as-of=scene:3",
		"as-of=scene:3&as-of=all", "as-of=all&as-of=scene:3",
		"as-of=scene:3&as-of=scene:3", "AS-OF=scene:3", "as_of=scene:3", "asof=3", "as-of[]=scene:3",
		"as-of%00=scene:3", "as-of=scene", "as-of=scene:0", "as-of=scene:-1",
		"as-of=scene:99999", "as-of=ALL", "as-of=%20", "as-of=scene:3%00", "as-of=scene:3,4", "as-of=thread:",
		"as-of=snapshot:99999", "as-of=none",
	}
	for _, query := range unreadable {
		for _, path := range s.everyPage() {
			got := s.get(with(path, query))
			if got.StatusCode != http.StatusBadRequest || strings.Contains(got.body, `role="search"`) {
				t.Errorf("%s: status %d, %.300s", with(path, query), got.StatusCode, got.body)
			}
		}
		form := s.do(s.request(http.MethodPost, "/lanterns/snapshot/1?"+query, url.Values{"question": {"Who?"}}))
		if form.StatusCode != http.StatusBadRequest {
			t.Errorf("a question under %s: status %d", query, form.StatusCode)
		}
		if got := s.redirected("/?"+query, ""); got.StatusCode != http.StatusBadRequest {
			t.Errorf("/?%s ends with status %d at %s", query, got.StatusCode, got.Request.URL)
		}
	}
	for _, form := range []string{
		"as-of=scene:3;x&scene=9&step=0", "as-of=scene:3%&scene=9&step=0",
		"as-of=ALL&scene=9", "chapter=0", "chapter=x", "as-of=scene:9;&chapter=1", "",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/lanterns/limit",
			strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if got := s.do(r); got.StatusCode != http.StatusBadRequest || len(got.Cookies()) > 0 {
			t.Errorf("the form %q: status %d, cookies %v", form, got.StatusCode, got.Cookies())
		}
	}
}

// redirected gets a page with a remembered limit, and follows all redirects.
func (s *site) redirected(path, remembered string) response {
	s.Helper()
	for range 5 {
		r := s.request(http.MethodGet, path, nil)
		if remembered != "" {
			r.AddCookie(&http.Cookie{Name: "as-of", Value: remembered})
		}
		got := s.do(r)
		if path = got.Header.Get("Location"); path == "" {
			return got
		}
	}
	s.Fatalf("too many redirects, at last to %s", path)
	return response{}
}

// TestLimitIsKept: redirects keep the limit, and an empty limit in the address does not replace the remembered one.
func TestLimitIsKept(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for _, c := range []struct{ path, remembered, says string }{
		{"/?as-of=scene:4", "", "scene 4" + inPlace},
		{"/?as-of=4", "", "scene 4" + inPlace},
		{"/?as-of=scene:4", "scene:9", "scene 4" + inPlace},
		{"/?as-of=", "scene:9", "scene 9" + inPlace},
		{"/?as-of=all", "scene:9", "the end" + inPlace},
		{"/lanterns/?as-of=scene:4", "", "scene 4" + inPlace},
		{"/lanterns/story?as-of=", "scene:9", "scene 9" + inPlace},
		{"/lanterns/story?as-of", "scene:9", "scene 9" + inPlace},
		{"/lanterns/story?as-of=", "", "How far have you read?"},
		{"/lanterns//story?as-of=scene:4", "", "scene 4" + inPlace},
		{"/lanterns/../lanterns/story?as-of=scene:4", "", "scene 4" + inPlace},
	} {
		if got := s.redirected(c.path, c.remembered); got.StatusCode != http.StatusOK ||
			!strings.Contains(got.body, c.says) {
			t.Errorf("%s with %q remembered: status %d, without %q", c.path, c.remembered, got.StatusCode, c.says)
		}
	}
	if got := s.redirected("/lanterns?as-of=scene:4", ""); got.StatusCode == http.StatusOK &&
		!strings.Contains(got.body, "scene 4"+inPlace) {
		t.Error("/lanterns loses the limit")
	}
	databaseList := open(t,
		func(o *web.Options) { o.Unreadable = []web.Unreadable{{File: "other.db", Err: errors.New("broken")}} })
	databaseList.want("/?as-of=scene:4", http.StatusOK, `href="/lanterns/?as-of=scene%3A4"`)
	secret := open(t, func(o *web.Options) { o.Token = "0123456789abcdef" })
	got := secret.do(secret.request(http.MethodPost, "/lanterns/limit?as-of=scene%3A4", url.Values{"scene": {"9"}}))
	if !strings.Contains(got.body, `value="/?as-of=scene%3A4"`) {
		t.Errorf("who signs in loses the limit: %s", got.body)
	}
}

// TestServersLimitCannotBeRaised sets limits by addresses, cookies and forms on a server with a limit. No page shows
// anything after it.
func TestServersLimitCannotBeRaised(t *testing.T) {
	t.Parallel()
	for _, ceiling := range []string{"scene:6", "thread", "post", "snapshot:6"} {
		t.Run(ceiling, func(t *testing.T) {
			t.Parallel()
			var at view.Moment
			s := open(t, func(o *web.Options) {
				o.Asker = &asker{answer: "Nobody knows. [post 99]"}
				o.Unreadable = []web.Unreadable{{File: "other.db", Err: errors.New("broken")}}
				db := o.Databases[0].DB
				scene, err := db.Scenes.Get(t.Context(), 6)
				if err != nil {
					t.Fatal(err)
				}
				switch ceiling {
				case "post":
					ceiling = fmt.Sprintf("post:%d", scene.Posts[0])
				case "thread":
					ceiling = fmt.Sprintf("thread:%d", scene.Thread.ID)
				}
				point, err := view.ParsePoint(ceiling)
				if err != nil {
					t.Fatal(err)
				}
				if at, err = view.LimitAt(t.Context(), db, point); err != nil {
					t.Fatal(err)
				}
				o.Databases[0].Limit, o.Databases[0].Point = at, point
			})
			last := at.Scene
			l := laterThan(s, last)
			run, err := s.db.Run.Status(t.Context())
			if err != nil || len(l.texts) < 50 || last >= run.Corpus.Scenes {
				t.Fatalf("only %d texts are later than scene %d; %v", len(l.texts), last, err)
			}
			paths := append([]string{"/"}, s.everyPage()...)
			for _, path := range beyond(s, last) {
				base, query, _ := strings.Cut(path, "?")
				paths = append(paths, strings.TrimSuffix(base+"?"+strings.ReplaceAll(query,
					fmt.Sprintf("as-of=scene:%d", last), ""), "?"))
			}
			later := []string{
				"", "all", fmt.Sprintf("scene:%d", last+1), fmt.Sprintf("scene:%d", run.Corpus.Scenes),
				"snapshot:30", "thread:3", "99999",
			}
			for i, path := range paths {
				if strings.HasSuffix(path, "/live") {
					continue
				}
				for k, point := range later {
					if i >= len(s.everyPage()) && k != i%len(later) {
						continue
					}
					for _, r := range []*http.Request{
						s.request(http.MethodGet, with(path, "as-of="+point), nil),
						s.request(http.MethodGet, path, nil),
					} {
						r.AddCookie(&http.Cookie{Name: "as-of", Value: point})
						got := s.do(r)
						if got.StatusCode >= 500 {
							t.Fatalf("%s with %q: status %d", path, point, got.StatusCode)
						}
						body := strings.ReplaceAll(unescape(got.body), r.URL.Query().Get("q"), "")
						if text := l.found(body); text != "" {
							t.Fatalf("%s with %q shows %q", path, point, text)
						}
						for _, tells := range []string{
							"the end" + inPlace, "Verify now",
							fmt.Sprintf(">%d scenes", run.Corpus.Scenes), fmt.Sprintf(`max="%d"`, run.Corpus.Scenes),
						} {
							if strings.Contains(got.body, tells) {
								t.Errorf("%s with %q has %q", path, point, tells)
							}
						}
					}
				}
			}
			for _, point := range later[1:] {
				got := s.do(s.request(http.MethodPost, "/lanterns/limit",
					url.Values{"as-of": {point}, "back": {"/lanterns/story"}}))
				if to := got.Header.Get("Location"); point == "all" && to != "/lanterns/story?as-of=all" ||
					point != "all" &&
						got.StatusCode < 400 {
					t.Errorf("the form takes %s: status %d, to %q", point, got.StatusCode, to)
				}
			}
			if got := s.do(s.request(http.MethodPost, "/lanterns/verify", nil)); got.StatusCode != http.StatusNotFound {
				t.Errorf("verification: status %d", got.StatusCode)
			}
			if got := s.do(s.request(http.MethodPost, "/lanterns/snapshot/30?as-of=all",
				url.Values{"question": {"Who?"}})); got.StatusCode != http.StatusNotFound {
				t.Errorf("a later snapshot is asked: status %d", got.StatusCode)
			}
			for _, query := range []string{"", "?as-of=all"} {
				events, stop := s.stream("/lanterns/live"+query, "")
				for events.Scan() && !strings.Contains(events.Text(), "event: state") {
					continue
				}
				for events.Scan() && events.Text() != "" {
					if text := l.found(events.Text()); text != "" {
						t.Errorf("a live page shows %q", text)
					}
				}
				stop()
			}
		})
	}
}

// TestUnderTheServersLimit: an earlier limit of a reader applies, and the page shows the server's.
func TestUnderTheServersLimit(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *web.Options) {
		o.Databases[0].Point = view.Point{Kind: view.PointScene, ID: 9}
		var err error
		if o.Databases[0].Limit, err = view.LimitAt(context.Background(), o.Databases[0].DB,
			o.Databases[0].Point); err != nil {
			t.Fatal(err)
		}
	})
	s.want("/lanterns/story", http.StatusOK, "scene 9"+inPlace, "This is the limit of this server.")
	s.want("/lanterns/story?as-of=scene:9", http.StatusOK, "scene 9"+inPlace)
	s.want("/lanterns/story?as-of=scene:4", http.StatusOK, "scene 4"+inPlace,
		"Read on")
	s.want("/lanterns/where?as-of=scene:4", http.StatusOK, "Show all that this server shows")
	if body := s.want("/lanterns/story?as-of=scene:9", http.StatusOK); strings.Contains(body, "Read on") {
		t.Error("one can read on after the limit of the server")
	}
	s.want("/lanterns/story?as-of=scene:10", http.StatusBadRequest,
		"is no point of this story up to the limit of this server")
	s.want("/lanterns/scene/10", http.StatusNotFound)
}

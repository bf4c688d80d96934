package web_test

import (
	"bufio"
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"annotator"
)

// events reads server-sent events until one of them contains a text, and returns the id of that one.
func events(t *testing.T, body *bufio.Scanner, text string) (id string) {
	t.Helper()
	var event strings.Builder
	for body.Scan() {
		line := body.Text()
		if value, ok := strings.CutPrefix(line, "id: "); ok {
			id = value
		}
		event.WriteString(line + "\n")
		if line == "" {
			if strings.Contains(event.String(), text) {
				return id
			}
			event.Reset()
		}
	}
	t.Fatalf("the events ended (%v) before %q", body.Err(), text)
	return ""
}

func (s *site) stream(path, last string) (*bufio.Scanner, func()) {
	s.Helper()
	r := s.request(http.MethodGet, path, nil)
	r.AddCookie(&http.Cookie{Name: "as-of", Value: "all"})
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	got, err := s.client.Do(r.WithContext(ctx))
	if err != nil {
		s.Fatal(err)
	}
	if kind := got.Header.Get("Content-Type"); kind != "text/event-stream" {
		s.Fatalf("%s is %s", path, kind)
	}
	lines := bufio.NewScanner(got.Body)
	lines.Buffer(nil, 1<<20)
	return lines, func() { cancel(); _ = got.Body.Close() }
}

// TestLivePageKeepsTheLimit reads events of a run from its beginning to its end, with and without a limit, while
// another client does not read. Under the limit, no event has a later scene.
func TestLivePageKeepsTheLimit(t *testing.T) {
	t.Parallel()
	if err := runSample(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "live.annotator.db")
	started, goOn, done := make(chan bool), make(chan bool), make(chan error, 1)
	go func() {
		done <- annotate(context.Background(), path, func(scene int) {
			if scene == 2 {
				close(started)
				<-goOn
			}
		})
	}()
	<-started
	s := serve(t, path, nil)
	_, stop := s.stream("/lanterns/live", "") // reads nothing
	defer stop()
	all, stop := s.stream("/lanterns/live", "")
	defer stop()
	limited, stop := s.stream(under("/lanterns/live", 5), "")
	defer stop()
	events(t, all, "A run goes on.")
	events(t, limited, "A run goes on.")
	close(goOn)
	if err := <-done; err != nil && annotator.KindOf(err) != annotator.Quarantined {
		t.Fatal(err)
	}
	last := events(t, all, "The story is read to its end.")
	l := laterThan(s, 5)
	for limited.Scan() {
		line := limited.Text()
		if text := l.found(line); text != "" {
			t.Fatalf("an event under scene 5 tells %q", text)
		}
		if strings.Contains(line, "All scenes up to your limit are read.") {
			break
		}
	}
	again, stop := s.stream("/lanterns/live", last)
	defer stop()
	if again.Scan(); strings.HasPrefix(again.Text(), "id:") {
		t.Error("a page that has the newest state is sent it again")
	}
}

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
	"annotator/web"
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

// TestLive watches a run from its beginning to its end, with and without a limit, while another page reads nothing. Under
// the limit, no event tells of a later scene.
func TestLive(t *testing.T) {
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

// BenchmarkRunBesideReaders runs the sample alone, and beside 50 readers of pages and live pages, of which one never
// reads.
func BenchmarkRunBesideReaders(b *testing.B) {
	if err := runSample(); err != nil {
		b.Fatal(err)
	}
	for _, readers := range []int{0, 50} {
		b.Run(map[int]string{0: "alone", 50: "50 readers"}[readers], func(b *testing.B) {
			for b.Loop() {
				runBeside(b, readers)
			}
		})
	}
}

// runBeside runs the sample while so many readers have a live page open and open another page each second.
func runBeside(b *testing.B, readers int) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "beside.annotator.db")
	started, goOn, done := make(chan bool), make(chan bool), make(chan error, 1)
	b.StopTimer()
	go func() {
		done <- annotate(context.Background(), path, func(scene int) {
			if scene == 1 {
				close(started)
				<-goOn
			}
		})
	}()
	<-started
	s := serve(b, path, func(o *web.Options) { o.Poll = time.Second })
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	for n := range readers {
		go read(ctx, s, n > 0)
	}
	b.StartTimer()
	close(goOn)
	if err := <-done; err != nil && annotator.KindOf(err) != annotator.Quarantined {
		b.Fatal(err)
	}
}

// read keeps a live page open, and opens a page each second.
func read(ctx context.Context, s *site, reads bool) {
	r := s.request(http.MethodGet, "/lanterns/live", nil).WithContext(ctx)
	live, err := s.client.Do(r)
	if err != nil {
		return
	}
	defer func() { _ = live.Body.Close() }()
	if !reads {
		<-ctx.Done()
		return
	}
	go func() {
		for lines := bufio.NewScanner(live.Body); lines.Scan(); {
		}
	}()
	for ctx.Err() == nil {
		if got, err := s.client.Do(s.request(http.MethodGet, "/lanterns/entries", nil).WithContext(ctx)); err == nil {
			_ = got.Body.Close()
		}
		time.Sleep(time.Second)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"annotator/fleet/store"
)

// fault is what happens to a request on its way.
type fault string

// The faults. A request is delivered although its sender does not wait any longer.
const (
	unavailable  fault = "answered with 503"
	unheard      fault = "answered with 503 after it was done"
	closed       fault = "lost with the connection"
	closedAfter  fault = "done, and the connection closed"
	late         fault = "late"
	lateAnswer   fault = "done, and answered late"
	twice        fault = "done twice, with the second answer"
	againLater   fault = "done again later"
	wrongByClock fault = "refused because of its sender's clock"
)

var faults = []fault{unavailable, unheard, closed, closedAfter, late, lateAnswer, twice, againLater}

// network is between workers and the store. It checks each manifest that the store accepts.
type network struct {
	t     *testing.T
	store http.Handler
	later sync.WaitGroup

	sync.Mutex
	percent   int // of requests that a fault meets
	random    *rand.Rand
	turn      int // of the faults
	seen      map[fault]int
	manifests map[string]store.Manifest
	written   map[string]bool // copies
}

func newNetwork(t *testing.T, s *server) *network {
	t.Helper()
	n := &network{
		t: t, store: s.handler, percent: 20, random: rand.New(rand.NewPCG(1, 2)), seen: map[fault]int{},
		manifests: map[string]store.Manifest{}, written: map[string]bool{},
	}
	t.Cleanup(n.later.Wait)
	return n
}

// link is the way of one process, whose wall clock is ahead. It meets other clocks only in what it sends and gets.
type link struct {
	*network
	ahead time.Duration
}

// open returns the address of a link.
func (n *network) open(ahead time.Duration) (url string) {
	listener := httptest.NewServer(&link{n, ahead})
	n.t.Cleanup(listener.Close)
	return listener.URL
}

// draw returns what happens to a request, and for how long it or its answer is late. That is longer than it takes until
// a lease is renewed, and now and then longer than the lease.
func (n *network) draw(method string) (fault, time.Duration) {
	n.Lock()
	defer n.Unlock()
	wait := ttl/3 + time.Duration(n.random.Int64N(int64(ttl*3/4)))
	f := faults[n.turn%len(faults)]
	if n.random.IntN(100) >= n.percent || method != http.MethodPut && (f == twice || f == againLater) {
		return "", 0
	}
	n.turn++
	n.seen[f]++
	return f, wait
}

func (l *link) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.Header().Set("Date", time.Now().UTC().Add(-l.ahead).Format(http.TimeFormat))
	f, wait := l.draw(r.Method)
	switch f {
	case unavailable:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case closed:
		panic(http.ErrAbortHandler)
	case late:
		time.Sleep(wait)
	}
	answer := l.deliver(r, body)
	switch f {
	case unheard:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case closedAfter:
		panic(http.ErrAbortHandler)
	case lateAnswer:
		time.Sleep(wait)
	case twice:
		answer = l.deliver(r, body)
	case againLater:
		l.later.Go(func() {
			time.Sleep(wait)
			l.deliver(r, body)
		})
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// deliver hands a request to the store, in the time of the store, and returns the answer, in that of the sender.
func (l *link) deliver(r *http.Request, body []byte) *httptest.ResponseRecorder {
	l.Lock()
	defer l.Unlock()
	r = r.Clone(context.WithoutCancel(r.Context()))
	shiftHeader(r.Header, "X-Amz-Date", "20060102T150405Z", l.ahead)
	body = shiftTimes(body, l.ahead)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer := httptest.NewRecorder()
	l.store.ServeHTTP(answer, r)
	switch {
	case answer.Code == http.StatusForbidden:
		l.seen[wrongByClock]++
	case r.Method == http.MethodPut && answer.Code == http.StatusOK:
		l.accepted(strings.TrimPrefix(r.URL.Path, "/fleet/"), body)
	}
	shiftHeader(answer.Header(), "Last-Modified", http.TimeFormat, -l.ahead)
	answer.Body = bytes.NewBuffer(shiftTimes(answer.Body.Bytes(), -l.ahead))
	return answer
}

func shiftHeader(header http.Header, name, layout string, by time.Duration) {
	if at, err := time.Parse(layout, header.Get(name)); err == nil {
		header.Set(name, at.Add(by).Format(layout))
	}
}

// times are those of a manifest and of a list.
var times = regexp.MustCompile(`("expires": "|<LastModified>)([^"<]*)`)

func shiftTimes(text []byte, by time.Duration) []byte {
	return times.ReplaceAllFunc(text, func(found []byte) []byte {
		parts := times.FindSubmatch(found)
		at, err := time.Parse(time.RFC3339, string(parts[2]))
		if err != nil {
			return found
		}
		return at.Add(by).AppendFormat(parts[1], time.RFC3339)
	})
}

// accepted compares a manifest with the one that it has replaced.
func (n *network) accepted(key string, body []byte) {
	if strings.Contains(key, "/copies/") {
		n.written[key] = true
	}
	if !strings.Contains(key, "/manifests/") {
		return
	}
	var now store.Manifest
	if err := json.Unmarshal(body, &now); err != nil {
		n.t.Error(err)
	}
	before := n.manifests[key]
	n.manifests[key] = now
	fence := before.Fence
	if now.Token != before.Token {
		fence++
	}
	if now.Version != before.Version+1 || now.Fence != fence || now.Scene < before.Scene || before.State == store.Done {
		n.t.Errorf("%+v is followed by %+v", before, now)
	}
	if len(now.Abandoned) == 4 { // another time, and the story is given up for its misfortunes only
		n.percent = 0
	}
	own := strings.Contains(now.Copy, fmt.Sprintf("/fence-%06d/", now.Fence)) && n.written[now.Copy]
	if now.Copy != before.Copy && !own {
		n.t.Errorf("fence %d names %s", now.Fence, now.Copy)
	}
}

// TestBadNetwork has workers read stories through a network that loses, delays and repeats requests and answers. Their
// clocks are 48 hours apart, and 24 from the store's. Each codex is as that of an undisturbed run.
func TestBadNetwork(t *testing.T) {
	n := newNetwork(t, serve(t))
	names := []string{"one.txt", "two.txt", "three.txt"}
	if os.Getenv("ANNOTATOR_LONG") == "1" {
		names = append(names, "four.txt", "five.txt", "six.txt")
	}
	want := map[string]string{}
	for i, name := range names {
		source := story(t, name, 11+2*i)
		want[name] = undisturbed(t, source)
		if out, status := fleet(t, "store", "add", source); status != exitDone {
			t.Fatal(out)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var workers sync.WaitGroup
	folder := t.TempDir()
	for i, ahead := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		dir, url := filepath.Join(folder, fmt.Sprintf("worker%d", i)), n.open(ahead)
		workers.Go(func() {
			start := func() *exec.Cmd {
				cmd := workerCommand(dir)
				cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+url)
				return cmd
			}
			if err := manage(ctx, start, 0, nil); err != nil {
				t.Error(err)
			}
		})
	}
	workers.Wait()
	for _, name := range names {
		db := filepath.Join(t.TempDir(), "got.db")
		if out, status := fleet(t, "store", "get", name, db); status != exitDone {
			t.Fatal(out)
		}
		if got := export(t, db); got != want[name] {
			t.Errorf("%s: the codex has %d bytes, and that of an undisturbed run %d", name, len(got), len(want[name]))
		}
	}
	out, _ := fleet(t, "store", "list", "--json")
	t.Log(out)
	n.Lock()
	defer n.Unlock()
	for _, f := range append(faults, wrongByClock) {
		t.Logf("%d requests were %s", n.seen[f], f)
		if n.seen[f] == 0 {
			t.Errorf("no request was %s", f)
		}
	}
}

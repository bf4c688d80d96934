package main

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"annotator/internal/longtest"
	"annotator/internal/scripted"
)

// threeStories are in a folder of their own, with the last hash of the journal that each has when it is read alone.
type threeStories struct {
	*testing.T
	folder string
	names  []string
	alone  map[string]string
}

// newThreeStories writes three stories of a number of scenes, and reads each alone.
func newThreeStories(t *testing.T, scenes int) *threeStories {
	s := &threeStories{T: t, folder: t.TempDir(), names: []string{"alpha", "beta", "gamma"}, alone: map[string]string{}}
	server := scripted.Start(t, scripted.Options{})
	for _, name := range s.names {
		s.write(s.folder, name, scenes)
		if out, err := s.run(s.folder, name+".jsonl", "--endpoint", server.Endpoint()); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		s.alone[name] = lastHash(t, filepath.Join(s.folder, name+".annotator.db"))
	}
	return s
}

func (s *threeStories) write(folder, name string, scenes int) {
	s.Helper()
	var text bytes.Buffer
	for n := 1; n <= scenes; n++ {
		body := fmt.Sprintf("In the house of %s number %d, Captain Marrow counted %d lamps before dawn.", name, n, n)
		line, err := json.Marshal(map[string]any{
			"thread": 1 + (n-1)/4, "id": n, "title": "Part", "name": "QM", "time": 100 + n, "body": body,
			"tags": []string{"qm_post", "scene_start"},
		})
		if err != nil {
			s.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	if err := os.WriteFile(filepath.Join(folder, name+".jsonl"), text.Bytes(), 0o600); err != nil {
		s.Fatal(err)
	}
}

// fresh returns a folder with the stories only.
func (s *threeStories) fresh() string {
	folder := s.TempDir()
	for _, name := range s.names {
		text, err := os.ReadFile(filepath.Join(s.folder, name+".jsonl"))
		if err = errors.Join(err, os.WriteFile(filepath.Join(folder, name+".jsonl"), text, 0o600)); err != nil {
			s.Fatal(err)
		}
	}
	return folder
}

func (s *threeStories) run(folder string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(s.Context(), "annotator", append([]string{"run"}, args...)...)
	cmd.Dir = folder
	return cmd.CombinedOutput()
}

func (s *threeStories) all(endpoint string, args ...string) []string {
	return append([]string{"alpha.jsonl", "beta.jsonl", "gamma.jsonl", "--endpoint", endpoint}, args...)
}

// isAsAlone expects every story to have the rows that it has when it is read alone.
func (s *threeStories) isAsAlone(folder string) {
	s.Helper()
	for _, name := range s.names {
		path := filepath.Join(folder, name+".annotator.db")
		if lastHash(s, path) != s.alone[name] {
			s.Errorf("%s has another journal than alone", name)
		}
		if out, err := exec.Command("annotator", "verify", "--db", path).CombinedOutput(); err != nil {
			s.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// lastHash returns the end of the hash chain over the journal.
func lastHash(t testing.TB, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var hash []byte
	if err := db.QueryRow(`SELECT hash FROM trace ORDER BY id DESC LIMIT 1`).Scan(&hash); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return hex.EncodeToString(hash)
}

func exitOf(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// TestStoriesKilled kills a run of three stories at requests throughout it. The same command finishes all, and each has
// the rows that it has alone, however many are read at once.
func TestStoriesKilled(t *testing.T) {
	t.Parallel()
	s := newThreeStories(t, 6)
	server := scripted.New(scripted.Options{})
	var requests, last atomic.Int64
	var process atomic.Pointer[os.Process]
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && requests.Add(1) == last.Load() {
			_ = process.Load().Kill()
			panic(http.ErrAbortHandler)
		}
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(listener.Close)
	step := 14
	if longtest.Enabled() {
		step = 3
	}
	killed := 0
	for at := int64(1); ; at += int64(step) {
		folder := s.fresh()
		requests.Store(0)
		last.Store(at)
		cmd := exec.Command("annotator", append([]string{"run"}, s.all(listener.URL+"/v1", "--stories",
			fmt.Sprint(1+at%3))...)...)
		cmd.Dir = folder
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		process.Store(cmd.Process)
		err := cmd.Wait()
		if requests.Load() < at {
			if err != nil {
				t.Errorf("an undisturbed run ends with %v: %s", err, &out)
			}
			s.isAsAlone(folder)
			break
		}
		killed++
		last.Store(0)
		if out, err := s.run(folder, s.all(listener.URL+"/v1")...); err != nil {
			t.Errorf("killed at request %d, the same command ends with %v: %s", at, err, out)
			continue
		}
		s.isAsAlone(folder)
	}
	if killed < 3 {
		t.Errorf("killed only %d times", killed)
	}
}

// TestStoryHalts: a story whose requests are refused halts, and the others are read to their ends.
func TestStoryHalts(t *testing.T) {
	t.Parallel()
	s := newThreeStories(t, 4)
	refuses := atomic.Bool{}
	refuses.Store(true)
	server := scripted.Start(t, scripted.Options{Fault: func(_ int, r scripted.Request) *scripted.Fault {
		if refuses.Load() && bytes.Contains(r.Body, []byte("house of beta number 3")) {
			return &scripted.Fault{Status: http.StatusUnauthorized, Body: `{"error":{"message":"no"}}`}
		}
		return nil
	}})
	folder := s.fresh()
	out, err := s.run(folder, s.all(server.Endpoint())...)
	if exitOf(err) != exitHalted {
		t.Errorf("it ends with %v: %s", err, out)
	}
	for _, want := range []string{
		"alpha.annotator.db: 4 of 4 scenes read", "beta.annotator.db: 2 of 4 scenes read", "gamma: done",
		"1 of 3 stories: halted\n", "the same command resumes all stories\n",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it does not say %q: %s", want, out)
		}
	}
	refuses.Store(false)
	if out, err := s.run(folder, s.all(server.Endpoint())...); err != nil {
		t.Errorf("the same command ends with %v: %s", err, out)
	}
	s.isAsAlone(folder)
}

// TestStoriesInterrupted: the first signal ends each story after its scene, and no further one begins. The second ends
// the process at once. The same command resumes all.
func TestStoriesInterrupted(t *testing.T) {
	t.Parallel()
	longtest.Unix(t, "signals to another process")
	s := newThreeStories(t, 4)
	for _, signals := range []int{1, 2} {
		gate, scenes := make(chan struct{}), make(chan struct{}, 100)
		let := sync.OnceFunc(func() { close(gate) })
		server := scripted.Start(t, scripted.Options{OnRequest: func(r scripted.Request) {
			if strings.HasPrefix(r.Messages[len(r.Messages)-1].Content, "<scene ") {
				scenes <- struct{}{}
				<-gate
			}
		}})
		t.Cleanup(let)
		folder := s.fresh()
		cmd := exec.Command("annotator", append([]string{"run"}, s.all(server.Endpoint(), "--stories", "2")...)...)
		errText, err := os.Create(filepath.Join(folder, "stderr"))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &out, errText
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range 2 { // stories at their first scene
			select {
			case <-scenes:
			case <-time.After(2 * time.Minute):
				t.Fatal("no second story was begun")
			}
		}
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := awaitText(errText.Name(), "finishing the scenes at hand, then stopping"); err != nil {
			t.Fatal(err)
		}
		if signals == 2 {
			_ = cmd.Process.Signal(syscall.SIGINT)
		} else {
			let()
		}
		stuck := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); exitOf(err) != exitInterrupted {
			t.Errorf("after %d signals it ends with %v: %s", signals, err, &out)
		}
		stuck.Stop()
		_ = errText.Close()
		if signals == 1 && strings.Count(out.String(), "1 of 4 scenes read") != 2 {
			t.Errorf("not two stories have read a scene: %s", &out)
		}
		if exists(filepath.Join(folder, "gamma.annotator.db")) {
			t.Error("the third story was begun")
		}
		let()
		if out, err := s.run(folder, s.all(server.Endpoint())...); err != nil {
			t.Errorf("the same command ends with %v: %s", err, out)
		}
		s.isAsAlone(folder)
	}
}

// TestStoriesMove: of two servers, one fails for good after some requests. Its stories go on at the other.
func TestStoriesMove(t *testing.T) {
	t.Parallel()
	s := newThreeStories(t, 4)
	var servers [2]*scripted.Server
	var counts [2]atomic.Int64
	for i := range servers {
		servers[i] = scripted.Start(t, scripted.Options{Fault: func(call int, _ scripted.Request) *scripted.Fault {
			if counts[i].Add(1); i == 0 && call > 4 {
				return &scripted.Fault{Status: http.StatusBadGateway, Body: "no"}
			}
			return nil
		}})
	}
	folder := s.fresh()
	out, err := s.run(folder, s.all(servers[0].Endpoint(), "--endpoint", servers[1].Endpoint(), "--stories", "3")...)
	if err != nil || counts[0].Load() < 6 || counts[0].Load() > 12 || counts[1].Load() < 12 {
		t.Errorf("it ends with %v, after %d and %d calls: %s", err, counts[0].Load(), counts[1].Load(), out)
	}
	for _, name := range s.names {
		if out, err := exec.Command("annotator", "verify", "--db", filepath.Join(folder, name+".annotator.db")).
			CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// TestStoriesNameThemselves: a router is told one name for each story, the same in each run, that is not its title.
// What may wait says so.
func TestStoriesNameThemselves(t *testing.T) {
	t.Parallel()
	s := newThreeStories(t, 5)
	var mu sync.Mutex
	keys, low := map[string]map[string]bool{}, map[bool]int{}
	server := scripted.Start(t, scripted.Options{OnRequest: func(r scripted.Request) {
		mu.Lock()
		defer mu.Unlock()
		var body struct {
			Key      string `json:"prompt_cache_key"`
			Priority int    `json:"priority"`
		}
		_ = json.Unmarshal(r.Body, &body)
		for _, name := range s.names {
			if bytes.Contains(r.Body, []byte("house of "+name)) {
				if keys[name] == nil {
					keys[name] = map[string]bool{}
				}
				keys[name][body.Key] = true
			}
		}
		last := r.Messages[len(r.Messages)-1].Content
		if isScene := strings.HasPrefix(last, "<scene "); isScene == (body.Priority > 0) && (isScene ||
			scripted.Candidates(last) != nil) {
			t.Errorf("a request has the priority %d: %.80s", body.Priority, last)
		}
		low[body.Priority > 0]++
	}})
	folder := s.fresh()
	for _, limit := range []string{"2", "0"} {
		if out, err := s.run(folder, s.all(server.Endpoint(), "--router", "openai", "--low-priority", "--limit",
			limit)...); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	all := map[string]bool{}
	for name, of := range keys {
		for key := range of {
			all[key] = true
			if len(of) != 1 || len(key) != 24 || strings.Contains(key, name) {
				t.Errorf("%s has the names %v", name, of)
			}
		}
	}
	if len(all) != 3 || low[true] == 0 || low[false] == 0 {
		t.Errorf("names: %v; requests with and without a lower priority: %v", all, low)
	}
	s.isAsAlone(folder)
}

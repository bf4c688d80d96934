package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"annotator"
	"annotator/corpus"
	"annotator/corpus/ingest"
	"annotator/model/endpoint"
	"annotator/model/offline"
	"annotator/model/openai"
	"annotator/runner"
	"annotator/storage"
	"annotator/tools"
	"annotator/web"
)

// sampleDir has the corpus of the sample story, and the database of a run of it with the offline model.
var sampleDir string

func TestMain(m *testing.M) {
	var err error
	if sampleDir, err = os.MkdirTemp("", "web"); err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(sampleDir)
	os.Exit(status)
}

var runSample = sync.OnceValue(func() error {
	source, story := filepath.Join("..", "testdata", "lanterns", "lanterns.jsonl"), sampleStory()
	if err := importStory(context.Background(), source, story); err != nil {
		return err
	}
	return annotateStory(context.Background(), story, filepath.Join(sampleDir, "lanterns.annotator.db"), nil)
})

func sampleStory() string { return filepath.Join(sampleDir, "lanterns.corpus.db") }

// importStory makes the corpus of a story.
func importStory(ctx context.Context, source, path string) error {
	_, err := ingest.Import(ctx, ingest.Options{Sources: []string{source}, Corpus: path, SceneTokens: 2000},
		func(ingest.Progress) {})
	return err
}

// annotate runs the offline model over the sample. Before each scene it calls pause, unless that is nil.
func annotate(ctx context.Context, path string, pause func(scene int)) error {
	return annotateStory(ctx, sampleStory(), path, pause)
}

func annotateStory(ctx context.Context, from, path string, pause func(scene int)) error {
	store, err := storage.OpenWriter(ctx, path, "test", time.Now)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	story, err := corpus.Open(ctx, from)
	if err != nil {
		return err
	}
	defer func() { _ = story.Close() }()
	wire, err := openai.New(endpoint.Options{BaseURL: "http://offline/v1", HTTP: offline.New(offline.Options{})})
	if err != nil {
		return err
	}
	registry, err := tools.New(tools.Standard()...)
	if err != nil {
		return err
	}
	config := runner.Defaults()
	config.ContextBudget = 32_768 // so that there are compactions
	return runner.New(config, store, story, wire, registry, publisher(pause)).Run(ctx)
}

// publisher calls a function after each scene.
type publisher func(scene int)

func (p publisher) Publish(n annotator.Notice) {
	if p != nil && n.Kind == annotator.NoticeScene {
		p(n.Scene)
	}
}

// site is a server with one database, and a client that does not follow redirects.
type site struct {
	testing.TB
	*httptest.Server
	db     *storage.DB
	story  *corpus.DB
	client *http.Client
}

// open serves a copy of the sample.
func open(t testing.TB, change func(*web.Options)) *site {
	t.Helper()
	return serve(t, filepath.Join(sampleDir, "lanterns.annotator.db"), change)
}

func serve(t testing.TB, path string, change func(*web.Options)) *site {
	t.Helper()
	if err := runSample(); err != nil {
		t.Fatal(err)
	}
	s := &site{TB: t}
	var err error
	if s.db, err = storage.Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close() })
	if s.story, err = corpus.Open(t.Context(), sampleStory()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.story.Close() })
	options := web.Options{
		Databases: []web.Database{{Name: "lanterns", DB: s.db, Story: s.story}}, Now: time.Now,
		Poll: 10 * time.Millisecond,
		Log:  func(err error) { t.Errorf("the server reports: %v", err) },
	}
	if change != nil {
		change(&options)
	}
	server, err := web.New(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewUnstartedServer(server.Handler())
	s.Config = server.HTTP(t.Context())
	s.Start()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	s.client = &http.Client{CheckRedirect: func(*http.Request,
		[]*http.Request,
	) error {
		return http.ErrUseLastResponse
	}}
	return s
}

// response is an answer with its body.
type response struct {
	*http.Response
	body string
}

func (s *site) do(r *http.Request) response {
	s.Helper()
	got, err := s.client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		s.Fatal(err)
	}
	return response{got, string(body)}
}

func (s *site) request(method, path string, form url.Values) *http.Request {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

// get gets a page as a reader who has finished the story, unless the address has a limit.
func (s *site) get(path string) response {
	s.Helper()
	r := s.request(http.MethodGet, path, nil)
	r.AddCookie(&http.Cookie{Name: "as-of", Value: "all"})
	return s.do(r)
}

func (s *site) want(path string, status int, contains ...string) string {
	s.Helper()
	got := s.get(path)
	if got.StatusCode != status {
		s.Errorf("%s: status %d, want %d", path, got.StatusCode, status)
	}
	for _, text := range contains {
		if !strings.Contains(got.body, text) {
			s.Errorf("%s does not contain %q", path, text)
		}
	}
	return got.body
}

// entry returns the entry with a name.
func (s *site) entry(name string) *annotator.Entry {
	s.Helper()
	found, err := s.db.Glossary.Named(s.Context(), name)
	if err != nil || len(found) == 0 {
		s.Fatalf("%s is named by %d entries (%v)", name, len(found), err)
	}
	return &found[0]
}

func under(path string, scene int) string { return fmt.Sprintf("%s?as-of=scene:%d", path, scene) }

package runner_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/corpus"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/model/endpoint"
	"annotator/model/openai"
	"annotator/policy"
	"annotator/runner"
	"annotator/runner/entries"
	"annotator/storage"
	"annotator/tools"
)

var update = flag.Bool("update", false, "write the generated documents anew")

// TestMain lets the test binary be the process that crash tests kill.
func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		status := runChild(job)
		tellPeak(os.Stdout)
		os.Exit(status)
	}
	longtest.SampleCases()
	os.Exit(m.Run())
}

// stage is where a run takes place: a corpus, an endpoint, and a folder for databases.
type stage struct {
	edited bool // a test has changed rows of a database, so their digests do not hold
	t      testing.TB
	dir    string
	corpus string
	server *scripted.Server
	base   string // of the endpoint, with /v1
	config runner.Config
	bus    bus
	lines  []string // the transitions of the newest child

	transport http.RoundTripper // in place of the network; nil for the network
	noPolicy  bool              // the run has no policy of tools
	snapshots bool              // the model has the tools that ask them
}

// bus calls its subscribers at once, on the run's own goroutine, so that a test may inspect the state of the run at a
// notice.
type bus []func(annotator.Notice)

func (b *bus) Subscribe(f func(annotator.Notice)) { *b = append(*b, f) }

// Publish hands a notice to all subscribers. See runner.Publisher.
func (b *bus) Publish(n annotator.Notice) {
	for _, f := range *b {
		f(n)
	}
}

// defaults is the default configuration with the least default budget.
func defaults() runner.Config {
	c := runner.Defaults()
	c.ContextBudget = 32_768
	return c
}

// newStage makes a story and serves a model for it.
func newStage(t testing.TB, story story, options scripted.Options) *stage {
	t.Helper()
	dir := t.TempDir()
	s := &stage{t: t, dir: dir, corpus: filepath.Join(dir, "story.corpus.db"), config: defaults()}
	story.write(t, s.corpus)
	s.serve(options)
	s.config.Retry.Base = time.Millisecond
	return s
}

// withReason puts the reason of an error into its text, as a program puts advice.
func withReason(err error) error {
	for e, rest := (*annotator.Error)(nil), err; errors.As(rest, &e); rest = e.Err {
		if e.Reason != "" {
			return annotator.Errorf(annotator.KindOf(err), "%w", err).WithAdvice("%s", fmt.Sprintln(e.Reason, e.Args))
		}
	}
	return err
}

func (s *stage) serve(options scripted.Options) {
	s.server = scripted.New(options)
	listener := httptest.NewServer(s.server)
	s.t.Cleanup(listener.Close)
	s.base = listener.URL + "/v1"
	s.config.Endpoint = s.base
}

func (s *stage) db(name string) string { return filepath.Join(s.dir, name+".annotator.db") }

// run walks the story into the named database and returns how it ended.
func (s *stage) run(name string) error {
	s.t.Helper()
	r, end, err := prepare(s.job(name), &s.bus, s.transport)
	if err != nil {
		return err
	}
	defer end()
	return r.Run(context.Background())
}

func (s *stage) job(name string) job {
	return job{
		Corpus: s.corpus, DB: s.db(name), Base: s.base, Config: s.config, Snapshots: s.snapshots,
		NoPolicy: s.noPolicy,
	}
}

// runner returns a runner that the test starts by itself.
func (s *stage) runner(name string) *runner.Runner {
	s.t.Helper()
	r, end, err := prepare(s.job(name), &s.bus, s.transport)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(end)
	return r
}

// prepare opens all that a run needs; end closes it.
func prepare(j job, bus runner.Publisher, transport http.RoundTripper) (r *runner.Runner, end func(), err error) {
	ctx := context.Background()
	var open []func()
	closeAll := func() {
		for _, closing := range slices.Backward(open) {
			closing()
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	store, err := storage.OpenWriter(ctx, j.DB, fmt.Sprintf("test process %d", os.Getpid()), time.Now)
	if err != nil {
		return nil, nil, err
	}
	open = append(open, func() { _ = store.Close() })
	source, err := corpus.Open(ctx, j.Corpus)
	if err != nil {
		return nil, nil, err
	}
	open = append(open, func() { _ = source.Close() })
	wire, err := openai.New(endpoint.Options{BaseURL: j.Base, HTTP: transport})
	if err != nil {
		return nil, nil, err
	}
	open = append(open, wire.Close)
	offered := tools.Standard()
	if j.Snapshots {
		offered = append(offered, tools.Snapshots()...)
	}
	if j.Config.Policy == nil { // it does not travel with a job
		j.Config.Policy = policy.Default()
	}
	if j.Config.Governance != policy.Off {
		offered = tools.WithPolicy(j.Config.Policy, offered)
	}
	registry, err := tools.New(offered...)
	if err != nil {
		return nil, nil, err
	}
	if j.NoPolicy {
		j.Config.Policy = nil
	}
	return runner.New(j.Config, store, source, wire, registry, bus), closeAll, nil
}

// verify demands that the laws hold, quotations included.
func (s *stage) verify(name string) {
	s.t.Helper()
	ctx := context.Background()
	db, err := storage.Open(ctx, s.db(name))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	source, err := corpus.Open(ctx, s.corpus)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	identity, err := source.Identity(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	findings, err := db.Maintenance.Verify(ctx, &storage.Source{
		Body: func(ctx context.Context, id int64) (string, error) {
			p, err := source.Post(ctx, id)
			if err != nil {
				return "", err
			}
			return p.Body, nil
		},
		Story: source, Identity: identity,
		Finder: entries.FindMentions,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range findings {
		if s.edited && f.Check == "digests" {
			continue
		}
		for _, v := range f.Violations {
			s.t.Errorf("verify %s: %s: %s", name, f.Check, v)
		}
	}
}

// story is a corpus to be made: threads of posts.
type story struct {
	threads int
	scenes  int // a thread
	words   int // a scene; 0: some
	blank   bool
}

// write makes the corpus: in each thread scenes of two posts, with a reader's post between them and, in every other
// thread, after the last.
func (s story) write(t testing.TB, path string) {
	t.Helper()
	ctx := context.Background()
	w, err := corpus.Create(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	id := int64(1000)
	for thread := range s.threads {
		first := id
		if err := w.Thread(ctx, first, fmt.Sprintf("Chapter %d", thread+1)); err != nil {
			t.Fatal(err)
		}
		for scene := range s.scenes {
			for part := range 2 {
				s.post(t, w, &annotator.Post{
					Thread: first, ID: id, Name: "Storyteller", Time: id, Tags: []string{annotator.TagStory},
					Body: s.body(thread, scene, part),
				})
				id++
			}
			if scene < s.scenes-1 || thread%2 == 0 {
				s.post(t, w, &annotator.Post{Thread: first, ID: id, Name: "Reader", Time: id, Body: "We go on."})
				id++
			}
		}
	}
	if err := w.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func (s story) post(t testing.TB, w *corpus.Writer, p *annotator.Post) {
	t.Helper()
	if _, err := w.Post(context.Background(), p, corpus.File{}, nil); err != nil {
		t.Fatal(err)
	}
}

func (s story) body(thread, scene, part int) string {
	if s.blank {
		return " \n"
	}
	text := fmt.Sprintf("In chapter %d the lantern of scene %d burned in room %d. Warden Ashe%d said: \"Don't "+
		"<touch> it & go!\"",
		thread+1, scene+1, part+1, scene%5)
	for n := annotator.CountWords(text); n < s.words/2; n += 9 {
		text += fmt.Sprintf(" Night %d.%d.%d.%d lay over the roofs of the town.", thread, scene, part, n)
	}
	return strings.TrimSpace(text)
}

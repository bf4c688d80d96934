package review_test

import (
	"archive/zip"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/corpus"
	"annotator/corpus/ingest"
	"annotator/internal/longtest"
	"annotator/model/endpoint"
	"annotator/model/offline"
	"annotator/model/openai"
	"annotator/review"
	"annotator/runner"
	"annotator/storage"
	"annotator/tools"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sample is a run of the sample story with the offline model.
type sample struct {
	*testing.T
	db    *storage.DB
	story *corpus.DB
	path  string
	then  map[int]string // the queue after each scene, as JSON, as it was when the scene was read
}

// publisher calls a function after each scene.
type publisher func(scene int)

func (p publisher) Publish(n annotator.Notice) {
	if n.Kind == annotator.NoticeScene {
		p(n.Scene)
	}
}

func (s *sample) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// readSample reads the sample, and keeps the queue after some scenes.
func readSample(t *testing.T, keep func(scene int) bool) *sample {
	t.Helper()
	dir, ctx := t.TempDir(), t.Context()
	s := &sample{T: t, path: filepath.Join(dir, "lanterns.annotator.db"), then: map[int]string{}}
	text := filepath.Join(dir, "lanterns.corpus.db")
	_, err := ingest.Import(ctx, ingest.Options{
		Sources: []string{filepath.Join("..", "testdata", "lanterns", "lanterns.jsonl")}, Corpus: text,
		SceneTokens: 2000,
	}, func(ingest.Progress) {})
	s.ok(err)
	s.story, err = corpus.Open(ctx, text)
	s.ok(err)
	t.Cleanup(func() { _ = s.story.Close() })
	store, err := storage.OpenWriter(ctx, s.path, "test", time.Now)
	s.ok(err)
	var client http.RoundTripper = offline.New(offline.Options{})
	wire, err := openai.New(endpoint.Options{BaseURL: "http://offline/v1", HTTP: client})
	s.ok(err)
	registry, err := tools.New(tools.Standard()...)
	s.ok(err)
	s.db = store
	after := publisher(func(scene int) {
		if keep(scene) {
			s.then[scene] = s.queue(view.At(store, view.Moment{}))
		}
	})
	s.ok(runner.New(runner.Defaults(), store, s.story, wire, registry, after).Run(ctx))
	s.ok(store.Close())
	s.db, err = storage.Open(ctx, s.path)
	s.ok(err)
	t.Cleanup(func() { _ = s.db.Close() })
	return s
}

// read returns the queue of a view.
func (s *sample) read(v *view.View) *review.Queue {
	s.Helper()
	q, err := review.Read(context.Background(), v, s.story)
	s.ok(err)
	return q
}

// queue returns the queue of a view as JSON.
func (s *sample) queue(v *view.View) string {
	s.Helper()
	text, err := json.MarshalIndent(s.read(v), "", " ")
	s.ok(err)
	return string(text)
}

// at returns the view up to the end of a scene.
func (s *sample) at(scene int) *view.View {
	s.Helper()
	m, err := view.MomentAt(s.Context(), s.db, view.Point{Kind: view.PointScene, ID: int64(scene)})
	s.ok(err)
	return view.At(s.db, m)
}

// TestLimitIsTheQueueOfThen: under a limit, the queue is that of a run which has read no further. So nothing that is
// told later takes part in it.
func TestLimitIsTheQueueOfThen(t *testing.T) {
	t.Parallel()
	step := longtest.Pick(7, 1)
	s := readSample(t, func(scene int) bool { return scene%step == 0 })
	for scene, then := range s.then {
		row, err := s.db.Scenes.Get(t.Context(), scene)
		s.ok(err)
		if row.Ends { // the curator has changed entries since, at the end of the thread
			continue
		}
		if diff := cmp.Diff(then, s.queue(s.at(scene))); diff != "" {
			t.Errorf("scene %d: %s", scene, diff)
		}
	}
}

// TestDecisionsHideSuggestions: a decision hides its suggestion until what it says, whatever the suggestion is.
func TestDecisionsHideSuggestions(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 23, 30, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		s := review.Suggestion{Key: "state/1/2", Digest: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "digest")}
		q := &review.Queue{Suggestions: []review.Suggestion{s}}
		answer := rapid.SampledFrom([]annotator.Verdict{
			annotator.VerdictAccepted, annotator.VerdictRejected, annotator.VerdictNever, annotator.VerdictWait,
			annotator.VerdictLater,
		}).Draw(t, "answer")
		d := annotator.Decision{Key: s.Key, Digest: "a", Verdict: answer, At: now.UnixMilli()}
		later := now.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "minutes")) * time.Minute)
		changed, nextDay := s.Digest != d.Digest, later.Day() != now.Day()
		want := 0
		if answer == annotator.VerdictWait && changed || answer == annotator.VerdictLater && (changed || nextDay) {
			want = 1
		}
		if got := q.Open(map[string]annotator.Decision{d.Key: d}, later); len(got) != want {
			t.Errorf("%d suggestions after %q, changed %v, the next day %v", len(got), answer, changed, nextDay)
		}
		if got := q.Open(nil, later); len(got) != 1 {
			t.Error("it is hidden without a decision")
		}
	})
}

// demo returns the demo: a capable model has read the sample.
func demo(t *testing.T) *sample {
	t.Helper()
	s, dir := &sample{T: t}, t.TempDir()
	archive, err := zip.OpenReader(filepath.Join("..", "cmd", "annotator", "demo.zip"))
	s.ok(err)
	s.ok(os.CopyFS(dir, archive))
	s.ok(archive.Close())
	s.path = filepath.Join(dir, "lanterns.annotator.db")
	s.ok(os.Chmod(s.path, 0o600))
	s.db, err = storage.Open(t.Context(), s.path)
	s.ok(err)
	s.story, err = corpus.Open(t.Context(), filepath.Join(dir, "lanterns.corpus.db"))
	s.ok(err)
	t.Cleanup(func() { _, _ = s.db.Close(), s.story.Close() })
	return s
}

// TestEachAnswerApplies: the codex takes the operations of every answer to every suggestion.
func TestEachAnswerApplies(t *testing.T) {
	t.Parallel()
	s := demo(t)
	q, kinds := s.read(view.At(s.db, view.Moment{})), map[review.Kind]int{}
	for i := range q.Suggestions {
		suggestion := &q.Suggestions[i]
		kinds[suggestion.Kind]++
		for _, c := range suggestion.Choices {
			for _, op := range c.With("Some other words", 1)[:1] { // the others may rest on it
				err := s.db.Edits.Check(t.Context(), op)
				if err != nil && (c.Input != review.InputEntry || suggestion.Kind != review.Missing) {
					t.Errorf("%s: %s: %v", suggestion.Key, c.Letter, err)
				}
			}
		}
	}
	computed := []review.Kind{
		review.Double, review.Contradiction, review.State, review.Missing, review.Quotation, review.Slight,
	}
	for _, k := range computed {
		if kinds[k] == 0 {
			t.Errorf("there is no suggestion of kind %s", k)
		}
	}
	t.Logf("%v", kinds)
}

// TestAnswersUnderALimit: every answer to every suggestion is taken, whatever the codex says later. The operations are
// those that it allows.
func TestAnswersUnderALimit(t *testing.T) {
	t.Parallel()
	s := demo(t)
	v := s.at(26)
	q, refusals, edits := s.read(v), 0, 0
	for i := range q.Suggestions {
		for _, c := range q.Suggestions[i].Choices {
			if c.Input == review.InputEntry {
				continue
			}
			d, refused, err := q.Suggestions[i].Decide(t.Context(), v, annotator.VerdictAccepted,
				c.With("Some other words", 0)[:1], func(op *annotator.Operation) (int64, error) {
					return 1, s.db.Edits.Check(t.Context(), *op)
				})
			s.ok(err)
			if (refused == nil) != (len(d.Edits) == 1) || d.Key != q.Suggestions[i].Key {
				t.Errorf("%s: %s: %+v, refused: %v", q.Suggestions[i].Key, c.Letter, d, refused)
			}
			if edits += len(d.Edits); refused != nil {
				refusals++
			}
		}
	}
	if refusals == 0 || edits == 0 {
		t.Errorf("%d answers are refused, %d are applied", refusals, edits)
	}
}

// TestOrder: the kinds take turns, and two readings give the same queue.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := demo(t)
	v := view.At(s.db, view.Moment{})
	q, first := s.read(v), map[review.Kind]int{}
	for i := range q.Suggestions[:12] {
		first[q.Suggestions[i].Kind]++
	}
	for _, k := range []review.Kind{review.Double, review.Slight, review.Missing, review.Quotation} {
		if first[k] == 0 {
			t.Errorf("the first 12 questions have none of kind %s: %v", k, first)
		}
	}
	if diff := cmp.Diff(s.queue(v), s.queue(v)); diff != "" {
		t.Error(diff)
	}
}

// TestProposalsAreAsked: what an agent proposes is a question, which its operation answers. Who is shown less than the
// agent was is not asked.
func TestProposalsAreAsked(t *testing.T) {
	t.Parallel()
	s := demo(t)
	row, err := s.db.Scenes.Get(t.Context(), 40)
	s.ok(err)
	p := annotator.Proposal{
		Operation: annotator.Operation{Do: annotator.DeedNever, Entry: 1, Other: 2}, Why: "They meet.", Seen: row.Order,
	}
	s.ok(storage.FileProposal(t.Context(), s.path, time.Now, &p))
	asked := func(v *view.View) (found []review.Suggestion) {
		for _, suggestion := range s.read(v).Suggestions {
			if suggestion.Kind == review.Proposal {
				found = append(found, suggestion)
			}
		}
		return found
	}
	if found := asked(s.at(39)); len(found) != 0 {
		t.Errorf("under an earlier limit: %+v", found)
	}
	for _, v := range []*view.View{s.at(40), view.At(s.db, view.Moment{})} {
		found := asked(v)
		if len(found) != 1 || !strings.Contains(found[0].Why, "They meet.") || len(found[0].Sides) != 2 {
			t.Fatalf("the proposals are %+v", found)
		}
		yes := found[0].Choice(review.LetterYes)
		if diff := cmp.Diff([]annotator.Operation{p.Operation}, yes.Operations); diff != "" {
			t.Error(diff)
		}
	}
}

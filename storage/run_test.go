package storage_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/storage"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
)

func TestBeginListsTheScenes(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2, 1))
	run, err := s.db.Run.Status(s.ctx)
	s.ok(err)
	want := storage.Corpus{
		Title: "A story", Path: "story.db", Identity: "1", Hash: run.Corpus.Hash, Threads: 2,
		Scenes: 3,
	}
	if diff := cmp.Diff(want, run.Corpus); diff != "" || len(run.Corpus.Hash) != 64 {
		t.Errorf("corpus (-want +got):\n%s", diff)
	}
	for i, scene := range s.scenes {
		row, err := s.db.Scenes.Get(s.ctx, i+1)
		s.ok(err)
		want := &annotator.SceneRow{
			N: i + 1, Order: scene.Order, Thread: scene.Thread,
			Posts: []int64{scene.Posts[0].ID, scene.Posts[1].ID},
			Words: scene.Words(),
			Hash:  scene.Hash(), Opens: scene.Opens, Ends: scene.Ends, State: annotator.ScenePending,
		}
		if diff := cmp.Diff(want, row); diff != "" {
			t.Errorf("scene %d (-want +got):\n%s", i+1, diff)
		}
	}
	if _, err := s.db.Scenes.Get(s.ctx, 4); annotator.KindOf(err) != annotator.NotFound {
		t.Errorf("scene 4: %v", err)
	}
	if err := s.db.Run.Begin(s.ctx, storage.Corpus{}, all(nil)); err == nil {
		t.Error("one database, two runs")
	}
}

// TestBeginIsWhole: if the corpus fails while its scenes are read, none is stored.
func TestBeginIsWhole(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	broken := errors.New("the corpus fails")
	_, err := s.db.Run.Extend(s.ctx, "2", &testStory{scenes: func(yield func(*annotator.Scene, error) bool) {
		if yield(s.scenes[0], nil) && yield(scenesOf(2)[1], nil) {
			yield(nil, broken)
		}
	}}, nil)
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if _, err := s.db.Scenes.Get(s.ctx, 2); annotator.KindOf(err) != annotator.NotFound {
		t.Errorf("scene 2: %v", err)
	}
	s.clean()
}

// TestExtend extends a corpus in its last thread, which was completed, and by a thread.
func TestExtend(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1, 1))
	s.read()
	s.read()
	before, err := s.db.Run.Status(s.ctx)
	s.ok(err)
	s.scenes = scenesOf(1, 3, 1)
	s.ok(s.extend("2", s.scenes...))
	s.clean()
	run, err := s.db.Run.Status(s.ctx)
	s.ok(err)
	if run.Corpus.Scenes != 5 || run.Corpus.Threads != 3 || run.Corpus.Identity != "2" ||
		run.Corpus.Hash == before.Corpus.Hash {
		t.Errorf("the corpus is %+v", run.Corpus)
	}
	for n := 3; n <= 5; n++ {
		next, err := s.db.Scenes.Next(s.ctx)
		s.ok(err)
		if next.N != n || next.Ends != (n != 3) {
			t.Errorf("scene %d is followed by %+v", n-1, next)
		}
		s.read()
		s.clean()
	}
	fresh := newStory(t, t.TempDir(), s.scenes)
	whole, err := fresh.db.Run.Status(s.ctx)
	s.ok(err)
	if run, err = s.db.Run.Status(s.ctx); err != nil || run.Corpus.Hash != whole.Corpus.Hash {
		t.Errorf("grown the corpus has hash %s, listed at once %s (%v)", run.Corpus.Hash, whole.Corpus.Hash, err)
	}
}

func TestCompareStory(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2, 2))
	edited := scenesOf(2, 2)
	edited[2].Posts[1].Body += " "
	twice := scenesOf(2, 2)
	twice[1].Posts[0].Name, twice[3].Posts[0].Time = "qn", 1
	for _, test := range []struct {
		name    string
		scenes  []*annotator.Scene
		changed int
	}{
		{"the same", s.scenes, 0},
		{"grown", scenesOf(2, 2, 3), 0},
		{"an edited post", edited, 3},
		{"two changes", twice, 2},
		{"shrunk", s.scenes[:3], 4},
		{"gone", nil, 1},
		{"shifted", scenesOf(2, 1, 1), 4},
	} {
		err := s.db.Run.CompareStory(s.ctx, storyOf(test.scenes...))
		if test.changed == 0 && err == nil {
			continue
		}
		if annotator.KindOf(err) != annotator.Misused ||
			!strings.Contains(err.Error(), fmt.Sprintf("the text of scene %d,", test.changed)) {
			t.Errorf("%s: %v, want that scene %d has changed", test.name, err, test.changed)
		}
	}
	broken := errors.New("the corpus fails")
	fails := func(yield func(*annotator.Scene, error) bool) { yield(nil, broken) }
	if err := s.db.Run.CompareStory(s.ctx, &testStory{scenes: fails}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1, 1))
	positions := view.NewPositions(s.ctx, s.db)
	for place, want := range map[annotator.Place]annotator.Position{
		0:                                {},
		annotator.PlaceAt(orderOf(2), 0): {Thread: 999, Scene: 2, Post: 20},
		annotator.PlaceAt(orderOf(2), 1): {Thread: 999, Scene: 2, Post: 21},
		annotator.PlaceAt(orderOf(2), 2): {Thread: 999, Scene: 2},
		s.scenes[0].End():                {Thread: 1000, Scene: 1, Post: 11},
	} {
		if got := positions.At(place); got != want {
			t.Errorf("place %d is %+v, want %+v", place, got, want)
		}
	}
	s.ok(positions.Err)
	if positions.At(annotator.PlaceAt(orderOf(9), 0)); annotator.KindOf(positions.Err) != annotator.NotFound {
		t.Errorf("scene 9: %v", positions.Err)
	}
}

func TestThreadOrder(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1, 1))
	if got, err := s.db.Threads.Get(s.ctx, 999); err != nil || got.Order != orderOf(2) || got.Last != 2 {
		t.Errorf("thread 999 is %v, %v", got, err)
	}
	if _, err := s.db.Threads.Get(s.ctx, 5); annotator.KindOf(err) != annotator.NotFound {
		t.Errorf("thread 5: %v", err)
	}
}

// TestRunRemembers reads back what a run writes of itself.
func TestRunRemembers(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(3))
	s.ok(s.db.Run.Configure(s.ctx, "http://model/v1", "small", "moved.db"))
	s.ok(s.db.Run.Halt(s.ctx, "no power"))
	s.begin("scene 1")
	s.fail(annotator.Overloaded)
	s.reply("Well.")
	s.db.State = annotator.StateRecording
	s.record(annotator.SceneQuarantined)
	run, err := s.db.Run.Status(s.ctx)
	s.ok(err)
	want := storage.RunStatus{
		State: annotator.StateRecording, Corpus: run.Corpus, Endpoint: "http://model/v1", Model: "small",
		Prompt: storage.Prompt{
			ID: 1, Hash: promptOf("You keep a codex.").Hash, SystemPrompt: "You keep a codex.",
			Tools: "[]",
		},
		OpenScene: 1, Turn: 1, Quarantined: 1, Calls: 2,
		Usage:   annotator.Usage{Prompt: 112, Told: 105, Cached: 64, Completion: 5},
		Started: clock().UnixMilli(), Updated: clock().UnixMilli(), Halted: "no power", Holder: "the test",
	}
	if diff := cmp.Diff(want, run); diff != "" || run.Corpus.Path != "moved.db" || run.Corpus.Identity != "1" {
		t.Errorf("the run (-want +got):\n%s", diff)
	}
	s.checkpoint()
	s.ok(s.db.Run.Halt(s.ctx, ""))
	if run, err = s.db.Run.Status(s.ctx); err != nil || run.OpenScene != 0 || run.Halted != "" {
		t.Errorf("after the checkpoint scene %d is open, halted for %q (%v)", run.OpenScene, run.Halted, err)
	}
	quarantined, err := s.db.Scenes.Quarantined(s.ctx)
	s.ok(err)
	if len(quarantined) != 1 || quarantined[0].Reason != "because" || quarantined[0].Attempts != 1 {
		t.Errorf("quarantined: %+v", quarantined)
	}
	s.clean()
}

// TestPromptRowOnlyOnChange counts the rows that say that another prompt is in force.
func TestPromptRowOnlyOnChange(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	var rows []int
	for _, text := range []string{"You keep a codex.", "second", "second", "You keep a codex."} {
		s.ok(s.db.Journal.UsePrompt(s.ctx, promptOf(text)))
		outside, err := s.db.Journal.Turn(s.ctx, 0)
		s.ok(err)
		rows = append(rows, len(outside))
	}
	if !slices.Equal(rows, []int{1, 2, 2, 3}) {
		t.Errorf("rows %v", rows)
	}
	run, err := s.db.Run.Status(s.ctx)
	s.ok(err)
	if run.Prompt.SystemPrompt != "You keep a codex." {
		t.Errorf("the first prompt is %q", run.Prompt.SystemPrompt)
	}
	s.clean()
}

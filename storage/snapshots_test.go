package storage_test

import (
	"os"
	"strings"
	"testing"

	"annotator"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
)

func TestSnapshotsAreFound(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2, 1))
	for range 3 {
		s.read()
	}
	for _, test := range []struct {
		query storage.SnapshotQuery
		want  []int64
	}{
		{storage.SnapshotQuery{}, []int64{3, 2, 1}},
		{storage.SnapshotQuery{Limit: 2}, []int64{3, 2}},
		{storage.SnapshotQuery{Thread: 1000, Kind: "checkpoint"}, []int64{2, 1}},
		{storage.SnapshotQuery{Kind: "manual"}, nil},
	} {
		found, err := s.db.Snapshots.List(s.ctx, test.query)
		s.ok(err)
		var ids []int64
		for _, snapshot := range found {
			ids = append(ids, snapshot.ID)
		}
		if diff := cmp.Diff(test.want, ids); diff != "" {
			t.Errorf("%+v: %s", test.query, diff)
		}
	}
	if _, err := s.db.Snapshots.Get(s.ctx, 4); annotator.KindOf(err) != annotator.NotFound {
		t.Errorf("%v", err)
	}
	snapshot, err := s.db.Snapshots.Get(s.ctx, 3)
	s.ok(err)
	context, err := s.db.Journal.Prompt(s.ctx, snapshot.Context)
	s.ok(err)
	if want := (storage.Prompt{
		ID: 1, Hash: promptOf("You keep a codex.").Hash, SystemPrompt: "You keep a codex.",
		Tools: "[]",
	}); context != want {
		t.Errorf("%+v", context)
	}
	if _, err := s.db.Journal.Prompt(s.ctx, 9); annotator.KindOf(err) != annotator.NotFound {
		t.Errorf("%v", err)
	}
}

// TestSnapshotByHand: a snapshot with a name can be created between two scenes, and at no other time.
func TestSnapshotByHand(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2))
	if _, err := s.db.Snapshots.Create(s.ctx, "early"); annotator.KindOf(err) != annotator.Misused {
		t.Errorf("before the first scene: %v", err)
	}
	s.read()
	s.compact(0)
	created, err := s.db.Snapshots.Create(s.ctx, "by hand")
	s.ok(err)
	found, err := s.db.Snapshots.List(s.ctx, storage.SnapshotQuery{Kind: "manual"})
	s.ok(err)
	if diff := cmp.Diff([]annotator.Snapshot{created}, found); diff != "" {
		t.Error(diff)
	}
	checkpoint, err := s.db.Snapshots.Get(s.ctx, 1)
	s.ok(err)
	if created.ID != 2 || created.Name != "by hand" || created.Scene != 1 || created.Trace != checkpoint.Trace+1 {
		t.Errorf("%+v after %+v", created, checkpoint)
	}
	s.begin("Scene two.")
	if _, err := s.db.Snapshots.Create(s.ctx, "late"); annotator.KindOf(err) != annotator.Misused {
		t.Errorf("in a scene: %v", err)
	}
	s.clean()
}

// TestEpisodesAt asks for the summaries in the window at points of the journal between which they enter and leave it.
func TestEpisodesAt(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(3))
	s.read()
	chunk := annotator.Episode{
		Kind: annotator.EpisodeChunk, Thread: 1000, FromScene: 1, ToScene: 1, FromTurn: 1,
		ToTurn: 1, Summary: "A", By: annotator.AuthorRule,
	}
	s.ok(s.db.Episodes.Compact(s.ctx, &annotator.Compaction{
		State:  annotator.WindowState{Tier: "2", Through: 1},
		Reason: "full", Episodes: []annotator.Episode{chunk},
	}))
	s.read()
	story := chunk
	story.Kind, story.Thread, story.Summary = annotator.EpisodeCumulative, 0, "B"
	s.ok(s.db.Episodes.Compact(s.ctx, &annotator.Compaction{
		State:  annotator.WindowState{Tier: "1", Through: 2},
		Reason: "full", Episodes: []annotator.Episode{story}, Gone: []int64{1},
	}))
	s.read()
	var got []string
	for id := range int64(3) {
		snapshot, err := s.db.Snapshots.Get(s.ctx, id+1)
		s.ok(err)
		memory, err := s.db.Episodes.At(s.ctx, &snapshot)
		s.ok(err)
		in := ""
		for _, e := range memory {
			in += e.Summary
		}
		got = append(got, in)
	}
	if diff := cmp.Diff([]string{"", "A", "B"}, got); diff != "" {
		t.Error(diff)
	}
	rows := s.episodes("")
	if len(rows) != 2 || rows[0].InForce || !rows[1].InForce || rows[0].At != clock().UnixMilli() {
		t.Errorf("%+v", rows)
	}
}

// TestThreadZero makes all kinds of summaries of the thread with the number 0.
func TestThreadZero(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	s.read()
	var episodes []annotator.Episode
	for _, kind := range []annotator.EpisodeKind{
		annotator.EpisodeChunk, annotator.EpisodeThread,
		annotator.EpisodeCumulative,
	} {
		episodes = append(episodes, annotator.Episode{
			Kind: kind, FromScene: 1, ToScene: 1, FromTurn: 1, ToTurn: 1,
			Summary: "A", By: annotator.AuthorRule,
		})
	}
	s.ok(s.db.Episodes.Compact(s.ctx, &annotator.Compaction{
		State:  annotator.WindowState{Tier: "1", Through: 1},
		Reason: "full", Episodes: episodes,
	}))
	if all := s.episodes(""); len(all) != len(episodes) {
		t.Errorf("%+v", all)
	}
	if chunks := s.episodes(annotator.EpisodeChunk); len(chunks) != 1 || chunks[0].Kind != annotator.EpisodeChunk {
		t.Errorf("%+v", chunks)
	}
}

// episodes returns the episodes of a kind; of any where it is empty.
func (s *story) episodes(kind annotator.EpisodeKind) (all []storage.EpisodeRow) {
	s.Helper()
	for e, err := range s.db.Episodes.All(s.ctx, kind) {
		s.ok(err)
		all = append(all, *e)
	}
	return all
}

// TestSnapshotsTakeNoSpace writes as many rows for a thousand scenes as a run writes for scenes of 1,500 tokens. It
// compares the size of the database with and without its snapshots.
func TestSnapshotsTakeNoSpace(t *testing.T) {
	t.Parallel()
	const scenes = 1000
	s := newStory(t, t.TempDir(), scenesOf(scenes))
	s.seedScenes(scenes)
	s.bulk(`UPDATE trace SET content = printf('%.*c', CASE kind WHEN 'scene' THEN 6000 WHEN 'reply' THEN 600 ELSE 400 END, 'x')`)
	weigh := func(statement string) int64 {
		s.bulk(statement)
		s.bulk(`VACUUM`)
		info, err := os.Stat(s.path)
		s.ok(err)
		return info.Size()
	}
	with := weigh(`SELECT 1`)
	if n := strings.Count(strings.Join(s.dumped("snapshot"), "\n"), "snapshot id="); n != scenes {
		t.Fatalf("%d snapshots", n)
	}
	without := weigh(`DELETE FROM snapshot`)
	share := float64(with-without) / float64(with)
	t.Logf("%d snapshots: %d bytes each, %.2f %% of the database", scenes, (with-without)/scenes, 100*share)
	if share >= 0.02 || with == without {
		t.Errorf("snapshots take %.2f %%", 100*share)
	}
}

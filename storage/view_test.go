package storage_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"annotator"
	"annotator/storage"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// seen is all that a view shows.
type seen struct {
	Entries   []annotator.Entry
	ByID      map[int64]*annotator.Entry
	Named     map[string][]annotator.Entry
	Found     map[string]view.Page
	Revisions map[int64][]annotator.Revision
	Quotes    []view.Quotation
	Threads   []view.ThreadSpan
	Scenes    [][]annotator.SceneRow
	Snapshots []annotator.Snapshot
	Story     *annotator.Episode
	Summaries []annotator.Episode
	Totals    view.Totals
	Mentions  map[int64][]view.SharedMention
	InScenes  [][]storage.Mention
	ByThread  []view.ThreadCount
	Most      []view.EntryCount
	Pairs     []view.Pair
	Together  map[int64][]view.EntryCount
}

// see reads all that a view shows of a story with some scenes.
func see(t tester, v *view.View, scenes []*annotator.Scene) *seen {
	t.Helper()
	s := &seen{
		Named: map[string][]annotator.Entry{}, Found: map[string]view.Page{},
		Revisions: map[int64][]annotator.Revision{},
	}
	ctx := context.Background()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	anyStatus := []annotator.Status{annotator.Tentative, annotator.Confirmed, annotator.Retired, annotator.Merged}
	page, err := v.Find(ctx, annotator.Query{Statuses: anyStatus})
	ok(err)
	s.Entries = page.Entries
	for set := 1; set < 1<<len(anyStatus); set++ { // each list by status has those with one of the statuses
		isIn := func(status annotator.Status) bool { return set>>slices.Index(anyStatus, status)&1 == 1 }
		query, want := annotator.Query{Limit: 3}, 0
		for _, status := range anyStatus {
			if isIn(status) {
				query.Statuses = append(query.Statuses, status)
			}
		}
		for i := range s.Entries {
			if isIn(s.Entries[i].Status) {
				want++
			}
		}
		page, err := v.Find(ctx, query)
		ok(err)
		if page.Total != want || len(page.Entries) != min(want, query.Limit) {
			t.Errorf("%v: %d entries of %d listed, not of %d", query.Statuses, len(page.Entries), page.Total, want)
		}
		for i := range page.Entries {
			if !isIn(page.Entries[i].Status) {
				t.Errorf("%v: an entry that is %s", query.Statuses, page.Entries[i].Status)
			}
		}
	}
	ids := []int64{}
	for id := range int64(40) {
		ids = append(ids, id)
		s.Revisions[id], err = v.Revisions(ctx, id)
		ok(err)
	}
	s.ByID, err = v.EntriesByID(ctx, ids)
	ok(err)
	for _, text := range []string{
		"Dawn", "dawn (SHIP)", "Mik's sword", "漢字", "one two", "Vys", "four OR three",
		"C++ one", "",
	} {
		s.Named[text], err = v.Named(ctx, text)
		ok(err)
		for _, tags := range [][]string{nil, {"ship"}} {
			s.Found[text+"|"+strconv.Itoa(len(tags))], err = v.Find(ctx,
				annotator.Query{Text: text, Tags: tags, Offset: len(tags), Limit: 3})
			ok(err)
		}
	}
	var posts []int64
	threads := map[int64]bool{}
	for _, scene := range scenes {
		threads[scene.Thread.ID] = true
		for _, p := range scene.Posts {
			place, err := v.PlaceOf(ctx, p.ID)
			if errors.Is(err, annotator.NotFound) {
				continue
			}
			ok(err)
			if !v.Shows(place) {
				t.Errorf("post %d at %d is placed, and not shown", p.ID, place)
			}
			posts = append(posts, p.ID)
		}
	}
	s.Quotes, err = v.Quotations(ctx, posts)
	ok(err)
	s.Threads, err = v.Threads(ctx)
	ok(err)
	for _, id := range slices.Sorted(maps.Keys(threads)) {
		list, err := v.Scenes(ctx, id)
		ok(err)
		s.Scenes = append(s.Scenes, list)
	}
	s.Snapshots, err = v.Snapshots(ctx, storage.SnapshotQuery{})
	ok(err)
	s.Story, err = v.Story(ctx)
	ok(err)
	s.Summaries, err = v.Summaries(ctx)
	ok(err)
	s.Totals, err = v.Totals(ctx)
	ok(err)
	s.Mentions, s.Together = map[int64][]view.SharedMention{}, map[int64][]view.EntryCount{}
	for _, id := range ids {
		var total int
		s.Mentions[id], total, err = v.Mentions(ctx, id, 0, 0)
		if ok(err); total != len(s.Mentions[id]) {
			t.Errorf("entry %d has %d mentions, and %d are listed", id, total, len(s.Mentions[id]))
		}
		s.Together[id], err = v.Companions(ctx, id, 10)
		ok(err)
	}
	for _, scene := range scenes {
		list, err := v.MentionsIn(ctx, scene.Order, scene.Order)
		ok(err)
		s.InScenes = append(s.InScenes, list)
	}
	s.ByThread, err = v.MentionCounts(ctx, ids)
	ok(err)
	s.Most, err = v.MostMentioned(ctx, 10)
	ok(err)
	all, err := v.MostMentioned(ctx, 1000)
	ok(err)
	weights, err := v.Weights(ctx, ids)
	ok(err)
	foremost, err := v.Foremost(ctx, 2)
	ok(err)
	for i, e := range foremost {
		for id, weight := range weights {
			isBefore := weight > e.Count || weight == e.Count && id < e.Entry
			isListed := slices.Contains(foremost[:i], view.EntryCount{Entry: id, Count: weight})
			if weights[e.Entry] != e.Count || isBefore && !isListed {
				t.Errorf("of the weights %v the foremost are %v", weights, foremost)
			}
		}
	}
	if len(foremost) != min(2, len(weights)) {
		t.Errorf("of the weights %v the foremost are %v", weights, foremost)
	}
	for id, list := range s.Mentions {
		list = slices.DeleteFunc(slices.Clone(list), func(m view.SharedMention) bool { return m.Ambiguous })
		counted := 0
		for _, c := range s.ByThread {
			if c.Entry == id {
				counted += c.Count
			}
		}
		if counted != len(list) || len(list) > 0 && !slices.Contains(all,
			view.EntryCount{Entry: id, Count: len(list)}) {
			t.Errorf("entry %d has %d mentions, %d by thread, and the most are of %v", id, len(list), counted, all)
		}
	}
	s.Pairs, err = v.Together(ctx, ids)
	ok(err)
	for _, pair := range s.Pairs {
		counts, err := v.Companions(ctx, pair.A, 1000)
		if ok(err); !slices.Contains(counts, view.EntryCount{Entry: pair.B, Count: pair.Scenes}) {
			t.Errorf("entries %d and %d share %d scenes, the companions are %v", pair.A, pair.B, pair.Scenes, counts)
		}
	}
	return s
}

// TestViewDoesNotDependOnWhatComesLater compares the view up to each snapshot with the same view of a branch of it, in
// which nothing later has taken place. The state of the scenes differs, which is not part of the story.
func TestViewDoesNotDependOnWhatComesLater(t *testing.T) {
	t.Parallel()
	checkInside(t, func(t *rapid.T, inside string) {
		s := newStory(t, inside, scenesOf(rapid.SliceOfN(rapid.IntRange(1, 3), 1, 3).Draw(t, "threads")...))
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			moves := s.moves(t)
			delete(moves, "verify")
			moves[rapid.SampledFrom(slices.Sorted(maps.Keys(moves))).Draw(t, "move")]()
		}
		if s.snapshot == 0 {
			return
		}
		at := rapid.Int64Range(1, s.snapshot).Draw(t, "snapshot")
		branch := filepath.Join(inside, "branch.db")
		s.ok(storage.Branch(s.ctx, s.path, branch, at))
		former, err := storage.Open(s.ctx, branch)
		s.ok(err)
		defer func() { _ = former.Close() }()
		point := rapid.SampledFrom(s.pointsBefore(at, former)).Draw(t, "point")
		then, now := s.seenAt(former, point), s.seenAt(s.db, point)
		if diff := cmp.Diff(then, now, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-without what is later +with it):\n%s", point, diff)
		}
	})
}

// pointsBefore returns the points at which a view of a branch at a snapshot has to be the same. They are the snapshot,
// and the scenes and posts before it. Scenes that are to be read again in either database are left out.
func (s *story) pointsBefore(snapshot int64, branch *storage.DB) []view.Point {
	s.Helper()
	points := []view.Point{{Kind: view.PointSnapshot, ID: snapshot}}
	last, err := s.db.Snapshots.Get(s.ctx, snapshot)
	s.ok(err)
	for n := 1; n < last.Scene; n++ {
		if !s.hasOutcome(s.db, n) || !s.hasOutcome(branch, n) {
			continue
		}
		points = append(points, view.Point{Kind: view.PointScene, ID: int64(n)})
		for _, p := range s.scenes[n-1].Posts {
			points = append(points, view.Point{Kind: view.PointPost, ID: p.ID})
		}
	}
	return points
}

func (s *story) hasOutcome(db *storage.DB, scene int) bool {
	s.Helper()
	row, err := db.Scenes.Get(s.ctx, scene)
	s.ok(err)
	return row.State == annotator.SceneRecorded || row.State == annotator.SceneQuarantined
}

func (s *story) seenAt(db *storage.DB, point view.Point) *seen {
	s.Helper()
	m, err := view.MomentAt(s.ctx, db, point)
	s.ok(err)
	seen := see(s, view.At(db, m), s.scenes)
	for _, scenes := range seen.Scenes {
		for i := range scenes {
			scenes[i].State, scenes[i].Attempts, scenes[i].Refusals, scenes[i].Turn, scenes[i].Reason, scenes[i].Fault =
				"", 0, 0, 0, "", ""
		}
	}
	return seen
}

package storage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/storage"
	"annotator/view"

	"pgregory.net/rapid"
)

// withTexts sets the texts of scenes: the first post of each, and the second of the first scene.
func withTexts(scenes []*annotator.Scene, texts ...string) []*annotator.Scene {
	for i, text := range texts {
		scenes[i].Posts[len(scenes[i].Posts)-1-min(i, 1)].Body = text
	}
	return scenes
}

// alsoNamed is an edit that gives an entry names.
func alsoNamed(id int64, names ...string) edit { return revises(id, codex.Edit{Aliases: names}) }

// meant returns the mentions of an entry at a point, as "scene:start", with "?" for an ambiguous one.
func (s *story) meant(point string, entry int64) string {
	s.Helper()
	p, err := view.ParsePoint(point)
	s.ok(err)
	m, err := view.MomentAt(s.ctx, s.db, p)
	s.ok(err)
	found, _, err := view.At(s.db, m).Mentions(s.ctx, entry, 0, 0)
	s.ok(err)
	var list []string
	for _, m := range found {
		at := fmt.Sprintf("%d:%d", m.Place.Order()/annotator.OrderStep, m.Start)
		if m.Ambiguous {
			at += "?"
		}
		list = append(list, at)
	}
	return strings.Join(list, " ")
}

// TestSharedNamesMeanWhoWasNamedLast: a name of two people means the one whose own name comes before it in the thread.
// What a later scene tells does not change what a limit before it shows.
func TestSharedNamesMeanWhoWasNamedLast(t *testing.T) {
	t.Parallel()
	texts := []string{
		"Bell came. Anna Bell sat. Bell spoke. Tom Bell left. Bell wept.", "Bell slept.",
		"Bell woke. Cat Bell ran. Bell fell.", "Bell rose.", "Bell sank.",
	}
	s := newStory(t, t.TempDir(), withTexts(scenesOf(3, 2), texts...))
	s.read(creates("Anna Bell", "She is a smith."), creates("Tom Bell", "He is a smith."), alsoNamed(1, "Bell"))
	s.read(alsoNamed(2, "Bell"))
	s.read(creates("Cat Bell", "She is a cook."), alsoNamed(3, "Bell"))
	s.read()
	s.read()
	for _, c := range []struct {
		point     string
		anna, tom string
	}{
		{"scene:1", "1:0 1:11 1:26 1:53", "1:38"}, // it is only her name yet
		{"post:20", "1:0 1:11 1:26 1:53 2:0", "1:38"},
		{"scene:2", "1:0? 1:11 1:26", "1:0? 1:38 1:53 2:0"},
		{"post:30", "1:0? 1:11 1:26", "1:0? 1:38 1:53 2:0 3:0 3:25"}, // what is known at the end of scene 2
		{"scene:3", "1:0? 1:11 1:26", "1:0? 1:38 1:53 2:0 3:0"},
		{"scene:5", "1:0? 1:11 1:26 4:0? 5:0?", "1:0? 1:38 1:53 2:0 3:0 4:0? 5:0?"},
	} {
		if anna, tom := s.meant(c.point, 1), s.meant(c.point, 2); anna != c.anna || tom != c.tom {
			t.Errorf("%s: Anna %q and Tom %q, want %q and %q", c.point, anna, tom, c.anna, c.tom)
		}
	}
	s.clean()
}

// TestNamesOfSplitEntries: a name that a merge gave to another entry, and its split gave back, means the entries that
// had it at each limit.
func TestNamesOfSplitEntries(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(4))
	s.read(creates("Dawn", "One.", "ship"))
	s.read(creates("port", "Two."))
	revisions, err := s.merge(s.db.Glossary, annotator.ActorCurator, 1, 2, annotator.PlaceAt(orderOf(2), 0))
	s.ok(err)
	answer := &annotator.Trace{Kind: annotator.TraceReply, Content: "MERGE"}
	s.ok(s.db.Curation.Decide(s.ctx, s.curates(), answer, revisions, nil))
	s.decides(annotator.Operation{Do: annotator.DeedKeep, Entry: 2})
	s.read()
	s.decides(annotator.Operation{Do: annotator.DeedSplit, Entry: 1})
	s.read()
	s.clean()
	for point, want := range map[string][2]string{
		"scene:1": {"1:0 1:0", ""},
		"scene:4": {"1:0 1:0 2:0 2:0 3:0 3:0 4:0 4:0", "1:23 1:23 2:23 2:23 3:23 3:23 4:23 4:23"},
	} {
		if got := [2]string{s.meant(point, 1), s.meant(point, 2)}; got != want {
			t.Errorf("%s: %q, want %q", point, got, want)
		}
	}
}

// TestEntriesAppearWhereTheyAreMentioned: an entry appears where the story names it or tells a fact of it within the
// limit, not where it was changed.
func TestEntriesAppearWhereTheyAreMentioned(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), withTexts(scenesOf(5), "Anna sat.", "Nobody.", "Anna rose.", "Anna left.", "Nobody."))
	s.read()
	s.read(creates("Anna", "She is a smith."), creates("Zed", "He is not named."))
	s.read(alsoNamed(1, "Warden"))
	s.read()
	s.read(alsoNamed(2, "Zee"))
	for point, want := range map[string][4]annotator.Order{
		"scene:2": {1, 2, 2, 2}, "scene:3": {1, 3, 2, 2}, "scene:5": {1, 4, 2, 2},
	} {
		p, err := view.ParsePoint(point)
		s.ok(err)
		m, err := view.MomentAt(s.ctx, s.db, p)
		s.ok(err)
		var got [4]annotator.Order
		for e, err := range view.At(s.db, m).All(s.ctx) {
			s.ok(err)
			got[2*e.ID-2], got[2*e.ID-1] = e.First.Order()/annotator.OrderStep, e.Last.Order()/annotator.OrderStep
		}
		if got != want {
			t.Errorf("%s: Anna and Zed appear from and to %v, want %v", point, got, want)
		}
	}
}

// TestSharedNamesLookBackTenScenes: a name that was named longer ago is no hint.
func TestSharedNamesLookBackTenScenes(t *testing.T) {
	t.Parallel()
	texts := append([]string{"Anna Bell sat."}, slices.Repeat([]string{"Bell spoke."}, 11)...)
	s := newStory(t, t.TempDir(), withTexts(scenesOf(12), texts...))
	s.read(creates("Anna Bell", "She is a smith."), creates("Tom Bell", "He is a smith."), alsoNamed(1, "Bell"),
		alsoNamed(2, "Bell"))
	for s.scene < len(s.scenes) {
		s.read()
	}
	if got, want := s.meant("scene:12", 1), "1:0 2:0 3:0 4:0 5:0 6:0 7:0 8:0 9:0 10:0 11:0 12:0?"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s.clean()
}

// naiveMeanings computes the counts of entries from the names in the text alone.
func (s *story) naiveMeanings(names map[int64][]string, upTo int) map[int64]int {
	type named struct {
		scene  int
		entry  int64
		thread int64
	}
	counts := map[int64]int{}
	var own []named
	for _, scene := range s.scenes[:upTo] {
		for sentence := range strings.SplitSeq(scene.Posts[0].Body+" "+scene.Posts[1].Body, ". ") {
			var holders []int64
			for id, list := range names {
				if slices.Contains(list, strings.TrimSuffix(sentence, ".")) {
					holders = append(holders, id)
				}
			}
			if len(holders) == 1 {
				own = append(own, named{scene.N, holders[0], scene.Thread.ID})
				counts[holders[0]]++
				continue
			}
			for _, at := range slices.Backward(own) {
				near := at.thread == scene.Thread.ID && scene.N-at.scene <= storage.LookBack
				if near && slices.Contains(holders, at.entry) {
					counts[at.entry]++
					break
				}
			}
		}
	}
	return counts
}

// TestMeaningsOfRandomStories compares what shared names mean with a naive search of the text, in stories in which
// names are added, dropped and merged. What a limit shows stays the same when the story goes on.
func TestMeaningsOfRandomStories(t *testing.T) {
	t.Parallel()
	all := []string{"Anna", "Tom", "Bell", "Cat"}
	checkInside(t, func(t *rapid.T, inside string) {
		count := rapid.IntRange(2, 6).Draw(t, "scenes")
		var texts []string
		for range count {
			names := rapid.SliceOfN(rapid.SampledFrom(all), 0, 4).Draw(t, "names")
			texts = append(texts, strings.Join(names, ". ")+".")
		}
		first := rapid.IntRange(1, count).Draw(t, "thread")
		threads := []int{first, count - first}
		if first == count {
			threads = threads[:1]
		}
		s := newStory(t, inside, withTexts(scenesOf(threads...), texts...))
		shown := map[int]string{}
		for s.scene < len(s.scenes) {
			s.read(s.someNames(t, all)...)
			names, err := s.db.Glossary.Names(s.ctx)
			s.ok(err)
			want := s.naiveMeanings(names, s.scene)
			for id := range names {
				counts, err := view.At(s.db, view.Moment{}).MentionCounts(s.ctx, []int64{id})
				s.ok(err)
				got := 0
				for _, c := range counts {
					got += c.Count
				}
				if got != want[id] {
					t.Fatalf("scene %d: entry %d (%v) has %d mentions, want %d", s.scene, id, names[id], got, want[id])
				}
			}
			for scene := 1; scene <= s.scene; scene++ {
				now := ""
				for id := int64(1); id <= 4; id++ {
					now += s.meant(fmt.Sprintf("scene:%d", scene), id) + " | "
				}
				if before, ok := shown[scene]; ok && before != now {
					t.Fatalf("scene %d showed %s, and after scene %d %s", scene, before, s.scene, now)
				}
				shown[scene] = now
			}
		}
		s.clean()
	})
}

// someNames are edits that add, drop and merge names.
func (s *story) someNames(t *rapid.T, names []string) (edits []edit) {
	name, live := rapid.SampledFrom(names), []int64{}
	found, err := view.Glossary{Glossary: s.db.Glossary}.Search(s.ctx, annotator.Query{})
	s.ok(err)
	for i := range found {
		live = append(live, found[i].ID)
	}
	for range rapid.IntRange(0, 2).Draw(t, "edits") {
		way := rapid.IntRange(0, 5).Draw(t, "edit")
		if way < 2 || len(live) < 2 {
			edits = append(edits, creates(name.Draw(t, "term"), "It is here."))
			continue
		}
		id, wanted := rapid.SampledFrom(live).Draw(t, "entry"), codex.Edit{}
		switch way {
		case 2, 3:
			wanted.Aliases = []string{name.Draw(t, "alias")}
		case 4:
			wanted.DropAliases = []string{name.Draw(t, "dropped")}
		default:
			if into := rapid.SampledFrom(live).Draw(t, "target"); into != id {
				return append(edits, merges(id, into))
			}
			continue
		}
		edits = append(edits, revises(id, wanted))
	}
	return edits
}

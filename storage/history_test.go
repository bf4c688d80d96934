package storage_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/storage"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func FuzzParsePoint(f *testing.F) {
	for _, text := range []string{
		"", "12", "scene:12", "post:3456", " thread:78 ", "snapshot:9", "scene:0", "scene:-1",
		"scene:1e3", "Scene:1", "scene:", ":", "a:b:c", "chapter:20", "chapter: XX ",
		`chapter:"The  Island"`, "chapter:",
		`chapter:""`, "chapter:#3", "chapter:\xff",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := view.ParsePoint(text)
		if err != nil {
			if annotator.KindOf(err) != annotator.Misused || p != (view.Point{}) {
				t.Errorf("%q: %v, %v", text, p, err)
			}
			return
		}
		again, err := view.ParsePoint(p.String())
		if err != nil || again != p || (p.ID <= 0) != (p.Kind == view.PointChapter) {
			t.Errorf("%q is %v, which reads %v, %v", text, p, again, err)
		}
	})
}

// stood is an entry as it was after the story was read to a scene.
type stood struct {
	seen  int
	entry annotator.Entry
}

// dated is a story whose edits are dated by the post that they rest on, with the states that each entry came to.
type dated struct {
	*story
	seen   int               // the furthest scene that was read
	states map[int64][]stood // by entry
}

// edit makes an entry or changes one, as of a post of the scene at hand.
func (d *dated) edit(t *rapid.T) {
	name := rapid.SampledFrom([]string{"Dawn", "Mik", "Vys"}).Draw(t, "name")
	definition := rapid.SampledFrom([]string{"One. Two.", "Two. Three.", "Four."}).Draw(t, "definition")
	edit := codex.Edit{
		Name: &name, Facts: factsOf(definition, nil),
		Tags:  []string{rapid.SampledFrom([]string{"ship", "person"}).Draw(t, "tag")},
		Actor: annotator.ActorModel, At: annotator.PlaceAt(orderOf(d.scene), rapid.IntRange(0, 1).Draw(t, "rank")),
	}
	d.tool(func(ctx context.Context, g *storage.Glossary) error {
		e, err := g.Lookup(ctx, name)
		if annotator.KindOf(err) == annotator.NotFound {
			e, err = &annotator.Entry{}, nil
		}
		if err != nil {
			return err
		}
		for i := range e.Claims {
			if c := &e.Claims[i]; c.Until == 0 && !strings.Contains(definition, c.Text) {
				edit.Close = append(edit.Close, codex.Closing{Fact: c.ID})
			}
		}
		revisions, err := codex.Revise(e, edit)
		if err == nil && e.ID != 0 && rapid.IntRange(0, 5).Draw(t, "retire") == 0 {
			revisions, err = codex.Retire(e, "gone", annotator.ActorModel, edit.At)
		}
		if err != nil || len(revisions) == 0 {
			return err
		}
		if e, err = g.Revise(ctx, revisions); err != nil {
			return err
		}
		now := annotator.Entry{ID: e.ID, Status: annotator.Tentative}
		if states := d.states[e.ID]; len(states) > 0 {
			now = codex.Clone(&states[len(states)-1].entry)
		}
		for i := range revisions {
			d.ok(codex.Apply(&now, &revisions[i]))
		}
		d.states[e.ID] = append(d.states[e.ID], stood{seen: d.seen, entry: now})
		return nil
	})
}

// at returns the codex as it was when the story was read to a scene and no further, from the noted states.
func (d *dated) at(scene int) []annotator.Entry {
	var entries []annotator.Entry
	for _, id := range slices.Sorted(maps.Keys(d.states)) {
		last := -1
		for i, s := range d.states[id] {
			if s.seen <= scene {
				last = i
			}
		}
		if last >= 0 {
			entries = append(entries, d.states[id][last].entry)
		}
	}
	return entries
}

func (d *dated) equals(point string, want []annotator.Entry) {
	d.Helper()
	p, err := view.ParsePoint(point)
	d.ok(err)
	m, err := view.MomentAt(d.ctx, d.db, p)
	d.ok(err)
	var got []annotator.Entry
	for e, err := range view.At(d.db, m).All(d.ctx) {
		d.ok(err)
		got = append(got, *e)
	}
	appearance := cmpopts.IgnoreFields(annotator.Entry{}, "First", "Last")
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), appearance); diff != "" {
		d.Fatalf("as of %s (-noted +replayed):\n%s", point, diff)
	}
	d.appear(point, view.At(d.db, m), got)
}

// appear checks that entries begin and end where they are mentioned or a fact of them is told within a limit, of those
// that are.
func (d *dated) appear(point string, shown *view.View, entries []annotator.Entry) {
	d.Helper()
	for i := range entries {
		e := &entries[i]
		found, _, err := shown.Mentions(d.ctx, e.ID, 0, 0)
		d.ok(err)
		var places []annotator.Place
		for i := range found {
			places = append(places, found[i].Place)
		}
		for i := range e.Claims {
			if c := &e.Claims[i]; codex.Shown(c) && c.Ended != annotator.EndRefuted && c.From != 0 {
				places = append(places, c.From)
			}
		}
		if len(places) == 0 {
			continue
		}
		if first, last := slices.Min(places), slices.Max(places); e.First != first || e.Last != last {
			d.Fatalf("as of %s, %s is from %d to %d, and mentioned from %d to %d", point, e.Term, e.First, e.Last,
				first, last)
		}
	}
}

// readScene reads the next scene with edits at random places, or refuses it. It returns the codex at its snapshot.
func (d *dated) readScene(t *rapid.T, refuse bool) []annotator.Entry {
	edits := rapid.IntRange(0, 4).Draw(t, "edits")
	d.seen = max(d.seen, d.next())
	d.begin("a scene")
	if edits > 0 {
		d.reply("", slices.Repeat([]string{"glossary_update"}, edits)...)
	}
	for range edits {
		d.edit(t)
	}
	d.reply("Done.")
	if refuse {
		d.record(annotator.SceneQuarantined)
	} else {
		d.record(annotator.SceneRecorded)
	}
	d.checkpoint()
	return d.at(d.seen)
}

// TestAsOfIsWhatStoodThen reads stories with edits at random places, and asks at every post, scene, thread and
// snapshot. Scenes that are refused are read late. Edits from such a scene are not visible at earlier points.
func TestAsOfIsWhatStoodThen(t *testing.T) {
	t.Parallel()
	checkInside(t, func(t *rapid.T, inside string) {
		d := &dated{story: newStory(t, inside, scenesOf(1, 2)), states: map[int64][]stood{}}
		var taken [][]annotator.Entry // at each snapshot
		for range d.scenes {
			taken = append(taken, d.readScene(t, rapid.IntRange(0, 3).Draw(t, "refuse") == 0))
		}
		for d.retry(); d.next() != 0; {
			taken = append(taken, d.readScene(t, false))
		}
		for i := range taken {
			d.equals("snapshot:"+strconv.Itoa(i+1), taken[i])
		}
		for _, s := range d.scenes {
			d.equals("scene:"+strconv.Itoa(s.N), d.at(s.N))
			for rank, p := range s.Posts {
				known := s.N
				if rank < len(s.Posts)-1 { // edits made with the whole scene known are not visible at the post
					known--
				}
				d.equals("post:"+strconv.FormatInt(p.ID, 10), d.at(known))
			}
			if s.Ends {
				d.equals("thread:"+strconv.FormatInt(s.Thread.ID, 10), d.at(s.N))
			}
		}
		d.clean()
	})
}

func TestMomentsThatAreNot(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2))
	s.read()
	for point, advice := range map[string]string{
		"scene:2": "not read yet", "scene:3": "the story has no scene 3", "thread:7": "thread 7 has no scene",
		"thread:1000": "not read yet",
		"post:7":      "a reader's remark", "post:20": "not read yet", "snapshot:2": "no snapshot 2",
	} {
		p, err := view.ParsePoint(point)
		s.ok(err)
		if _, err := view.MomentAt(s.ctx, s.db, p); annotator.KindOf(err) != annotator.NotFound ||
			!strings.Contains(err.Error(), advice) {
			t.Errorf("%s: %v", point, err)
		}
	}
}

// TestBetween asks for the changes between snapshots: the changed entries as they were at each, and no others.
func TestBetween(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(3))
	s.read(creates("Dawn", "Dawn is a ship."), creates("Vys", "Vys is a town."))
	definition := "Dawn is a ship. She sinks."
	s.read(revises(1, codex.Edit{Facts: factsOf(definition, nil)}), creates("Mik", "Mik is a sailor."))
	s.read(retires(2))
	from, err := s.db.Snapshots.Get(s.ctx, 1)
	s.ok(err)
	to, err := s.db.Snapshots.Get(s.ctx, 2)
	s.ok(err)
	before, after, err := view.Between(s.ctx, s.db, &from, &to)
	s.ok(err)
	if len(before) != 1 || before[0].Definition() != "Dawn is a ship." {
		t.Errorf("before: %+v", before)
	}
	if len(after) != 2 || after[0].Definition() != definition || after[1].Term != "Mik" {
		t.Errorf("after: %+v", after)
	}
}

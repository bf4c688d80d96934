package storage_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/storage"
	"annotator/view"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// join is a story that is read in parts.
type join struct {
	*story
	parts []*story
	was   map[int][]annotator.Entry // by scene, the codex when it was joined
}

// newJoin begins the runs of parts with some threads each, and a run that joins them.
func newJoin(t tester, dir string, threads ...[]int) *join {
	scenes := scenesOf(slices.Concat(threads...)...)
	j := &join{story: newStory(t, dir, scenes), was: map[int][]annotator.Entry{}}
	for i := range threads {
		var own []*annotator.Scene
		for _, count := range threads[i] {
			for _, scene := range scenes[:count] {
				part := *scene
				part.N, part.Order = len(own)+1, orderOf(len(own)+1)
				part.Thread.Order = part.Order - annotator.Order(part.Index)*annotator.OrderStep
				own = append(own, &part)
			}
			scenes = scenes[count:]
		}
		folder := filepath.Join(dir, strconv.Itoa(i+1))
		j.ok(os.Mkdir(folder, 0o700))
		part := newStory(t, folder, own)
		j.parts = append(j.parts, part)
	}
	return j
}

// seedOf returns a seed of entries with a fact each.
func seedOf(isHint bool, names ...string) annotator.Operation {
	seed := annotator.Operation{Do: annotator.DeedSeed, Hint: isHint}
	for _, name := range names {
		fact := annotator.Operation{Do: annotator.DeedAdd, Text: "I know it.", Kind: annotator.Noted}
		seed.Parts = append(seed.Parts, annotator.Operation{
			Do: annotator.DeedCreate, Name: name, Hint: isHint, Parts: []annotator.Operation{fact},
		})
	}
	return seed
}

// seed begins the story and its parts with a seed. The parts have further hints.
func (j *join) seed(seed annotator.Operation, hints ...string) {
	j.Helper()
	j.ok(j.db.Edits.Seed(j.ctx, &seed))
	seed.Parts = slices.Concat(seed.Parts, seedOf(true, hints...).Parts)
	for _, part := range j.parts {
		j.ok(part.db.Edits.Seed(part.ctx, &seed))
	}
}

// step makes the next step of a part and its checkpoint, and reports whether there was one.
func (j *join) step(part *storage.Part) bool {
	j.Helper()
	made, err := j.db.Joins.Step(j.ctx, part)
	j.ok(err)
	if made == nil {
		return false
	}
	if made.Scene > 0 {
		j.scene, j.due = made.Scene, true
		j.checkpoint()
	}
	j.was[j.scene] = j.codexAt(storage.Limit{})
	return true
}

// joinAll joins all parts. The database is closed and opened again before some steps.
func (j *join) joinAll(reopens func() bool) {
	j.Helper()
	for i, p := range j.parts {
		for more := true; more; {
			part, err := j.db.Joins.Part(j.ctx, i+1, p.path)
			j.ok(err)
			for more = j.step(part); more && !reopens(); more = j.step(part) {
			}
			j.ok(part.Close())
			j.reopen()
		}
	}
}

// codexAt returns the entries with what was known at a limit.
func (j *join) codexAt(limit storage.Limit) (all []annotator.Entry) {
	j.Helper()
	for e, err := range j.db.Reader(limit).All(j.ctx) {
		j.ok(err)
		all = append(all, *e)
	}
	return all
}

// someRead reads the next scene with some edits, which quote it.
func (s *story) someRead(t *rapid.T, people bool) {
	if people && rapid.IntRange(0, 2).Draw(t, "a person") == 0 {
		s.decides(s.someOperation(t))
	}
	n := s.next()
	switch rapid.IntRange(0, 9).Draw(t, "outcome") {
	case 0:
		s.record(annotator.SceneQuarantined)
		s.checkpoint()
		return
	case 1:
		s.record(annotator.SceneRecorded)
		s.checkpoint()
		return
	}
	quote, _ := codex.Ground(bodyOf(s.scenes[n-1].Posts[0].ID), "Dawn - the")
	quote.Post = s.scenes[n-1].Posts[0].ID
	s.begin("scene " + strconv.Itoa(n))
	count := rapid.IntRange(1, 4).Draw(t, "edits")
	s.reply("Let me see.", slices.Repeat([]string{"glossary_create"}, count)...)
	for range count {
		run := s.someEditOf(t, &quote)
		s.tool(run)
	}
	s.reply("Nothing more.")
	s.record(annotator.SceneRecorded)
	s.checkpoint()
}

// someEditOf is an edit that may quote a post.
func (s *story) someEditOf(t *rapid.T, quote *annotator.Evidence) edit {
	name := rapid.SampledFrom([]string{"Dawn", "Dawn (ship)", "Ysolde Marrow", "Captain Marrow", "Marrow", "Mik", "漢字"})
	text := rapid.SampledFrom([]string{"One.", "Two.", "Three.", "Four."})
	tags := rapid.SliceOfN(rapid.SampledFrom([]string{"ship", "person"}), 0, 1)
	known, err := s.db.Glossary.Entries(s.ctx, []int64{1, 2, 3, 4, 5})
	s.ok(err)
	id, to := int64(0), int64(0)
	if ids := slices.Sorted(maps.Keys(known)); len(ids) > 0 {
		id, to = rapid.SampledFrom(ids).Draw(t, "entry"), rapid.SampledFrom(ids).Draw(t, "other")
	}
	wanted := codex.Edit{
		Facts: factsOf(text.Draw(t, "fact"), quote), Aliases: []string{name.Draw(t, "alias")},
		Tags: tags.Draw(t, "tags"),
	}
	wanted.Facts[0].State = rapid.Bool().Draw(t, "state")
	switch way := rapid.IntRange(0, 8).Draw(t, "way"); {
	case id == 0, way < 2:
		wanted.Name = new(name.Draw(t, "name"))
		return revises(0, wanted)
	case way == 2:
		return retires(id)
	case way == 3:
		return merges(id, to)
	case way == 4:
		return restates(id, text.Draw(t, "statement"))
	case way == 5:
		return rewords(id, rapid.Int64Range(1, 3).Draw(t, "reworded"), text.Draw(t, "words"))
	case way == 6:
		return moves(id, to, rapid.Int64Range(1, 3).Draw(t, "moved"))
	case way == 7:
		wanted.Close = []codex.Closing{{Fact: rapid.Int64Range(1, 3).Draw(t, "closed"), By: 0}}
		wanted.DropAliases = []string{name.Draw(t, "dropped")}
	default:
		wanted.Name = new(name.Draw(t, "renamed"))
	}
	return revises(id, wanted)
}

// TestJoin joins parts in which all happens that may happen in a run. The result satisfies all laws. At the limit of
// each scene it has what it had when the scene was joined: what later parts tell is not seen before them. That does not
// hold of what people say of earlier scenes.
func TestJoin(t *testing.T) {
	t.Parallel()
	checkInside(t, func(t *rapid.T, inside string) {
		threads := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(1, 3), 1, 2), 1, 3).Draw(t, "parts")
		people := rapid.Bool().Draw(t, "people")
		j := newJoin(t, inside, threads...)
		if rapid.Bool().Draw(t, "seed") {
			j.seed(seedOf(rapid.Bool().Draw(t, "hint"), "Ysolde Marrow", "Dawn (ship)"), "Mik")
		}
		for _, part := range j.parts {
			for part.next() > 0 {
				part.someRead(t, people)
			}
			if part.retry(); rapid.Bool().Draw(t, "retry") {
				for part.next() > 0 {
					part.someRead(t, people)
				}
			}
			for part.next() > 0 {
				part.record(annotator.SceneRecorded)
				part.checkpoint()
			}
			part.clean()
		}
		j.joinAll(func() bool { return rapid.IntRange(0, 3).Draw(t, "kill") == 0 })
		j.clean()
		if people {
			return
		}
		for scene, was := range j.was {
			order := orderOf(scene)
			is := j.codexAt(storage.Limit{Last: int64(order), Reach: order})
			ignored := cmpopts.IgnoreFields(annotator.Entry{}, "Claimed")
			if diff := gocmp.Diff(was, is, ignored, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("as of scene %d (-when it was joined +now):\n%s", scene, diff)
			}
		}
	})
}

// TestJoinHasNoDoubles: what parts call by the same name is one entry.
func TestJoinHasNoDoubles(t *testing.T) {
	t.Parallel()
	checkInside(t, func(t *rapid.T, inside string) {
		names := []string{"Ysolde Marrow", "Hadrian Thesk", "Gallows Quay", "Tobin Vane", "the Mere", "Dawn (ship)"}
		j := newJoin(t, inside, slices.Repeat([][]int{{2}}, rapid.IntRange(1, 4).Draw(t, "parts"))...)
		want := map[string]bool{}
		for i, part := range j.parts {
			for part.next() > 0 {
				var edits []edit
				for _, name := range names {
					if rapid.Bool().Draw(t, name) {
						found, err := part.db.Glossary.Named(part.ctx, name)
						part.ok(err)
						if want[name] = true; len(found) == 0 {
							edits = append(edits, creates(name, fmt.Sprintf("Part %d knows it.", i)))
						}
					}
				}
				part.read(edits...)
			}
		}
		j.joinAll(func() bool { return false })
		j.clean()
		var is []string
		for _, e := range j.codexAt(storage.Limit{}) {
			is = append(is, e.Name())
		}
		slices.Sort(is)
		if diff := gocmp.Diff(slices.Sorted(maps.Keys(want)), is, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the names (-told +joined):\n%s", diff)
		}
	})
}

// TestJoinCopiesTheFirstStory: the first part's story so far is that of the story, scene after scene. The other parts'
// begin in the middle, and are not copied.
func TestJoinCopiesTheFirstStory(t *testing.T) {
	t.Parallel()
	j := newJoin(t, t.TempDir(), []int{2}, []int{2})
	for i, part := range j.parts {
		for n := part.next(); n > 0; n = part.next() {
			part.begin("scene")
			part.reply("Nothing.")
			part.record(annotator.SceneRecorded)
			part.summary(annotator.EpisodeCumulative, 0, 1, n, fmt.Sprintf("Part %d, scene %d.", i+1, n))
			part.checkpoint()
		}
	}
	j.joinAll(func() bool { return true })
	j.clean()
	var told []string
	for _, e := range j.episodes(annotator.EpisodeCumulative) {
		told = append(told, fmt.Sprint(e.Summary, " ", e.FromScene, e.ToScene, e.FromTurn, e.Supersedes, e.InForce))
	}
	want := []string{"Part 1, scene 1. 1 1 0 0 false", "Part 1, scene 2. 1 2 0 1 false"}
	if diff := gocmp.Diff(want, told); diff != "" {
		t.Errorf("the stories so far (-want +joined):\n%s", diff)
	}
	all := annotator.Episode{
		Kind: annotator.EpisodeCumulative, FromScene: 1, ToScene: 4, Summary: "All of it.", By: annotator.AuthorModel,
	}
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: "It is told."}
	j.ok(j.db.Curation.Decide(j.ctx, nil, note, nil, &annotator.Summaries{Episodes: []annotator.Episode{all}}))
	for n, want := range []string{"Part 1, scene 1.", "Part 1, scene 2.", "Part 1, scene 2.", "All of it."} {
		p, err := view.ParsePoint(fmt.Sprintf("scene:%d", n+1))
		j.ok(err)
		m, err := view.LimitAt(j.ctx, j.db, p)
		j.ok(err)
		if story, err := view.At(j.db, m).Story(j.ctx); err != nil || story == nil || story.Summary != want {
			t.Errorf("as of scene %d the story so far is %v, %v", n+1, story, err)
		}
	}
}

// TestJoinHasTheSeedOnce: the entries of a person are in the story before the first scene, each once. What the parts
// tell is added to them. Of hints, a part ends what the person noted; another hint is there once it is told of.
func TestJoinHasTheSeedOnce(t *testing.T) {
	t.Parallel()
	for _, areHints := range []bool{false, true} {
		j := newJoin(t, t.TempDir(), []int{2}, []int{2})
		j.seed(seedOf(areHints, "Ysolde Marrow", "Gallows Quay"), "Mik", "Wren")
		for i, part := range j.parts {
			text := fmt.Sprintf("Part %d tells of it.", i+1)
			part.read(revises(3, codex.Edit{Facts: factsOf(text, nil)})) // Mik
			if areHints {
				part.read(revises(1, codex.Edit{
					Facts: factsOf(text, nil), Close: []codex.Closing{{Fact: 1, Ended: annotator.EndWrong}},
				}))
			} else {
				part.read(reads)
			}
		}
		j.joinAll(func() bool { return true })
		j.clean()
		var is []string
		for _, e := range j.codexAt(storage.Limit{}) {
			for _, c := range e.Claims {
				is = append(is, fmt.Sprint(e.Name(), ": ", c.Text, c.Ended))
			}
		}
		want := []string{"Ysolde Marrow: I know it.", "Gallows Quay: I know it."}
		if areHints {
			want = []string{
				"Ysolde Marrow: I know it.wrong", "Ysolde Marrow: Part 1 tells of it.",
				"Ysolde Marrow: Part 2 tells of it.", "Gallows Quay: I know it.",
			}
		}
		want = append(want, "Mik: Part 1 tells of it.", "Mik: Part 2 tells of it.")
		if diff := gocmp.Diff(want, is); diff != "" {
			t.Errorf("hints: %t: the facts (-want +joined):\n%s", areHints, diff)
		}
	}
}

package storage_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
	"annotator/storage"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestRandomStories does all that a run may do, in any legal order. Each resulting database satisfies its laws, and has
// the same contents when it is opened again. It returns the window as it was at every snapshot and row.
func TestRandomStories(t *testing.T) {
	t.Parallel()
	checkInside(t, func(t *rapid.T, inside string) {
		threads := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 4).Draw(t, "threads")
		s := newStory(t, inside, scenesOf(threads...))
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			moves := s.moves(t)
			moves[rapid.SampledFrom(slices.Sorted(maps.Keys(moves))).Draw(t, "move")]()
		}
		s.clean()
		s.endsPlainly()
		before := s.everything()
		s.reopen()
		if diff := cmp.Diff(before, s.everything()); diff != "" {
			t.Errorf("after opening it again (-before +after):\n%s", diff)
		}
		s.remembers()
		s.countsQuotes()
		if lost := s.outcomes("lost"); lost != s.lost {
			t.Errorf("%d calls are written off as lost, %d were", lost, s.lost)
		}
	})
}

// moves returns the possible next operations.
func (s *story) moves(t *rapid.T) map[string]func() {
	moves := map[string]func(){
		"reopen":  s.reopen,
		"retry":   s.retry,
		"verify":  s.clean,
		"compact": func() { s.compactSome(t) },
		"prompt": func() {
			text := rapid.SampledFrom([]string{"You keep a codex.", "second"}).Draw(t, "prompt")
			s.ok(s.db.Journal.UsePrompt(s.ctx, promptOf(text)))
		},
	}
	if s.snapshot > 0 && !s.begun && !s.due {
		moves["create a snapshot"] = s.createSnapshot
	}
	switch {
	case s.due:
		moves["checkpoint"] = s.checkpoint
	case !s.begun && s.next() > 0:
		moves["begin"] = func() { s.begin(text(t), s.someShows(t)...) }
		moves["nothing to ask"] = func() { s.record(annotator.SceneRecorded) }
		moves["too long"] = func() { s.record(annotator.SceneQuarantined) }
	case s.begun && len(s.calls) > 0:
		moves["tool"] = func() { s.tool(s.someEdit(t)) }
	case s.begun:
		maps.Copy(moves, s.asking(t))
	}
	return moves
}

// asking are the moves of an open scene whose tool calls are all answered.
func (s *story) asking(t *rapid.T) map[string]func() {
	moves := map[string]func(){
		"reply":       func() { s.reply(text(t)) },
		"failed call": func() { s.fail(annotator.Transient) },
		"lost call":   func() { s.call(); s.reopen(); s.lost++ },
		"note":        func() { s.note(text(t)) },
		"record":      func() { s.record(annotator.SceneRecorded) },
		"quarantine":  func() { s.record(annotator.SceneQuarantined) },
		"reply with calls": func() {
			s.reply(text(t), slices.Repeat([]string{"tool"}, rapid.IntRange(1, 3).Draw(t, "calls"))...)
		},
	}
	if s.answer {
		moves["update"] = func() { s.update(s.someEdit(t)) }
	}
	return moves
}

func text(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "plain", "'quoted' \"twice\"", "\x00", "漢字", "\xff"}).Draw(t, "text")
}

// compactSome removes some turns before the current one from the window, if there are any.
func (s *story) compactSome(t *rapid.T) {
	last := s.turns
	if s.begun {
		last--
	}
	s.compact(rapid.Int64Range(min(s.through, last), last).Draw(t, "through"))
}

func (s *story) someShows(t *rapid.T) []annotator.Shown {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) annotator.Shown {
		return annotator.Shown{
			Entry:    rapid.Int64Range(1, 9).Draw(t, "entry"),
			Revision: rapid.Int64Range(1, 99).Draw(t, "revision"),
		}
	}), 0, 2).Draw(t, "shows")
}

// someEdit is a tool that creates, changes, retires, or only reads. It may well be refused.
func (s *story) someEdit(t *rapid.T) edit {
	term := rapid.SampledFrom([]string{"Dawn", "Dawn (ship)", "dawn", "Mik's sword", "C++", "漢字"})
	definition := rapid.SampledFrom([]string{"One. Two. Three.", "One. Three.", "Two. Four. Five. Six.", "One."})
	tags := rapid.SliceOfN(rapid.SampledFrom([]string{"ship", "Ship", "person"}), 0, 3)
	switch rapid.IntRange(0, 6).Draw(t, "edit") {
	case 0:
		return reads
	case 1, 2:
		return creates(term.Draw(t, "term"), definition.Draw(t, "definition"), tags.Draw(t, "tags")...)
	}
	ids, err := view.Glossary{Glossary: s.db.Glossary}.Search(s.ctx, annotator.Query{})
	s.ok(err)
	if len(ids) == 0 {
		return reads
	}
	id := ids[rapid.IntRange(0, len(ids)-1).Draw(t, "entry")].ID
	switch rapid.IntRange(0, 7).Draw(t, "way") {
	case 0:
		return retires(id)
	case 1:
		return restates(id, definition.Draw(t, "statement"))
	case 2, 3:
		return revises(id, codex.Edit{Facts: []codex.Fact{{
			Text: definition.Draw(t, "fact"), Speaker: rapid.SampledFrom([]string{"", "Mik", "漢字"}).Draw(t, "speaker"),
			State:    rapid.Bool().Draw(t, "state"),
			Relation: rapid.SampledFrom([]string{"", "sister of", "owns"}).Draw(t, "relation"),
			Object:   term.Draw(t, "object"),
		}}, Close: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) codex.Closing {
			return codex.Closing{
				Fact: rapid.Int64Range(1, 4).Draw(t, "close"),
				By:   rapid.Int64Range(0, 3).Draw(t, "by"),
			}
		}), 0, 2).Draw(t, "closings")})
	case 4:
		return revises(id, codex.Edit{
			DropAliases: []string{term.Draw(t, "dropped")},
			Aliases:     []string{term.Draw(t, "alias")},
		})
	}
	evidence, _ := codex.Ground(bodyOf(10), "Dawn - the")
	evidence.Post, evidence.Weak = 10, rapid.Bool().Draw(t, "weak")
	name, said := term.Draw(t, "term"), definition.Draw(t, "definition")
	status := rapid.SampledFrom([]annotator.Status{annotator.Tentative, annotator.Confirmed}).Draw(t, "status")
	return revises(id, codex.Edit{
		Name: &name, Facts: factsOf(said, &evidence), Tags: tags.Draw(t, "tags"),
		Aliases: []string{term.Draw(t, "alias")}, Status: &status,
	})
}

// contents is all that can be read out of a database.
type contents struct {
	Run         storage.RunStatus
	Entries     []annotator.Entry
	Revisions   [][]annotator.Revision
	Names       map[int64][]string
	Window      []annotator.Trace
	Scenes      []annotator.SceneRow
	Next        int
	Quarantined []annotator.SceneRow
	Last        annotator.Call
	LastReply   int64
}

// everything reads it all. The state is left out: a new process begins in another.
func (s *story) everything() contents {
	s.Helper()
	var c contents
	var err error
	c.Run, err = s.db.Run.Status(s.ctx)
	s.ok(err)
	c.Run.State = ""
	for e, err := range s.db.Glossary.All(s.ctx) {
		s.ok(err)
		c.Entries = append(c.Entries, *e)
		revisions, err := s.db.Glossary.Revisions(s.ctx, e.ID)
		s.ok(err)
		c.Revisions = append(c.Revisions, revisions)
	}
	c.Names, err = s.db.Glossary.Names(s.ctx)
	s.ok(err)
	c.Window, err = s.db.Journal.Window(s.ctx, 0)
	s.ok(err)
	for n := range s.scenes {
		scene, err := s.db.Scenes.Get(s.ctx, n+1)
		s.ok(err)
		c.Scenes = append(c.Scenes, *scene)
	}
	if next, err := s.db.Scenes.Next(s.ctx); !errors.Is(err, annotator.NotFound) {
		s.ok(err)
		c.Next = next.N
	}
	c.Quarantined, err = s.db.Scenes.Quarantined(s.ctx)
	s.ok(err)
	c.Last, c.LastReply, err = s.db.Calls.Last(s.ctx)
	s.ok(err)
	return c
}

// countsQuotes fails unless the report counts the quotations of live entries, and the weak ones among them.
func (s *story) countsQuotes() {
	s.Helper()
	var want storage.QuoteCount
	for e, err := range s.db.Glossary.All(s.ctx) {
		s.ok(err)
		for i := range e.Claims {
			for _, quote := range e.Claims[i].Evidence {
				if e.Status.Live() {
					want.Total++
				}
				if e.Status.Live() && quote.Weak {
					want.Weak++
				}
			}
		}
	}
	if report, err := s.db.Run.Report(s.ctx); err != nil || report.Quotes != want {
		s.Errorf("%+v are counted, %+v are there: %v", report.Quotes, want, err)
	}
}

// remembers fails unless the database and the model agree on the window, now and at any time before.
func (s *story) remembers() {
	s.Helper()
	s.same(0, s.window())
	for through, window := range s.past {
		s.same(through, window)
	}
	for turn := range s.turns {
		rows, err := s.db.Journal.Turn(s.ctx, turn+1)
		s.ok(err)
		want := slices.DeleteFunc(slices.Clone(s.rows), func(row annotator.Trace) bool { return row.Turn != turn+1 })
		if diff := cmp.Diff(want, rows, cmpopts.EquateEmpty()); diff != "" {
			s.Errorf("turn %d (-model +database):\n%s", turn+1, diff)
		}
	}
}

func (s *story) same(through int64, want []annotator.Trace) {
	s.Helper()
	rows, err := s.db.Journal.Window(s.ctx, through)
	s.ok(err)
	if diff := cmp.Diff(want, rows, cmpopts.EquateEmpty()); diff != "" {
		s.Errorf("window through row %d (-model +database):\n%s", through, diff)
	}
}

// outcomes counts the calls of an outcome.
func (s *story) outcomes(outcome string) int {
	s.Helper()
	pool, err := sqlite.Open(s.ctx, s.path, sqlite.ReadOnly, 1)
	s.ok(err)
	defer func() { _ = pool.Close() }()
	var n int
	s.ok(pool.QueryRowContext(s.ctx, `SELECT count(*) FROM call WHERE outcome = ?`, outcome).Scan(&n))
	return n
}

package storage

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"strconv"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// verifyReplay compares each entry with the sum of its revisions, and the derived columns with the entry.
func (v *verifier) verifyReplay(ctx context.Context, f *Finding) error {
	refused := func(err error) error {
		f.add(err.Error())
		return nil
	}
	replayed, err := replay(ctx, v.q, refused)
	if err != nil {
		return err
	}
	columns, err := v.derived(ctx)
	if err != nil {
		return err
	}
	for e, err := range v.glossary.All(ctx) {
		if err != nil {
			return err
		}
		if want := replayed[e.ID]; want == nil || !reflect.DeepEqual(plainEntry(e), plainEntry(want)) {
			f.add(fmt.Sprintf("entry %d (%s) is not the sum of its revisions", e.ID, e.Name()))
		}
		if columns[e.ID] != derivedOf(e) {
			f.add(fmt.Sprintf("entry %d (%s): the columns for searching are not derived from it", e.ID, e.Name()))
		}
		delete(replayed, e.ID)
	}
	for id := range replayed {
		f.add(fmt.Sprintf("entry %d has revisions, but is gone", id))
	}
	return v.verifyNames(ctx, f)
}

// replay adds up all revisions. refused decides whether to go on after one that does not fit.
func replay(ctx context.Context, q querier, refused func(error) error) (map[int64]*annotator.Entry, error) {
	entries := map[int64]*annotator.Entry{}
	err := sqlite.Each(ctx, q, func(rows *sql.Rows) error {
		var r annotator.Revision
		if err := scanRevision(rows, &r); err != nil {
			return err
		}
		if entries[r.Entry] == nil {
			entries[r.Entry] = &annotator.Entry{ID: r.Entry, Status: annotator.Tentative}
		}
		if err := codex.Apply(entries[r.Entry], &r); err != nil {
			return refused(err)
		}
		return nil
	}, `SELECT `+revisionColumns+` FROM revision ORDER BY id`)
	return entries, err
}

// plainEntry returns a copy with empty lists in place of nil ones.
func plainEntry(e *annotator.Entry) annotator.Entry {
	c := *e
	c.Tags = append([]string{}, e.Tags...)
	c.Aliases = append([]annotator.Alias{}, e.Aliases...)
	c.Claims = append([]annotator.Claim{}, e.Claims...)
	for i := range c.Claims {
		c.Claims[i].Evidence = append([]annotator.Evidence{}, c.Claims[i].Evidence...)
	}
	return c
}

// derived are the columns of an entry's row that searches read, and that follow from the entry.
type derived struct {
	normalized, definition string
}

func derivedOf(e *annotator.Entry) derived { return derived{codex.Normalize(e.Name()), e.Definition()} }

// derived returns the derived columns of all entries.
func (v *verifier) derived(ctx context.Context) (map[int64]derived, error) {
	all := map[int64]derived{}
	return all, sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var id int64
		var d derived
		err := rows.Scan(&id, &d.normalized, &d.definition)
		all[id] = d
		return err
	}, `SELECT id, term_normalized, definition FROM glossary_entry`)
}

// verifyNames compares the normalised names with the names.
func (v *verifier) verifyNames(ctx context.Context, f *Finding) error {
	return sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var entry int64
		var name, normalized string
		err := rows.Scan(&entry, &name, &normalized)
		if codex.Normalize(name) != normalized {
			f.add(fmt.Sprintf("entry %d: the alias %q is looked up as %q", entry, name, normalized))
		}
		return err
	}, `SELECT entry_id, name, name_normalized FROM glossary_alias`)
}

// history is what the revisions up to one of them add up to, with what they must agree with.
type history struct {
	entries   map[int64]*annotator.Entry
	live      int
	changed   map[int64][2]int64 // when an entry was made and last changed
	seen      map[int64]int      // the furthest scene of an entry's revisions
	openings  []opening          // that are after the revisions so far
	furthest  int                // of the scenes of the others
	silent    map[int]bool       // scenes that have ended without a turn
	posts     map[int]int        // so many has a scene
	snapshots map[int64][]snapshotCount
}

// snapshotCount is the number of live entries that a snapshot names.
type snapshotCount struct {
	id   int64
	live int
}

// verifyHistory proves of each revision that it follows from the ones before, of each snapshot that it counts the
// entries of its moment, and of each entry that its times are those of its revisions.
func (v *verifier) verifyHistory(ctx context.Context, f *Finding) error {
	h, err := v.readHistory(ctx)
	if err != nil {
		return err
	}
	h.checkSnapshots(0, f)
	err = sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var r annotator.Revision
		var scene int // of the revision's turn; 0 where it has none
		err := rows.Scan(&r.ID, &r.Entry, &r.Field, &r.Old, &r.New, &r.At, &r.Seen, &r.Actor, &r.Turn, &r.Trace, &r.Changed, &scene)
		if err == nil {
			h.add(&r, scene, f)
			h.checkSnapshots(r.ID, f)
		}
		return err
	}, `SELECT v.id, entry_id, field, old_value, new_value, v.at, seen, actor, v.turn, coalesce(trace_id, 0), changed_at, coalesce(t.scene, 0)
		FROM revision v LEFT JOIN trace t ON t.turn = v.turn AND t.seq = 0 AND v.turn > 0 ORDER BY v.id`)
	if err != nil {
		return err
	}
	return sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var id int64
		var changed [2]int64
		err := rows.Scan(&id, &changed[0], &changed[1])
		if h.changed[id] != changed {
			f.add(fmt.Sprintf("entry %d was not made or changed when its revisions say", id))
		}
		return err
	}, `SELECT id, created_at, updated_at FROM glossary_entry`)
}

// readHistory reads what the revisions must agree with.
func (v *verifier) readHistory(ctx context.Context) (*history, error) {
	h := &history{
		entries: map[int64]*annotator.Entry{}, changed: map[int64][2]int64{}, seen: map[int64]int{}, silent: map[int]bool{}, posts: map[int]int{}, snapshots: map[int64][]snapshotCount{},
	}
	err := sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var scene, posts int
		err := rows.Scan(&scene, &posts)
		h.posts[scene] = posts
		return err
	}, `SELECT n, iif(json_valid(posts), json_array_length(posts), 0) FROM scene`)
	if err == nil {
		err = sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
			var scene int
			err := rows.Scan(&scene)
			h.silent[scene] = true
			return err
		}, `SELECT n FROM scene WHERE turn = 0 AND recorded_at IS NOT NULL UNION ALL SELECT scene FROM refusal WHERE turn = 0`)
	}
	if err == nil {
		h.openings, err = collect(ctx, v.q, scanOpening, `SELECT id, scene FROM trace WHERE turn > 0 AND seq = 0 ORDER BY id`)
	}
	if err != nil {
		return nil, err
	}
	return h, sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var revision int64
		var s snapshotCount
		err := rows.Scan(&s.id, &revision, &s.live)
		h.snapshots[revision] = append(h.snapshots[revision], s)
		return err
	}, `SELECT id, revision_id, entries FROM snapshot`)
}

// opening is a row of the journal that begins a turn.
type opening struct {
	row   int64
	scene int
}

func scanOpening(rows *sql.Rows, o *opening) error { return rows.Scan(&o.row, &o.scene) }

// readUntil returns the furthest scene that a turn before a row of the journal has begun with. The rows come in order.
func (h *history) readUntil(row int64) int {
	for len(h.openings) > 0 && h.openings[0].row < row {
		h.furthest, h.openings = max(h.furthest, h.openings[0].scene), h.openings[1:]
	}
	return h.furthest
}

// checkSeen adds what is wrong about how far the story was read when a revision was made. It is no less than for what the revision
// changes, and than for the entry that it merges into: a limit that holds the revision holds those, too.
func (h *history) checkSeen(r *annotator.Revision, f *Finding) {
	if read := h.readUntil(r.Trace); r.Trace != 0 && r.Seen != read && (r.Seen < read || !h.silent[r.Seen]) {
		f.add(fmt.Sprintf("revision %d says that the story was read to scene %d; it was read to scene %d", r.ID, r.Seen, read))
	}
	if r.At.Scene() > r.Seen {
		f.add(fmt.Sprintf("revision %d is dated to scene %d, and the story was read to scene %d", r.ID, r.At.Scene(), r.Seen))
	}
	least := h.seen[r.Entry]
	if into, err := strconv.ParseInt(r.New, 10, 64); err == nil && r.Field == annotator.FieldMerge {
		least = max(least, h.seen[into])
	}
	if r.Seen < least {
		f.add(fmt.Sprintf("revision %d changes what is known from scene %d, and is known from scene %d", r.ID, least, r.Seen))
	}
	h.seen[r.Entry] = max(h.seen[r.Entry], r.Seen)
}

// add applies a revision, and adds what it contradicts.
func (h *history) add(r *annotator.Revision, scene int, f *Finding) {
	e, known := h.entries[r.Entry]
	if !known {
		e = &annotator.Entry{ID: r.Entry, Status: annotator.Tentative}
		h.entries[r.Entry] = e
		h.live++
		h.changed[r.Entry] = [2]int64{r.Changed, r.Changed}
	}
	if !codex.Follows(e, r) {
		f.add(fmt.Sprintf("revision %d of entry %d does not change what was there", r.ID, r.Entry))
	}
	switch {
	case r.At.Rank() >= h.posts[r.At.Scene()]:
		f.add(fmt.Sprintf("revision %d is dated to a post that is not there", r.ID))
	case r.Turn != 0 && r.At.Scene() != scene:
		f.add(fmt.Sprintf("revision %d of turn %d, which reads scene %d, is dated to scene %d", r.ID, r.Turn, scene, r.At.Scene()))
	}
	h.checkSeen(r, f)
	live := e.Status.Live()
	if err := codex.Apply(e, r); err != nil {
		f.add(err.Error())
	}
	if live && !e.Status.Live() {
		h.live--
	} else if !live && e.Status.Live() {
		h.live++
	}
	h.changed[r.Entry] = [2]int64{h.changed[r.Entry][0], r.Changed}
}

// checkSnapshots compares the snapshots after a revision with the number of live entries.
func (h *history) checkSnapshots(revision int64, f *Finding) {
	for _, s := range h.snapshots[revision] {
		if s.live != h.live {
			f.add(fmt.Sprintf("snapshot %d counts %d live entries; there were %d", s.id, s.live, h.live))
		}
	}
}

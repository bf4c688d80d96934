package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// verifyReplay adds up all revisions. It proves that each revision follows from the ones before, and that its values
// are stored. It proves that each snapshot has the right number of entries, and that each entry is the sum of its
// revisions.
func (v *verifier) verifyReplay(ctx context.Context, f *Finding) error {
	h, err := v.readHistory(ctx)
	if err != nil {
		return err
	}
	h.checkSnapshots(0, f)
	err = sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var r annotator.Revision
		var set storedValue
		var scene int // of the revision's turn; 0 where it has none
		err := scanRevisionAnd(rows, &r, &set.field, &set.key, &set.holds, &set.known, &scene)
		if err == nil {
			h.add(&r, &set, scene, f)
			h.checkSnapshots(r.ID, f)
		}
		return err
	}, `SELECT `+revisionColumns+`, coalesce(n.field, ''), coalesce(n.key, ''), coalesce(n.holds = 1, 0),
		n.id IS NOT NULL, coalesce(t.scene, 0)
		FROM revision r`+revisionValues+` LEFT JOIN trace t ON t.turn = r.turn AND t.seq = 0 AND r.turn > 0
		ORDER BY r.id`)
	if err != nil {
		return err
	}
	for e, err := range v.glossary.All(ctx) {
		if err != nil && ctx.Err() == nil {
			f.add(err.Error())
			return nil
		}
		if err != nil {
			return err
		}
		if want := h.entries[e.ID]; want == nil || !reflect.DeepEqual(plainEntry(e), plainEntry(want)) {
			f.add(fmt.Sprintf("entry %d (%s) is not the sum of its revisions", e.ID, e.Name()))
		}
		delete(h.entries, e.ID)
	}
	for id := range h.entries {
		f.add(fmt.Sprintf("entry %d has revisions, but is gone", id))
	}
	return nil
}

// storedValue is the value that a revision sets, as it is stored.
type storedValue struct {
	field annotator.Field
	key   string
	holds bool
	known bool // there is one
}

// checkValue adds what is wrong with the value that a revision sets.
func (h *history) checkValue(r *annotator.Revision, stored *storedValue, f *Finding) {
	ended, set, err := valuesOf(r)
	var want storedValue
	if set != nil {
		want = storedValue{set.field, set.key, set.holds, true}
	}
	if err != nil || *stored != want || !stored.known && (ended == nil || r.Old == "") {
		f.add(fmt.Sprintf("the value that revision %d of entry %d sets is stored otherwise", r.ID, r.Entry))
	}
}

// plainEntry returns a copy with empty lists in place of nil ones, and without what follows from the scenes.
func plainEntry(e *annotator.Entry) annotator.Entry {
	c := *e
	c.PresentScene = 0
	c.Tags, c.Locks = append([]string{}, e.Tags...), append([]string{}, e.Locks...)
	c.Aliases = append([]annotator.Alias{}, e.Aliases...)
	c.Claims = append([]annotator.Claim{}, e.Claims...)
	for i := range c.Claims {
		c.Claims[i].Evidence = append([]annotator.Evidence{}, c.Claims[i].Evidence...)
	}
	return c
}

// history is what the revisions up to one of them add up to, with what they must agree with.
type history struct {
	entries   map[int64]*annotator.Entry
	live      int
	seen      map[int64]annotator.Order // the furthest scene of an entry's revisions
	openings  []opening                 // that are after the revisions so far
	furthest  annotator.Order           // of the scenes of the others
	scenes    map[annotator.Order]*heldScene
	snapshots map[int64][]snapshotCount
}

// snapshotCount is the number of live entries that a snapshot names.
type snapshotCount struct {
	id   int64
	live int
}

// readHistory reads what the revisions must agree with.
func (v *verifier) readHistory(ctx context.Context) (*history, error) {
	h := &history{
		entries: map[int64]*annotator.Entry{}, seen: map[int64]annotator.Order{},
		scenes: map[annotator.Order]*heldScene{}, snapshots: map[int64][]snapshotCount{},
	}
	err := sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var order annotator.Order
		var s heldScene
		err := rows.Scan(&order, &s.n, &s.posts, &s.silent)
		h.scenes[order] = &s
		return err
	}, `SELECT ord, n, iif(json_valid(posts), json_array_length(posts), 0), turn = 0 AND recorded_at IS NOT NULL
		OR n IN (SELECT scene FROM refusal WHERE turn = 0) FROM scene`)
	if err == nil {
		h.openings, err = collect(ctx, v.q, scanOpening, `SELECT t.id, s.ord FROM trace t JOIN scene s ON s.n = t.scene
			WHERE t.turn > 0 AND t.seq = 0 ORDER BY t.id`)
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

// heldScene is a scene as it is stored.
type heldScene struct {
	n      int
	posts  int  // how many
	silent bool // it has ended without a turn
}

// scene returns the scene with an order; the zero value for none.
func (h *history) scene(order annotator.Order) heldScene {
	if s := h.scenes[order]; s != nil {
		return *s
	}
	return heldScene{}
}

// opening is a row of the journal that begins a turn.
type opening struct {
	row   int64
	scene annotator.Order
}

func scanOpening(rows *sql.Rows, o *opening) error { return rows.Scan(&o.row, &o.scene) }

// readUntil returns the furthest scene that a turn before a row of the journal has begun with. The rows come in order.
func (h *history) readUntil(row int64) annotator.Order {
	for len(h.openings) > 0 && h.openings[0].row < row {
		h.furthest, h.openings = max(h.furthest, h.openings[0].scene), h.openings[1:]
	}
	return h.furthest
}

// checkSeen adds what is wrong about how far the story was read when a revision was made. It is not before the earlier
// revisions of the entry, or of the entry that it merges into. So a limit that includes the revision includes those,
// too.
//
// A person's edit is seen from where what it changes is seen, which the check of the values proves.
func (h *history) checkSeen(r *annotator.Revision, f *Finding) {
	read, isPerson := h.readUntil(r.Trace), r.Actor == annotator.ActorPerson
	if isPerson && r.Seen <= read {
		read = r.Seen
	}
	if r.Trace != 0 && r.Seen != read && (r.Seen < read || !h.scene(r.Seen).silent) {
		f.add(fmt.Sprintf("revision %d says that the story was read to scene %d; it was read to scene %d", r.ID,
			h.scene(r.Seen).n, h.scene(read).n))
	}
	if r.At.Order() > r.Seen {
		f.add(fmt.Sprintf("revision %d is dated to scene %d, and the story was read to scene %d", r.ID,
			h.scene(r.At.Order()).n, h.scene(r.Seen).n))
	}
	least := h.seen[r.Entry]
	if into, err := strconv.ParseInt(r.New, 10, 64); err == nil && r.Field == annotator.FieldMerge {
		least = max(least, h.seen[into])
	}
	if r.Seen < least && !isPerson {
		f.add(fmt.Sprintf("revision %d changes what is known from scene %d, and is known from scene %d", r.ID,
			h.scene(least).n, h.scene(r.Seen).n))
	}
	h.seen[r.Entry] = max(h.seen[r.Entry], r.Seen)
}

// add applies a revision, and adds what it contradicts.
func (h *history) add(r *annotator.Revision, set *storedValue, scene int, f *Finding) {
	e, known := h.entries[r.Entry]
	if !known {
		e = &annotator.Entry{ID: r.Entry, Status: annotator.Tentative}
		h.entries[r.Entry] = e
		h.live++
	}
	if !codex.Follows(e, r) {
		f.add(fmt.Sprintf("revision %d of entry %d does not change what was there", r.ID, r.Entry))
	}
	switch {
	case r.At == 0 && r.Seen == 0 && r.Actor == annotator.ActorPerson: // from before the story
	case r.At.Rank() >= h.scene(r.At.Order()).posts:
		f.add(fmt.Sprintf("revision %d is dated to a post that is not there", r.ID))
	case r.Turn != 0 && h.scene(r.At.Order()).n != scene:
		f.add(fmt.Sprintf("revision %d of turn %d, which reads scene %d, is dated to scene %d", r.ID, r.Turn, scene,
			h.scene(r.At.Order()).n))
	}
	h.checkValue(r, set, f)
	h.checkSeen(r, f)
	h.checkMove(r, f)
	live := e.Status.Live()
	if err := codex.Apply(e, r); err != nil {
		f.add(err.Error())
	}
	if live && !e.Status.Live() {
		h.live--
	} else if !live && e.Status.Live() {
		h.live++
	}
}

// checkMove adds a claim that has moved to an entry that does not have it.
func (h *history) checkMove(r *annotator.Revision, f *Finding) {
	var claim annotator.Claim
	if r.Field != annotator.FieldClaim || !strings.Contains(r.New, `"moved_to"`) ||
		json.Unmarshal([]byte(r.New), &claim) != nil {
		return
	}
	if to := h.entries[claim.MovedTo]; to == nil || !codex.Has(to, &claim) {
		f.add(fmt.Sprintf("revision %d moves claim %d of entry %d to entry %d, which does not have it", r.ID, claim.ID,
			r.Entry, claim.MovedTo))
	}
}

// checkSnapshots compares the snapshots after a revision with the number of live entries.
func (h *history) checkSnapshots(revision int64, f *Finding) {
	for _, s := range h.snapshots[revision] {
		if s.live != h.live {
			f.add(fmt.Sprintf("snapshot %d counts %d live entries; there were %d", s.id, s.live, h.live))
		}
	}
}

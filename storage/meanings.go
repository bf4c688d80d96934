package storage

import (
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"

	"annotator"
)

// lookBack is the number of scenes before its own in which a name of several entries looks for the one that it means.
const lookBack = 10

// forever is a level of knowledge that includes all that is known.
const forever = annotator.Order(math.MaxInt64)

// heldMention is a row of table mention.
type heldMention struct {
	Mention
	since knownSince
	ended knownSince // zero while it is in force
	meant bool
}

// inForce reports whether it was in force when the story was known up to a scene.
func (m *heldMention) inForce(level annotator.Order) bool {
	return m.since.seen <= level && (m.ended.revision == 0 || m.ended.seen > level)
}

// meanings returns which mentions mean their entry at a level of knowledge. A name of one entry means that one. A name
// of several entries means the one of them that was last named by a name of its own, at most lookBack scenes before. If
// none was, the name is ambiguous and means no entry.
//
// The mentions are those of some consecutive scenes of a thread that were searched for names, in the order of the text.
func meanings(mentions []heldMention, scenes []annotator.Order, level annotator.Order) []bool {
	meant, last := make([]bool, len(mentions)), map[int64]int{} // the newest mention of each entry by a name of its own
	distance := func(from, to int) int {
		a, _ := slices.BinarySearch(scenes, mentions[from].Place.Order())
		b, _ := slices.BinarySearch(scenes, mentions[to].Place.Order())
		return b - a
	}
	for i := 0; i < len(mentions); {
		var candidates []int
		first := i
		for ; i < len(mentions) && sameName(&mentions[first], &mentions[i]); i++ {
			if mentions[i].inForce(level) {
				candidates = append(candidates, i)
			}
		}
		if len(candidates) == 1 {
			meant[candidates[0]], last[mentions[candidates[0]].Entry] = true, candidates[0]
			continue
		}
		newest, means := -1, -1
		for _, c := range candidates {
			if at, ok := last[mentions[c].Entry]; ok && at > newest {
				newest, means = at, c
			}
		}
		if means >= 0 && distance(newest, means) <= lookBack {
			meant[means] = true
		}
	}
	return meant
}

// sameName reports whether two mentions are of the same words.
func sameName(a, b *heldMention) bool {
	return a.Place == b.Place && a.Start == b.Start && a.End == b.End
}

// mentionUpdate is a change of mentions within a transaction.
type mentionUpdate struct {
	*tx
	former int64      // the newest revision at the last update
	now    knownSince // the newest one
	names  aliasesSince
	fresh  map[Mention]int64                 // that were added, with the revision that set the newest row of each
	added  map[annotator.Order]map[int64]int // to the mentions of an entry in a scene; 0 where one has ended
	held   map[annotator.Order][]heldMention // of scenes that were read
	gone   map[annotator.Place]bool          // the places of former posts
}

// count adds to the mentions of an entry that mean it.
func (u *mentionUpdate) count(m *Mention, n int) {
	scene := m.Place.Order()
	if u.added[scene] == nil {
		u.added[scene] = map[int64]int{}
	}
	u.added[scene][m.Entry] += n
}

// resolve finds what the names of several entries mean, in the scenes that have changed and in those whose names look
// back to them. A meaning that has changed begins with the newest revision. So a limit shows what was known then.
func (u *mentionUpdate) resolve() {
	affected := map[annotator.Order]bool{}
	for scene := range u.added {
		affected[scene] = true
		for _, next := range u.neighbours(scene, ">", "ASC") {
			affected[next] = true
		}
	}
	for _, scene := range slices.Sorted(maps.Keys(affected)) {
		u.resolveScene(scene)
	}
}

// neighbours returns scenes of the same thread that were searched for names, the nearest first.
func (u *mentionUpdate) neighbours(scene annotator.Order, side, direction string) []annotator.Order {
	found, err := collect(u.ctx, u, ScanValue[annotator.Order], `SELECT o.ord FROM scene s CROSS JOIN scene o
		ON o.thread_id = s.thread_id AND o.ord `+side+` s.ord AND o.mentioned = 1
		WHERE s.ord = ? ORDER BY o.ord `+direction+` LIMIT ?`, scene, lookBack)
	u.fail(err)
	return found
}

func (u *mentionUpdate) resolveScene(scene annotator.Order) {
	own := u.heldIn(scene)
	if !slices.ContainsFunc(own, func(m heldMention) bool { return !m.meant }) && !shared(own) {
		return
	}
	scenes := append(u.neighbours(scene, "<", "DESC"), scene)
	slices.Sort(scenes)
	var all []heldMention
	for _, s := range scenes {
		all = append(all, u.heldIn(s)...)
	}
	first := len(all) - len(own)
	for _, l := range u.levels(all, scene) {
		meant := meanings(all, scenes, l.seen)
		for i := first; i < len(all); i++ {
			if m := &all[i]; m.inForce(l.seen) && m.meant != meant[i] && (l.seen == forever || u.isFresh(m)) {
				u.setMeant(m, meant[i], l)
			}
		}
	}
}

// shared reports whether several entries have a name.
func shared(mentions []heldMention) bool {
	for i := 1; i < len(mentions); i++ {
		if sameName(&mentions[i-1], &mentions[i]) && mentions[i-1].Entry != mentions[i].Entry {
			return true
		}
	}
	return false
}

// levels returns the times at which the meanings in a scene may change. For mentions that were added they are the time
// before the scene was read, and those at which names became known or ended. The last one is now.
func (u *mentionUpdate) levels(mentions []heldMention, scene annotator.Order) []knownSince {
	first := forever
	for i := range mentions {
		if m := &mentions[i]; m.Place.Order() == scene && u.isFresh(m) {
			first = min(first, max(m.since.seen, scene-1))
		}
	}
	revision := map[annotator.Order]int64{forever: u.now.revision} // the newest of each time
	if first < forever {
		revision[first] = 0
	}
	for i := range mentions {
		for _, k := range []knownSince{mentions[i].since, mentions[i].ended} {
			if k.seen >= first {
				revision[k.seen] = max(revision[k.seen], k.revision)
			}
		}
	}
	var levels []knownSince
	for _, seen := range slices.Sorted(maps.Keys(revision)) {
		levels = append(levels, knownSince{revision[seen], seen})
	}
	return levels
}

// isFresh reports whether a row was added. Former rows of the same mention have ended, and stay as they are.
func (u *mentionUpdate) isFresh(m *heldMention) bool {
	since, added := u.fresh[m.Mention]
	return added && since == m.since.revision
}

// setMeant changes whether a mention means its entry, from a time on.
func (u *mentionUpdate) setMeant(m *heldMention, meant bool, from knownSince) {
	if from.seen == forever {
		from.seen = u.now.seen
	}
	n := 0
	if meant {
		n = 1
	}
	// In the first case, no limit is between the two times.
	if from.revision <= m.since.revision || u.isFresh(m) && from.seen <= m.since.seen {
		u.execOne(`UPDATE mention SET meant = ? WHERE entry_id = ? AND place = ? AND start_at = ? AND set_by = ?`,
			n, m.Entry, m.Place, m.Start, m.since.revision)
		u.count(&m.Mention, 2*n-1)
	} else {
		u.execOne(`UPDATE mention SET until_seen = ?, ended_by = ?
			WHERE entry_id = ? AND place = ? AND start_at = ? AND set_by = ?`,
			from.seen, from.revision, m.Entry, m.Place, m.Start, m.since.revision)
		u.insert(&m.Mention, from, n)
		if u.isFresh(m) {
			u.fresh[m.Mention] = from.revision
		}
		m.since = from
	}
	m.meant = meant
}

// insert adds a row to table mention. It is there already if the source has a text again that it had before.
func (u *mentionUpdate) insert(m *Mention, since knownSince, meant int) {
	var before int
	u.scan([]any{&before}, `SELECT coalesce((SELECT meant FROM mention
		WHERE entry_id = ? AND place = ? AND start_at = ? AND set_by = ?), 0)`,
		m.Entry, m.Place, m.Start, since.revision)
	u.execOne(`INSERT INTO mention (entry_id, place, start_at, end_at, set_by, from_seen, meant)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET end_at = excluded.end_at, meant = excluded.meant,
		until_seen = NULL, ended_by = NULL`, m.Entry, m.Place, m.Start, m.End, since.revision, since.seen, meant)
	u.count(m, meant-before)
}

// heldIn returns the mentions in a scene, in the order of the text.
func (u *mentionUpdate) heldIn(scene annotator.Order) []heldMention {
	if found, ok := u.held[scene]; ok {
		return found
	}
	found, err := collect(u.ctx, u, scanHeld, heldQuery+` WHERE place BETWEEN ? AND ?`+heldOrder,
		annotator.PlaceAt(scene, 0), annotator.PlaceAt(scene+1, 0)-1)
	u.fail(err)
	u.held[scene] = found
	return found
}

// heldQuery and heldOrder select rows that scanHeld scans.
const (
	heldQuery = `SELECT entry_id, place, start_at, end_at, set_by, from_seen, coalesce(ended_by, 0),
		coalesce(until_seen, 0), meant <> 0 FROM mention m`
	heldOrder = ` ORDER BY place, start_at, end_at, entry_id, set_by`
)

func scanHeld(rows *sql.Rows, m *heldMention) error {
	return rows.Scan(&m.Entry, &m.Place, &m.Start, &m.End, &m.since.revision, &m.since.seen, &m.ended.revision,
		&m.ended.seen, &m.meant)
}

// wrongMeanings returns the mentions in force whose meaning is not that of the rule.
func wrongMeanings(ctx context.Context, q querier) (wrong []heldMention, err error) {
	type place struct{ thread, order annotator.Order }
	searched, err := collect(ctx, q, func(rows *sql.Rows, p *place) error { return rows.Scan(&p.thread, &p.order) },
		`SELECT thread_id, ord FROM scene WHERE mentioned = 1 ORDER BY thread_id, ord`)
	if err != nil {
		return nil, err
	}
	var scenes []annotator.Order // the newest of the thread
	var held [][]heldMention     // in them
	for i, p := range searched {
		if i > 0 && searched[i-1].thread != p.thread {
			scenes, held = nil, nil
		}
		own, err := collect(ctx, q, scanHeld, heldQuery+` WHERE place BETWEEN ? AND ? AND ended_by IS NULL`+heldOrder,
			annotator.PlaceAt(p.order, 0), annotator.PlaceAt(p.order+1, 0)-1)
		if err != nil {
			return nil, err
		}
		scenes, held = append(scenes, p.order), append(held, own)
		if from := len(scenes) - 1 - lookBack; from > 0 {
			scenes, held = scenes[from:], held[from:]
		}
		all := slices.Concat(held...)
		meant := meanings(all, scenes, forever)
		for k := range own {
			if at := len(all) - len(own) + k; own[k].meant != meant[at] {
				wrong = append(wrong, own[k])
			}
		}
	}
	return wrong, nil
}

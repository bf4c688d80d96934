package storage

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"annotator"
)

// SourceChange is what a run has taken from a changed source. It is the content of a row of the journal.
type SourceChange struct {
	Added     []int   `json:"added,omitempty"`     // the numbers of the new scenes
	Withdrawn []int   `json:"withdrawn,omitempty"` // of scenes that will not be read, because their text is gone
	Former    []int64 `json:"former,omitempty"`    // the posts of the run whose text is gone
	Back      []int64 `json:"back,omitempty"`      // those whose text is there again
	Moved     int     `json:"moved,omitempty"`     // quotations that stand in other posts now
	Left      int     `json:"left,omitempty"`      // quotations of former posts that stand nowhere
}

// isEmpty reports whether nothing has changed.
func (c *SourceChange) isEmpty() bool {
	return len(c.Added)+len(c.Withdrawn)+len(c.Former)+len(c.Back)+c.Moved == 0
}

// FormerQuote is a quotation of a post whose text the source no longer has.
type FormerQuote struct {
	Entry  int64
	Thread int64           // of the post
	Place  annotator.Place // of the post
	annotator.Evidence

	json string // as it is stored
}

// QuoteFinder finds where the words of quotations stand now. It returns the evidence of each, without the claim; the
// zero value if it is to stay. Readable returns whether a post is in what the run has read to.
type QuoteFinder func(ctx context.Context, quotes []FormerQuote, readable func(post int64) bool) ([]annotator.Evidence,
	error)

// CompareStory compares the scenes of a run with its story. The error is annotator.Misused if a scene of the run has
// another text, is missing or is elsewhere.
func (s *Run) CompareStory(ctx context.Context, story Story) error {
	_, err := compareStory(ctx, s.db.read, story)
	return err
}

// Extend takes what has changed in the story of a run, in one transaction with its row of the journal. New scenes are
// added where the story has them, and no row of another scene changes, but for pending ones that are withdrawn. Posts
// whose text is gone are marked, and their quotations moved to where find says. The error is that of CompareStory, and
// then nothing changes.
func (s *Run) Extend(ctx context.Context, identity string, story Story, find QuoteFinder) (c SourceChange, err error) {
	err = s.db.update(ctx, "take the changes of the source", func(tx *tx) {
		plan, err := compareStory(tx.ctx, tx, story)
		if tx.fail(err); tx.err != nil {
			return
		}
		c = SourceChange{}
		tx.withdraw(plan, &c)
		tx.markFormer(plan, &c)
		tx.addScenes(plan, &c)
		tx.correctThreads(plan)
		if find != nil {
			tx.moveQuotes(find, &c)
		}
		if tx.err == nil && !c.isEmpty() {
			tx.append(&annotator.Trace{Kind: annotator.TraceSource, Content: annotator.EncodeJSON(c)})
		}
		tx.execOne(`UPDATE run_state SET corpus_hash = ?, corpus_identity = ?`, tx.hashOfScenes(), identity)
	})
	return c, err
}

// FormerQuotes returns the quotations in force of posts whose text the source no longer has, in the order of the story.
func (s *Run) FormerQuotes(ctx context.Context) ([]FormerQuote, error) {
	return readAll(ctx, s.db, "read the quotations", scanFormerQuote, formerQuotes)
}

const formerQuotes = `SELECT v.entry_id, s.thread_id, p.place, v.json FROM scene_post p
	JOIN value v ON v.field = 'evidence' AND v.json ->> 'post' = p.post_id AND v.ended_by IS NULL
	JOIN scene s ON s.ord = p.place / 1000000
	WHERE p.former = 1 ORDER BY p.place, v.id`

func scanFormerQuote(rows *sql.Rows, q *FormerQuote) error {
	err := rows.Scan(&q.Entry, &q.Thread, &q.Place, &q.json)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(q.json), &q.Evidence)
}

// withdraw withdraws the scenes that will not be read.
func (tx *tx) withdraw(plan *storyPlan, c *SourceChange) {
	for _, n := range slices.Sorted(maps.Keys(plan.scenes)) {
		if s := plan.scenes[n]; s.withdrawn && s.state != annotator.SceneWithdrawn {
			tx.execOne(`UPDATE scene SET state = 'withdrawn' WHERE n = ? AND state = 'pending'`, n)
			c.Withdrawn = append(c.Withdrawn, n)
			tx.endFormerMentions(s.posts, nil) // of one that was refused and put back
		}
	}
}

// markFormer marks the posts of the run whose text is gone. Names in them no longer count as mentions.
func (tx *tx) markFormer(plan *storyPlan, c *SourceChange) {
	list := List(slices.Sorted(maps.Keys(plan.former)))
	ids := func(query string) []int64 {
		found, err := collect(tx.ctx, tx, ScanValue[int64], query, list)
		tx.fail(err)
		return found
	}
	if tx.err == nil {
		c.Former = ids(`UPDATE scene_post SET former = 1
			WHERE former = 0 AND post_id IN (SELECT value FROM json_each(?)) RETURNING post_id`)
		c.Back = ids(`UPDATE scene_post SET former = 0
			WHERE former = 1 AND post_id NOT IN (SELECT value FROM json_each(?)) RETURNING post_id`)
	}
	if tx.err == nil && len(c.Former)+len(c.Back) > 0 {
		tx.endFormerMentions(c.Former, c.Back)
	}
}

// addScenes adds the new scenes of the plan.
func (tx *tx) addScenes(plan *storyPlan, c *SourceChange) {
	first := len(plan.scenes)
	n := first
	for i := range plan.gaps {
		n = tx.fillGap(&plan.gaps[i], n)
	}
	for n > first {
		first++
		c.Added = append(c.Added, first)
	}
}

// listScenes adds the scenes of a story that no run has. It returns the hash over all.
func (tx *tx) listScenes(scenes iter.Seq2[*annotator.Scene, error]) string {
	plan := &storyPlan{gaps: []gap{{}}, titles: map[int64]string{}}
	tx.fail(plan.compare(scenes))
	tx.addScenes(plan, &SourceChange{})
	return tx.hashOfScenes()
}

// hashOfScenes returns the hash over the hashes of all scenes, in story order.
func (tx *tx) hashOfScenes() string {
	all := sha256.New()
	hashes, err := collect(tx.ctx, tx, ScanValue[[]byte], `SELECT hash FROM scene ORDER BY ord`)
	tx.fail(err)
	for _, hash := range hashes {
		all.Write(hash)
	}
	return hex.EncodeToString(all.Sum(nil))
}

// correctThreads sets the titles, the first and last scenes, and the state of threads.
func (tx *tx) correctThreads(plan *storyPlan) {
	for _, thread := range slices.Sorted(maps.Keys(plan.titles)) {
		tx.exec(`UPDATE thread_state SET title = ?1 WHERE thread_id = ?2 AND title <> ?1 AND ?1 <> ''`,
			plan.titles[thread], thread)
	}
	tx.correctSpans()
	tx.exec(`UPDATE thread_state SET summary_due = ` + summaryDue + ` WHERE summary_due <> (` + summaryDue + `)`)
}

// correctSpans sets the first and last scenes of threads with withdrawn ones.
func (tx *tx) correctSpans() {
	tx.exec(`WITH span AS (SELECT thread_id AS thread, min(ord) AS first, max(ord) AS last FROM scene
		  WHERE state <> 'withdrawn' AND thread_id IN (SELECT thread_id FROM scene WHERE state = 'withdrawn')
		  GROUP BY thread_id)
		UPDATE thread_state SET ord = first, first_scene = a.n, last_scene = z.n,
		  completed_at = iif(z.state IN ('recorded', 'quarantined'), coalesce(completed_at, z.recorded_at), NULL),
		  status = CASE WHEN z.state IN ('recorded', 'quarantined') THEN 'completed'
		    WHEN thread_state.started_at IS NULL THEN 'pending' ELSE 'in_progress' END
		FROM span JOIN scene a ON a.ord = first JOIN scene z ON z.ord = last
		WHERE thread_state.thread_id = span.thread`)
}

// moveQuotes moves quotations of former posts to posts that have their words now.
func (tx *tx) moveQuotes(find QuoteFinder, c *SourceChange) {
	quotes, err := collect(tx.ctx, tx, scanFormerQuote, formerQuotes)
	if tx.fail(err); tx.err != nil || len(quotes) == 0 {
		return
	}
	placeOf := func(post int64) (place annotator.Place) {
		tx.scan([]any{&place}, `SELECT coalesce((SELECT place FROM scene_post WHERE post_id = ? AND former = 0), 0)`,
			post)
		return place
	}
	found, err := find(tx.ctx, quotes, func(post int64) bool {
		place := placeOf(post)
		return place != 0 && place.Order() <= tx.head.seen
	})
	if tx.fail(err); tx.err != nil {
		return
	}
	revisions := map[int64][]annotator.Revision{}
	for i := range quotes {
		q, now := &quotes[i], found[i]
		if now.Post == 0 {
			c.Left++
			continue
		}
		now.Claim, now.Weak = q.Claim, q.Weak
		c.Moved++
		revisions[q.Entry] = append(revisions[q.Entry], movedQuote(q, now, placeOf(now.Post))...)
	}
	g := &Glossary{q: tx, tx: tx}
	for _, entry := range slices.Sorted(maps.Keys(revisions)) {
		if tx.err == nil {
			tx.fail(tx.reviseQuotes(g, entry, revisions[entry]))
		}
	}
}

// movedQuote returns the revisions that move a quotation.
func movedQuote(q *FormerQuote, now annotator.Evidence, place annotator.Place) []annotator.Revision {
	r := annotator.Revision{Entry: q.Entry, Field: annotator.FieldEvidence, At: place, Actor: annotator.ActorRule}
	removed, added := r, r
	removed.Old, added.New = q.json, annotator.EncodeJSON(now)
	return []annotator.Revision{removed, added}
}

// reviseQuotes applies the revisions of an entry. A claim may have a quotation already where another one moves to.
func (tx *tx) reviseQuotes(g *Glossary, entry int64, revisions []annotator.Revision) error {
	e, err := g.WholeEntry(tx.ctx, entry)
	if err != nil {
		return err
	}
	held := map[string]bool{}
	for i := range e.Claims {
		for _, v := range e.Claims[i].Evidence {
			v.Weak = false
			held[annotator.EncodeJSON(v)] = true
		}
	}
	revisions = slices.DeleteFunc(revisions, func(r annotator.Revision) bool {
		var v annotator.Evidence
		if r.New == "" || json.Unmarshal([]byte(r.New), &v) != nil {
			return false
		}
		v.Weak = false
		key := annotator.EncodeJSON(v)
		again := held[key]
		held[key] = true
		return again
	})
	return g.revise(e, false, revisions)
}

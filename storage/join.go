package storage

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"annotator"
	"annotator/codex"
)

// JoinStep says which revisions of a part of the story a row of the journal has replayed. It is the content of the row.
type JoinStep struct {
	Part     int    `json:"part"`           // its number, from 1
	Path     string `json:"path"`           // of its database, from the folder of this one
	Snapshot int64  `json:"snapshot"`       // of the part, after the scene
	After    int64  `json:"after"`          // the revision of the part before those of the step
	Through  int64  `json:"through"`        // the last one
	Last     bool   `json:"last,omitempty"` // no step of the part follows
	Digest   string `json:"digest"`         // SHA-256 of the revisions, in hexadecimal
	// Entries has the entries of the part that have come, with their claims that have; see codex.Replayed.
	Entries map[int64]*codex.Replayed `json:"entries,omitempty"`
}

// digestRevisions returns the digest of revisions, in order.
func digestRevisions(revisions []annotator.Revision) string {
	all := sha256.New()
	for i := range revisions {
		r := revisions[i]
		r.Changed = 0 // a resumed run makes the same revisions at another time
		all.Write([]byte(annotator.EncodeJSON(r) + "\n"))
	}
	return hex.EncodeToString(all.Sum(nil))
}

// Part is a part of the story whose revisions are replayed, one scene after another. It is only read.
type Part struct {
	number int
	path   string // from the folder of the joined database
	db     *DB
	replay codex.Replay
	seeded int64                               // the last revision of its seed; 0: it has none
	orders map[annotator.Order]annotator.Order // of its scenes, those of the story
	scenes map[int]int                         // of its scenes, those of the story
	steps  []partStep                          // that are left
}

// partStep is a scene of a part: its snapshot, and the journal and the revisions before it and up to it.
type partStep struct {
	JoinStep
	scene                int // of the part
	afterRow, throughRow int64
}

// Part opens the part of a number, whose run is at a path. The error is annotator.Misused if its run has scenes left to
// read, or other scenes than the story.
func (s *Joins) Part(ctx context.Context, number int, path string) (*Part, error) {
	db, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	p := &Part{
		number: number, path: path, db: db, orders: map[annotator.Order]annotator.Order{}, scenes: map[int]int{},
	}
	if relative, err := filepath.Rel(filepath.Dir(s.db.absolute), db.absolute); err == nil {
		p.path = filepath.ToSlash(relative)
	}
	p.replay = codex.Replay{Place: p.place, Entries: map[int64]*codex.Replayed{}}
	err = cmp.Or(p.pairScenes(ctx, s.db), p.pairSeeds(ctx, s.db), p.readSteps(ctx), p.skipJoined(ctx, s))
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return p, nil
}

// Close closes the database of the part.
func (p *Part) Close() error { return p.db.Close() }

// place returns the place in the story of a place in the part.
func (p *Part) place(at annotator.Place) annotator.Place {
	order, known := p.orders[at.Order()]
	if !known && at.Order() > 0 { // places before the story are those of the joined one
		return 0
	}
	return annotator.PlaceAt(order, at.Rank())
}

// pairScenes finds the scenes of the part in the story, by their posts.
func (p *Part) pairScenes(ctx context.Context, joined *DB) error {
	const all = SceneQuery + ` WHERE state <> 'withdrawn' ORDER BY s.ord`
	own, err := readAll(ctx, p.db, "read the scenes", ScanScene, all)
	if err != nil {
		return err
	}
	story, err := readAll(ctx, joined, "read the scenes", ScanScene, all)
	if err != nil {
		return err
	}
	byPost := map[int64]*annotator.SceneRow{}
	for i := range story {
		byPost[story[i].Posts[0]] = &story[i]
	}
	for i := range own {
		scene := &own[i]
		if scene.State == annotator.ScenePending || scene.State == annotator.SceneOpen {
			return annotator.Errorf(annotator.Misused, "part %d is not read to its end: %s", p.number, p.db.path)
		}
		here := byPost[scene.Posts[0]]
		if here == nil || here.Hash != scene.Hash {
			return annotator.Errorf(annotator.Misused, "scene %d of %s is none of the story", scene.N, p.db.path).
				WithReason(annotator.ReasonStoryChanged)
		}
		p.orders[scene.Order], p.scenes[scene.N] = here.Order, here.N
		if p.replay.From == 0 {
			p.replay.From = here.Order
		}
	}
	return nil
}

// seedRow is the row of the journal with the entries that a run began with.
const seedRow = `(SELECT id FROM trace WHERE kind = 'edit' AND tool = 'seed')`

// seedValue is a term or a claim that a run began with.
type seedValue struct {
	entry, claim int64
	json         string
}

const seedValues = `SELECT v.entry_id, iif(v.field = 'claim', CAST(v.key AS INTEGER), 0), v.json
	FROM revision r JOIN value v ON v.set_by = r.id
	WHERE r.trace_id = ` + seedRow + ` AND v.field IN ('term', 'claim')`

func scanSeedValue(rows *sql.Rows, v *seedValue) error { return rows.Scan(&v.entry, &v.claim, &v.json) }

// pairSeeds pairs the entries with which both the part and the story began, and that the story still has. They have the
// same numbers in both, since nothing came before them.
func (p *Part) pairSeeds(ctx context.Context, joined *DB) (err error) {
	if p.seeded, err = readValue[int64](ctx, p.db, "read the seed",
		`SELECT coalesce(max(id), 0) FROM revision WHERE trace_id = `+seedRow); err != nil || p.seeded == 0 {
		return err
	}
	own, err := readAll(ctx, p.db, "read the seed", scanSeedValue, seedValues)
	if err != nil {
		return err
	}
	story, err := readAll(ctx, joined, "read the seed", scanSeedValue, seedValues+`
		AND (SELECT name FROM entry WHERE id = v.entry_id) IS NOT NULL ORDER BY r.id`)
	if err != nil {
		return err
	}
	both := map[seedValue]bool{}
	for _, v := range own {
		both[v] = true
	}
	for _, v := range story {
		switch {
		case !both[v]:
		case v.claim == 0:
			p.take(v.entry, &codex.Replayed{Entry: v.entry})
		case p.replay.Entries[v.entry] != nil:
			p.replay.Entries[v.entry].Claims[v.claim] = v.claim
		}
	}
	return nil
}

// readSteps reads the steps of the part: one for each time that a scene ended.
func (p *Part) readSteps(ctx context.Context) error {
	steps, err := readAll(ctx, p.db, "read the snapshots", func(rows *sql.Rows, s *partStep) error {
		return rows.Scan(&s.Snapshot, &s.scene, &s.After, &s.Through, &s.afterRow, &s.throughRow)
	}, `SELECT id, scene, lag(revision_id, 1, 0) OVER (ORDER BY id),
		  iif(lead(id) OVER (ORDER BY id) IS NULL, (SELECT coalesce(max(id), 0) FROM revision), revision_id),
		  lag(trace_id, 1, 0) OVER (ORDER BY id), trace_id
		FROM snapshot WHERE type = 'checkpoint' ORDER BY id`)
	for i := range steps {
		steps[i].Part, steps[i].Path, steps[i].Last = p.number, p.path, i == len(steps)-1
	}
	p.steps = steps
	return err
}

// skipJoined leaves out the steps that were made, and reads from their rows what has become of the entries. What people
// have changed in a part after it was joined is not replayed: later parts rest on what was.
func (p *Part) skipJoined(ctx context.Context, s *Joins) error {
	made, err := s.steps(ctx, p.number)
	if err != nil {
		return err
	}
	for i := range made {
		step := &made[i].JoinStep
		if i >= len(p.steps) || p.steps[i].Snapshot != step.Snapshot || p.path != step.Path {
			return annotator.Errorf(annotator.Misused, "%s is not the part that was joined", p.db.path)
		}
		for there, as := range step.Entries {
			p.take(there, as)
		}
		if step.Last {
			p.steps = nil
			return nil
		}
	}
	p.steps = p.steps[len(made):]
	return nil
}

// take adds what a step says of an entry. An entry that was merged has another one in its place, with other claims.
func (p *Part) take(there int64, as *codex.Replayed) {
	known := p.replay.Entries[there]
	if known == nil || known.Entry != as.Entry {
		known = &codex.Replayed{Entry: as.Entry, Claims: map[int64]int64{}}
		p.replay.Entries[there] = known
	}
	maps.Copy(known.Claims, as.Claims)
}

// madeStep is a step that was made, with its row.
type madeStep struct {
	JoinStep
	row   int64
	scene int
}

// steps returns the steps of a part that were made; of all for part 0.
func (s *Joins) steps(ctx context.Context, part int) ([]madeStep, error) {
	return readAll(ctx, s.db, "read the steps of the join", scanStep, joinSteps, part)
}

const joinSteps = `SELECT id, scene, content FROM trace WHERE kind = 'join'
	AND (?1 = 0 OR content ->> 'part' = ?1) ORDER BY id`

func scanStep(rows *sql.Rows, s *madeStep) error {
	var content string
	if err := rows.Scan(&s.row, &s.scene, &content); err != nil {
		return err
	}
	return json.Unmarshal([]byte(content), &s.JoinStep)
}

// revisions returns the revisions after one and up to another.
func (s *Joins) revisions(ctx context.Context, after, through int64) ([]annotator.Revision, error) {
	return readAll(ctx, s.db, "read the revisions", ScanRevision,
		Revisions+` WHERE r.id > ? AND r.id <= ? ORDER BY r.id`, after, through)
}

// StepOf returns the step that a row of the journal has made; nil for another row.
func (s *Joins) StepOf(ctx context.Context, row int64) (*JoinStep, error) {
	found, err := readAll(ctx, s.db, "read the steps of the join", scanStep,
		`SELECT id, scene, content FROM trace WHERE kind = 'join' AND id = ?`, row)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0].JoinStep, nil
}

// Joined is a step that was made.
type Joined struct {
	Scene   int     // of the story, whose checkpoint is due; 0 if it had one
	Changed []int64 // entries
	Last    bool    // of the part
}

// Step makes the next step of a part: its revisions up to the end of a scene are replayed. That is one transaction with
// their row of the journal, the outcome of the scene and the summaries of threads. It returns nil if none is left.
func (s *Joins) Step(ctx context.Context, p *Part) (*Joined, error) {
	if len(p.steps) == 0 {
		return nil, nil
	}
	step := p.steps[0]
	revisions, err := p.db.Joins.revisions(ctx, step.After, step.Through)
	if err != nil {
		return nil, err
	}
	summaries, err := readAll(ctx, p.db, "read the summaries", ScanEpisode, `SELECT `+EpisodeColumns+` FROM episode
		WHERE trace_id > ? AND trace_id <= ? AND (kind = 'thread' OR kind = 'cumulative' AND ? = 1) ORDER BY id`,
		step.afterRow, step.throughRow, p.number)
	if err != nil {
		return nil, err
	}
	there, err := p.db.Scenes.Get(ctx, step.scene)
	if err != nil {
		return nil, err
	}
	step.Digest, step.Entries = digestRevisions(revisions), map[int64]*codex.Replayed{}
	made := &Joined{Last: step.Last}
	err = s.db.update(ctx, "join a scene", func(tx *tx) {
		j := &joiner{
			Part: p, step: &step.JoinStep, g: &Glossary{q: tx, path: s.db.path, tx: tx}, tx: tx,
			entries: map[int64]*annotator.Entry{},
		}
		p.replay.Free = j.isFree
		tx.fail(j.replayAll(revisions))
		scene := p.scenes[step.scene]
		row := &annotator.Trace{
			Kind: annotator.TraceJoin, Scene: scene, Content: annotator.EncodeJSON(step.JoinStep),
		}
		tx.append(row)
		tx.joinSummaries(p, summaries, row.ID)
		var state annotator.SceneState
		if tx.scan([]any{&state}, `SELECT state FROM scene WHERE n = ?`, scene); state == annotator.ScenePending {
			tx.recordScene(&Outcome{Scene: scene, State: there.State, Reason: there.Reason, Fault: there.Fault})
			made.Scene = scene
		}
		made.Changed = slices.Sorted(maps.Keys(j.entries))
	})
	if err == nil {
		p.steps = p.steps[1:]
	}
	return made, err
}

// joinSummaries copies summaries of a part. They are of no turn, and so never in the window. A story so far supersedes
// the one before.
func (tx *tx) joinSummaries(p *Part, summaries []annotator.Episode, row int64) {
	for i := range summaries {
		e := &summaries[i]
		e.FromScene, e.ToScene, e.FromTurn, e.ToTurn = p.scenes[e.FromScene], p.scenes[e.ToScene], 0, 0
		e.Supersedes, e.Trace = 0, row
		if e.Kind == annotator.EpisodeCumulative {
			tx.scan([]any{&e.Supersedes}, `SELECT coalesce(max(id), 0) FROM episode WHERE kind = 'cumulative'`)
		}
		tx.insertEpisode(e, false)
	}
}

// IsJoin is a condition that a run is a join. The first scene tells, so it does not read a long journal.
const IsJoin = `((SELECT kind FROM trace WHERE kind IN ('scene', 'join') ORDER BY id LIMIT 1) IS 'join')`

// Unjoined returns whether the run is a join that has scenes left.
func (s *Joins) Unjoined(ctx context.Context) (bool, error) {
	return readValue[bool](ctx, s.db, "read the steps of the join",
		`SELECT `+IsJoin+` AND EXISTS (SELECT 1 FROM scene WHERE state = 'pending')`)
}

// From returns the order of the first scene of the part.
func (p *Part) From() annotator.Order { return p.replay.From }

// Newest returns the number of the newest part that has a step; 0 for none.
func (s *Joins) Newest(ctx context.Context) (int, error) {
	return readValue[int](ctx, s.db, "read the steps of the join", `SELECT coalesce((SELECT content ->> 'part'
		FROM trace WHERE kind = 'join' ORDER BY id DESC LIMIT 1), 0)`)
}

// Undecided returns the live entries without a lock that were first seen from a scene on, in story order. It leaves out
// those on which the curator has decided since the newest step.
func (s *Joins) Undecided(ctx context.Context, from annotator.Order) ([]annotator.UndecidedEntry, error) {
	scan := func(rows *sql.Rows, u *annotator.UndecidedEntry) error { return rows.Scan(&u.Entry, &u.RetryReason) }
	return readAll(ctx, s.db, "read the entries of a part", scan, `WITH step AS
		  (SELECT max(id) AS row FROM trace WHERE kind = 'join')
		SELECT e.id, iif(d.json ->> '$.decision' = 'AGAIN', d.json ->> '$.reason', '')
		FROM entry e LEFT JOIN value d ON d.id = (SELECT max(v.id) FROM value v CROSS JOIN revision r ON r.id = v.set_by
		    WHERE v.entry_id = e.id AND v.field = 'curator_decision' AND r.trace_id > (SELECT row FROM step)
		    AND v.json ->> '$.decision' NOT IN ('UNSTATED', 'STATES', 'REDUNDANT'))
		WHERE e.name IS NOT NULL AND `+isUnlocked+` AND e.first_at / 1000000 >= ?
		  AND coalesce(d.json ->> '$.decision', 'AGAIN') = 'AGAIN'
		ORDER BY e.first_at, e.id`, from)
}

// Untold returns the summaries of threads that no story so far includes, in the story's order.
func (s *Joins) Untold(ctx context.Context) ([]annotator.Episode, error) {
	return readAll(ctx, s.db, "read the summaries", ScanEpisode, `SELECT `+EpisodeColumns+` FROM episode
		JOIN (SELECT n, ord FROM scene) ON n = to_scene
		WHERE id IN (SELECT max(id) FROM episode WHERE kind = 'thread' GROUP BY thread_id)
		AND ord > coalesce((SELECT ord FROM scene WHERE n = (SELECT to_scene FROM episode
		  WHERE kind = 'cumulative' ORDER BY id DESC LIMIT 1)), 0) ORDER BY ord, id`)
}

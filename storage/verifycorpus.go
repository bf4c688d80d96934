package storage

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"

	"annotator"
	"annotator/internal/sqlite"
)

// verifyPrompts compares each system prompt and its tools with their hash.
func (v *verifier) verifyPrompts(ctx context.Context, f *Finding) error {
	return sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var p Prompt
		err := rows.Scan(&p.ID, &p.Hash, &p.SystemPrompt, &p.Tools, &p.Workarounds)
		if HashPrompt(p.SystemPrompt, p.Tools, p.Workarounds) != p.Hash {
			f.add(fmt.Sprintf("prompt %d is not the one that was sent", p.ID))
		}
		return err
	}, `SELECT id, hash, system_prompt, tools, workarounds FROM snapshot_context`)
}

// verifyCorpusHash computes the hash of the corpus from those of the scenes.
func (v *verifier) verifyCorpusHash(ctx context.Context, f *Finding) error {
	all := sha256.New()
	err := sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var hash []byte
		err := rows.Scan(&hash)
		all.Write(hash)
		return err
	}, `SELECT hash FROM scene ORDER BY ord`)
	if err != nil {
		return err
	}
	hash := hex.EncodeToString(all.Sum(nil))
	return sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var stored string
		err := rows.Scan(&stored)
		if stored != hash {
			f.add(fmt.Sprintf("the corpus has the hash %.8s, the scenes add up to %.8s", stored, hash))
		}
		return err
	}, `SELECT corpus_hash FROM run_state`)
}

// scenes yields the scenes of the run as the corpus has them, with their orders in the run. The corpus may have more. A
// withdrawn scene is left out.
func (v *verifier) scenes(ctx context.Context) iter.Seq2[*annotator.Scene, error] {
	return func(yield func(*annotator.Scene, error) bool) {
		marked, err := collect(ctx, v.q, ScanValue[int64], `SELECT post_id FROM scene_post WHERE former = 1`)
		if err != nil {
			yield(nil, err)
			return
		}
		plan, err := readPlan(ctx, v.q, marked)
		if err != nil {
			yield(nil, err)
			return
		}
		var maxBytes int
		if err := v.q.QueryRowContext(ctx, `SELECT scene_bytes FROM run_state`).Scan(&maxBytes); err != nil {
			yield(nil, err)
			return
		}
		for scene, err := range v.source.Story.ScenesOf(ctx, maxBytes, plan.listed) {
			if err != nil {
				yield(nil, err)
				return
			}
			known := plan.scenes[scene.N]
			if known == nil || known.withdrawn {
				continue
			}
			listed := *scene
			listed.Order, listed.Posts = known.order, slices.Clone(scene.Posts)
			for i := range listed.Posts { // the run may not have taken the changes of the source yet
				listed.Posts[i].Former = plan.former[listed.Posts[i].ID]
			}
			if !yield(&listed, nil) {
				return
			}
		}
	}
}

// verifyFormer compares the marks of former posts with the corpus.
func (v *verifier) verifyFormer(ctx context.Context, f *Finding) error {
	var identity string
	err := v.q.QueryRowContext(ctx, `SELECT corpus_identity FROM run_state`).Scan(&identity)
	if err != nil {
		return orNone(err)
	}
	former, err := v.source.Story.Former(ctx)
	if err != nil {
		return err
	}
	wrong, err := collect(ctx, v.q, ScanValue[int64], `SELECT post_id FROM scene_post
		WHERE former <> (post_id IN (SELECT value FROM json_each(?))) ORDER BY post_id`, List(former))
	if err != nil {
		return err
	}
	if len(wrong) > 0 && identity != v.source.Identity {
		f.Unchecked = "the marks of former posts, since the source has changed: the next run takes the changes"
		return nil
	}
	for _, post := range wrong {
		f.add(fmt.Sprintf("post %d is marked as former, and the source has its text; or the other way round", post))
	}
	return nil
}

// verifyCorpus compares the scenes with those of the corpus.
func (v *verifier) verifyCorpus(ctx context.Context, f *Finding) error {
	known, err := collect(ctx, v.q, ScanScene, SceneQuery+` WHERE s.state <> 'withdrawn' ORDER BY s.ord`)
	if err != nil {
		return err
	}
	rows := map[int]*annotator.SceneRow{}
	for i := range known {
		rows[known[i].N] = &known[i]
	}
	for scene, err := range v.scenes(ctx) {
		if err != nil {
			return err
		}
		if row := rows[scene.N]; row == nil || !isScene(row, scene) {
			f.add(fmt.Sprintf("scene %d is not the one in the corpus", scene.N))
		}
		delete(rows, scene.N)
	}
	for _, n := range slices.Sorted(maps.Keys(rows)) {
		f.add(fmt.Sprintf("the corpus has no scene %d", n))
	}
	return nil
}

// isScene reports whether a recorded scene is one of the corpus.
func isScene(known *annotator.SceneRow, scene *annotator.Scene) bool {
	posts := make([]int64, len(scene.Posts))
	for i := range scene.Posts {
		posts[i] = scene.Posts[i].ID
	}
	return known.Thread.ID == scene.Thread.ID && known.Words == scene.Words() && known.Hash == scene.Hash() &&
		slices.Equal(known.Posts, posts)
}

// verifyMentions looks for the names of the live entries in the scenes, and compares.
func (v *verifier) verifyMentions(ctx context.Context, f *Finding) error {
	var current bool
	err := v.q.QueryRowContext(ctx, `SELECT coalesce(max(mentions), 0) = (SELECT coalesce(max(id), 0) FROM revision)
		FROM run_state`).Scan(&current)
	if err != nil {
		return err
	}
	if !current || v.source.Finder == nil {
		f.Unchecked = "the mentions, since entries have changed since names were looked for: the next checkpoint or " +
			"start of a run does it"
		return nil
	}
	names, err := v.glossary.Names(ctx)
	if err != nil {
		return err
	}
	held := map[annotator.Order]map[Mention]bool{}
	read, err := collect(ctx, v.q, ScanValue[annotator.Order], `SELECT ord FROM scene WHERE mentioned = 1`)
	if err != nil {
		return err
	}
	for _, order := range read {
		held[order] = map[Mention]bool{}
	}
	err = sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var m Mention
		err := ScanMention(rows, &m)
		if scene := held[m.Place.Order()]; scene != nil {
			scene[m] = true
		} else {
			f.add(fmt.Sprintf("entry %d is mentioned at place %d, where no name was looked for", m.Entry, m.Place))
		}
		return err
	}, `SELECT entry_id, place, start_at, end_at FROM mention WHERE ended_by IS NULL`)
	if err != nil {
		return err
	}
	wrong, err := wrongMeanings(ctx, v.q)
	if err != nil {
		return err
	}
	for _, m := range wrong {
		f.add(fmt.Sprintf("what the name of entry %d means at place %d is not what the scenes before it say", m.Entry,
			m.Place))
	}
	find := v.source.Finder(names)
	for scene, err := range v.scenes(ctx) {
		if err != nil {
			return err
		}
		stored := held[scene.Order]
		if stored != nil && !sameMentions(stored, withoutFormer(scene, find(scene).Mentions)) {
			f.add(fmt.Sprintf("the mentions of scene %d are not the names in its posts", scene.N))
		}
	}
	return nil
}

// withoutFormer removes the mentions in the former posts of a scene.
func withoutFormer(scene *annotator.Scene, mentions map[Mention]string) map[Mention]string {
	maps.DeleteFunc(mentions, func(m Mention, _ string) bool { return scene.Posts[m.Place.Rank()].Former })
	return mentions
}

func sameMentions(stored map[Mention]bool, found map[Mention]string) bool {
	for m := range stored {
		if _, ok := found[m]; !ok {
			return false
		}
	}
	return len(stored) == len(found)
}

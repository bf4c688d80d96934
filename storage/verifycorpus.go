package storage

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"iter"
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

// scenes yields the scenes of the corpus that the run has, with their numbers and orders in the run. The corpus may
// have more of them at its end.
func (v *verifier) scenes(ctx context.Context) iter.Seq2[*annotator.Scene, error] {
	return func(yield func(*annotator.Scene, error) bool) {
		known, err := collect(ctx, v.q, scanListedScene, listedScenes)
		if err != nil {
			yield(nil, err)
			return
		}
		found := 0
		for scene, err := range v.source.Scenes {
			if err == nil && found == len(known) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			listed := *scene
			listed.N, listed.Order = known[found].n, known[found].order
			if found++; !yield(&listed, nil) {
				return
			}
		}
	}
}

// verifyCorpus compares the scenes with those of the corpus.
func (v *verifier) verifyCorpus(ctx context.Context, f *Finding) error {
	known, err := collect(ctx, v.q, ScanScene, SceneQuery+` ORDER BY s.ord`)
	if err != nil {
		return err
	}
	rows := map[int]*annotator.SceneRow{}
	for i := range known {
		rows[known[i].N] = &known[i]
	}
	found := 0
	for scene, err := range v.scenes(ctx) {
		if err != nil {
			return err
		}
		if row := rows[scene.N]; row == nil || !isScene(row, scene) {
			f.add(fmt.Sprintf("scene %d is not the one in the corpus", scene.N))
		}
		found++
	}
	if found < len(known) {
		f.add(fmt.Sprintf("the corpus has %d scenes, the run has %d", found, len(known)))
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
		if stored := held[scene.Order]; stored != nil && !sameMentions(stored, find(scene).Mentions) {
			f.add(fmt.Sprintf("the mentions of scene %d are not the names in its posts", scene.N))
		}
	}
	return nil
}

func sameMentions(stored map[Mention]bool, found map[Mention]string) bool {
	for m := range stored {
		if _, ok := found[m]; !ok {
			return false
		}
	}
	return len(stored) == len(found)
}

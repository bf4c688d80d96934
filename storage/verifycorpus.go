package storage

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
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
	}, `SELECT hash FROM scene ORDER BY n`)
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

// verifyCorpus compares the scenes with those of the corpus. The corpus may have more of them: it grows at its end.
func (v *verifier) verifyCorpus(ctx context.Context, f *Finding) error {
	known, err := collect(ctx, v.q, scanScene, sceneQuery+` ORDER BY n`)
	if err != nil {
		return err
	}
	found := 0
	for scene, err := range v.source.Scenes {
		if err != nil {
			return err
		}
		if found == len(known) {
			break
		}
		if !isScene(&known[found], scene) {
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
	return known.N == scene.N && known.Thread.ID == scene.Thread.ID && known.Index == scene.Index &&
		known.Words == scene.Words() && known.Hash == scene.Hash() && slices.Equal(known.Posts, posts)
}

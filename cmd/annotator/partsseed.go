package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/edits"
	"annotator/model/offline"
	"annotator/storage"
)

// findNames finds with what each part begins: with the seed, and the names that the offline model finds in the text
// before the part.
func (p *partedRun) findNames(ctx context.Context) error {
	p.begins = make([]*annotator.Operation, len(p.parts))
	p.begins[0] = p.begin
	lacks := make([]bool, len(p.parts))
	for i := 1; i < len(p.parts); i++ {
		if !p.reads(i) {
			continue
		}
		if lacks[i] = !exists(p.databaseOf(i + 1)); !lacks[i] {
			if err := withDatabase(ctx, p.databaseOf(i+1), func(db *storage.DB) error {
				seeded, err := db.Edits.Seeded(ctx)
				lacks[i] = !seeded
				return err
			}); err != nil {
				return err
			}
		}
	}
	if !slices.Contains(lacks, true) {
		return nil
	}
	cast, part := offline.NewCast(), 0
	for scene, err := range p.story.Scenes(ctx, p.runner().SceneBytes) {
		if err != nil {
			return err
		}
		for !slices.Contains(p.parts[part].Threads, scene.Thread.ID) {
			if part++; lacks[part] {
				if p.begins[part], err = withNames(p.begin, cast); err != nil {
					return err
				}
			}
		}
		cast.Add(scene)
	}
	return nil
}

// withNames adds the names of a cast to a seed as hints, without those that the seed has. A nil seed is none.
func withNames(seed *annotator.Operation, cast *offline.Cast) (*annotator.Operation, error) {
	known := namesIn(seed)
	var list strings.Builder
	for _, thing := range cast.Things(maxPrimer) {
		names := append([]string{thing.Term}, thing.Aliases...)
		if !slices.ContainsFunc(names, func(name string) bool { return known[codex.Normalize(name)] }) {
			list.WriteString(strings.Join(names, "|") + "\n")
		}
	}
	if list.Len() == 0 {
		return seed, nil
	}
	hints, err := edits.ReadSeed("names.txt", []byte(list.String()), true)
	if err != nil || seed == nil {
		return &hints.Operation, err
	}
	both := *seed
	both.Parts = slices.Concat(seed.Parts, hints.Operation.Parts)
	return &both, nil
}

// namesIn returns the names of a seed's entries, normalized.
func namesIn(seed *annotator.Operation) map[string]bool {
	names := map[string]bool{}
	if seed == nil {
		return names
	}
	for _, entry := range seed.Parts {
		term, _ := codex.SplitName(entry.Name)
		names[codex.Normalize(term)] = true
		for _, added := range entry.Parts {
			names[codex.Normalize(added.Name)] = true
		}
	}
	return names
}

// digestOf names a seed by a hash; empty for none.
func digestOf(seed *annotator.Operation) string {
	if seed == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(annotator.EncodeJSON(seed)))
	return hex.EncodeToString(sum[:])
}

package ingest

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"

	"annotator/corpus"
)

// formerCuts are the posts of the corpus that a source had before it changed, by their first paragraphs. A chapter is
// cut as it was where its text is the same, so that only what has changed is new.
type formerCuts map[[sha256.Size]byte][]formerCut

// formerCut is a post: how many paragraphs it has, and the hash of its text.
type formerCut struct {
	paragraphs int
	text       [sha256.Size]byte
}

// readCuts reads the posts of a corpus.
func readCuts(ctx context.Context, path string) (formerCuts, error) {
	db, err := corpus.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	cuts := formerCuts{}
	for scene, err := range db.Scenes(ctx, 0) {
		if err != nil {
			return nil, err
		}
		for i := range scene.Posts {
			body := scene.Posts[i].Body
			first, _, _ := strings.Cut(body, "\n\n")
			key := sha256.Sum256([]byte(first))
			cuts[key] = append(cuts[key], formerCut{strings.Count(body, "\n\n") + 1, sha256.Sum256([]byte(body))})
		}
	}
	for _, same := range cuts {
		slices.SortStableFunc(same, func(a, b formerCut) int { return b.paragraphs - a.paragraphs })
	}
	return cuts, nil
}

// cut cuts a chapter into scenes, as cutScenes does, but for the posts that it had before.
func (f formerCuts) cut(blocks []block, target int) []block {
	if len(f) == 0 {
		return cutScenes(blocks, target)
	}
	var units []block // a break is the line that stands for it in a scene
	for _, b := range blocks {
		if b.isBreak() {
			units = append(units, block{text: sceneBreak})
			continue
		}
		for _, text := range splitParagraph(b.text, target) {
			units = append(units, block{text, b.doc, b.offset})
		}
	}
	var scenes []block
	from := 0
	rest := func(to int) {
		open := slices.Clone(units[from:to])
		for i := range open {
			if open[i].text == sceneBreak && open[i].doc == "" && open[i].offset == 0 {
				open[i] = block{}
			}
		}
		scenes = append(scenes, cutScenes(open, target)...)
	}
	for i := 0; i < len(units); {
		n := f.at(units[i:])
		if n == 0 {
			i++
			continue
		}
		rest(i)
		scene := units[i]
		scene.text = joinParagraphs(units[i : i+n])
		scenes = append(scenes, scene)
		i += n
		from = i
	}
	rest(len(units))
	return scenes
}

// at returns the number of paragraphs of the longest former post with which a text begins; 0 for none.
func (f formerCuts) at(units []block) int {
	for _, c := range f[sha256.Sum256([]byte(units[0].text))] {
		if c.paragraphs <= len(units) && sha256.Sum256([]byte(joinParagraphs(units[:c.paragraphs]))) == c.text {
			return c.paragraphs
		}
	}
	return 0
}

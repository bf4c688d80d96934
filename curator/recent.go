package curator

import (
	"context"
	"strings"
	"unicode/utf8"

	"annotator"
)

// Phrases and short forms are looked for in recent scenes, within these bounds. A chapter may be a single scene, and a
// thread may be a whole story.
const (
	minRecent    = 12
	maxRecent    = 60
	recentBytes  = 20_000 // of each scene
	sampleLength = 100    // characters around a phrase
)

// textsOf returns the texts of scenes, within the bound of their length.
func textsOf(scenes []annotator.Scene) []string {
	texts := make([]string, len(scenes))
	for i := range scenes {
		text := annotator.Bodies(scenes[i].Posts)
		texts[i] = text[:min(len(text), recentBytes)]
	}
	return texts
}

// recentScenes reads the scenes after an order up to the present one, within the bounds of their number.
func (c *Curator) recentScenes(ctx context.Context, since annotator.Order) ([]annotator.Scene, error) {
	least, err := annotator.OrderOf(c.Scenes.Neighbor(ctx, c.Scene.Order, -minRecent))
	if err != nil {
		return nil, err
	}
	most, err := annotator.OrderOf(c.Scenes.Neighbor(ctx, c.Scene.Order, -maxRecent))
	if err != nil {
		return nil, err
	}
	rows, err := c.Scenes.After(ctx, max(min(since, least), most), c.Scene.Order, maxRecent)
	if err != nil {
		return nil, err
	}
	var scenes []annotator.Scene
	for i := range rows {
		if rows[i].State != annotator.SceneRecorded && rows[i].Order != c.Scene.Order {
			continue // a server may have refused its text
		}
		posts, err := c.Posts.Scene(ctx, rows[i].Thread.ID, rows[i].Posts)
		if err != nil {
			return nil, err
		}
		scenes = append(scenes, annotator.Scene{Order: rows[i].Order, Posts: posts})
	}
	return scenes, nil
}

// rankAt returns the index of the post that has the byte at an offset of annotator.Bodies.
func rankAt(posts []annotator.Post, offset int) int {
	for i := range posts {
		if offset -= len(posts[i].Body); offset < 0 {
			return i
		}
		offset -= len("\n\n")
	}
	return max(0, len(posts)-1)
}

// sample returns the words around an offset of a text.
func sample(text string, offset int) string {
	start, end := max(0, offset-sampleLength/3), min(len(text), offset+sampleLength)
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	words := strings.Fields(text[start:end])
	if start > 0 && len(words) > 1 {
		words = words[1:] // it may be cut
	}
	return strings.Join(words, " ")
}

package runner

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/curator"
)

// Phrases are looked for in the scenes since the last question about phrases, within these bounds. A chapter may be a
// single scene, and a thread may be a whole story.
const (
	minPhraseScenes = 12
	maxPhraseScenes = 60
	maxPhraseBytes  = 20_000 // of each scene
	sampleLength    = 100    // characters around a phrase
)

// phrases returns what the story has kept calling things since the last question about that, without the phrases that
// were asked about before. It reads the database, so that a resumed run asks the same.
func (q *curation) phrases(ctx context.Context) ([]curator.Phrase, error) {
	answers, err := q.Store.Curation.Phrases(ctx)
	if err != nil {
		return nil, err
	}
	asked, now := map[string]bool{}, q.scene.row.Order
	var since annotator.Order
	for i := range answers {
		since = max(since, answers[i].Scene)
		for _, a := range answers[i].Answers {
			asked[a.Key] = true
		}
	}
	if since >= now {
		return nil, nil
	}
	scenes, err := q.newestScenes(ctx, since)
	if err != nil {
		return nil, err
	}
	index, err := q.names.Index(ctx)
	if err != nil {
		return nil, err
	}
	usage, err := q.names.Usage(ctx, now)
	if err != nil {
		return nil, err
	}
	texts := textsOf(scenes)
	found := index.Recurring(texts, usage, func(key string) bool { return asked[key] }, curator.MaxPhrases)
	list := make([]curator.Phrase, len(found))
	for i, p := range found {
		scene := &scenes[p.Scene]
		list[i] = curator.Phrase{
			Phrase: p, At: annotator.PlaceAt(scene.Order, rankAt(scene.Posts, p.Start)),
			Sample: sample(texts[p.Scene], p.Start),
		}
	}
	return list, nil
}

// shortForms returns the short forms of names in the scenes of the thread that has ended, or in the newest ones if
// these are few. They do not depend on what was asked before: a form that has become a name is none of them. A form
// that was taken from an entry which it fits is not given back.
func (q *curation) shortForms(ctx context.Context) (list []curator.ShortForm, named map[int64]int, err error) {
	scenes, err := q.newestScenes(ctx, q.scene.row.Thread.Order-1)
	if err != nil {
		return nil, nil, err
	}
	index, err := q.names.Index(ctx)
	if err != nil {
		return nil, nil, err
	}
	usage, err := q.names.Usage(ctx, q.scene.row.Order)
	if err != nil {
		return nil, nil, err
	}
	found, named := index.ShortForms(textsOf(scenes), usage, curator.MaxShortForms)
	for _, f := range found {
		former, err := q.Store.Curation.Former(ctx, f.Text)
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(f.Holders, func(id int64) bool { return slices.Contains(former, id) }) {
			continue
		}
		scene := &scenes[f.Scene]
		list = append(list, curator.ShortForm{
			ShortForm: f, At: annotator.PlaceAt(scene.Order, rankAt(scene.Posts, f.Start)),
		})
	}
	return list, named, nil
}

// textsOf returns the texts of scenes, within the bound of their length.
func textsOf(scenes []annotator.Scene) []string {
	texts := make([]string, len(scenes))
	for i := range scenes {
		text := annotator.Bodies(scenes[i].Posts)
		texts[i] = text[:min(len(text), maxPhraseBytes)]
	}
	return texts
}

// newestScenes reads the scenes after an order up to the present one, within the bounds of their number.
func (q *curation) newestScenes(ctx context.Context, since annotator.Order) ([]annotator.Scene, error) {
	at := func(distance int) (annotator.Order, error) {
		row, err := q.Store.Scenes.Neighbor(ctx, q.scene.row.Order, -distance)
		if annotator.KindOf(err) == annotator.NotFound {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		return row.Order, nil
	}
	least, err := at(minPhraseScenes)
	if err != nil {
		return nil, err
	}
	most, err := at(maxPhraseScenes)
	if err != nil {
		return nil, err
	}
	rows, err := q.Store.Scenes.After(ctx, max(min(since, least), most), q.scene.row.Order, maxPhraseScenes)
	if err != nil {
		return nil, err
	}
	var scenes []annotator.Scene
	for i := range rows {
		if rows[i].State != annotator.SceneRecorded && rows[i].Order != q.scene.row.Order {
			continue // a server may have refused its text
		}
		posts, err := q.corpus.Scene(ctx, rows[i].Thread.ID, rows[i].Posts)
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

// Package longstory makes stories of any length, the same every time, for measurements.
package longstory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"annotator"
	"annotator/corpus"
)

// The shape of a scene.
const (
	ScenePosts = 2
	PostBytes  = 3_000
	Mentions   = 12 // of entries of earlier scenes, in each scene
	recent     = 30 // half of them are of this many scenes before
	cast       = 20 // a quarter are of the entries of the first scenes
)

// Chapter is the number of scenes of a chapter.
const Chapter = 50

// Write makes a corpus of a number of scenes of about 1,500 tokens. Each scene begins and ends with a name that the
// scripted model makes an entry of, and names entries of earlier scenes.
func Write(ctx context.Context, path string, scenes int) error {
	return WritePart(ctx, path, 1, scenes, Chapter)
}

// WritePart makes a corpus of a number of scenes of an endless story, in chapters of a length, from the first of one.
func WritePart(ctx context.Context, path string, first, scenes, chapter int) error {
	w, err := corpus.Create(ctx, path)
	if err != nil {
		return err
	}
	for n := first; n < first+scenes; n++ {
		if err := writeScene(ctx, w, n, chapter); err != nil {
			return err
		}
	}
	return w.Close(ctx)
}

func writeScene(ctx context.Context, w *corpus.Writer, n, chapter int) error {
	const ids = ScenePosts + 1
	first := int64(n) * ids
	opener := int64((n-1)/chapter*chapter+1) * ids
	if first == opener {
		if err := w.Thread(ctx, opener, fmt.Sprintf("Chapter %d", n/chapter+1)); err != nil {
			return err
		}
	}
	for part := range ScenePosts {
		post := annotator.Post{
			Thread: opener, ID: first + int64(part), Time: first + int64(part), Name: "Storyteller",
			Tags: []string{annotator.TagStory},
			Body: postBody(n, part),
		}
		if _, err := w.Post(ctx, &post, corpus.File{}, nil); err != nil {
			return err
		}
	}
	reader := annotator.Post{
		Thread: opener, ID: first + ScenePosts, Time: first + ScenePosts, Name: "Reader",
		Body: "Go on.",
	}
	_, err := w.Post(ctx, &reader, corpus.File{}, nil)
	return err
}

func postBody(n, part int) string {
	random := rand.New(rand.NewPCG(uint64(n), uint64(part)))
	var text strings.Builder
	if part == 0 {
		fmt.Fprintf(&text, "Now %s came in. ", ProperName(n))
	}
	for told := 0; text.Len() < PostBytes; {
		if due := Mentions / ScenePosts * text.Len() / PostBytes; told <= due {
			told++
			fmt.Fprintf(&text, "It was %s who said so.", mentioned(random, n))
		} else {
			sentence(&text, random)
		}
		text.WriteString([]string{" ", " ", " ", "\n\n"}[random.IntN(4)])
	}
	if part == ScenePosts-1 {
		fmt.Fprintf(&text, "Then %s went out.", ProperName(n+1))
	}
	return text.String()
}

// mentioned returns the name of the entry that the scripted model makes first of some earlier scene.
func mentioned(random *rand.Rand, n int) string {
	scene := n
	switch draw := random.IntN(4); {
	case n == 1:
	case draw < 2:
		scene = max(1, n-1-random.IntN(recent))
	case draw == 2:
		scene = 1 + random.IntN(min(n-1, cast))
	default:
		scene = 1 + random.IntN(n-1)
	}
	return fmt.Sprintf("%s %da", ProperName(scene), scene)
}

func sentence(text *strings.Builder, random *rand.Rand) {
	words := strings.Fields(`the of and to a in that it he was she his her for as with had on at by be is not but
		they from you lamp roof town door night hand road water window stone
		letter answer evening slowly morning garden under`)
	text.WriteString("Here")
	for range 6 + random.IntN(12) {
		text.WriteString(" " + words[random.IntN(len(words))])
	}
	text.WriteString(".")
}

// ProperName spells a number as a name that is longer than any other word of the story. Neighbours in number are none
// in spelling.
func ProperName(n int) string {
	const factor = 40_503 // odd: below 1<<16 each number becomes another one
	syllables := []string{
		"ka", "rin", "to", "vel", "mar", "os", "ith", "du", "sha", "len", "bor", "ey", "wyn", "gal",
		"pre", "zu",
	}
	name := ""
	for rest, length := n>>16<<16|n*factor&0xffff, 0; rest > 0 || length < 4; rest, length = rest>>4, length+1 {
		name += syllables[rest&0xf]
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

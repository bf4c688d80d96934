package view

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"annotator"
	"annotator/codex"
	"annotator/corpus/ingest"

	"golang.org/x/text/unicode/norm"
)

// Chapter is a thread as readers name it.
type Chapter struct {
	ThreadSpan
	Label string // as ChapterLabel returns it

	path []int    // the numbers of its parts, its own last; nil if it has none
	book int      // the number of its book; 0 if it is of none
	rank int      // how likely a number alone means this chapter: 0 is the most likely
	keys []string // by which a title finds it
}

// Chapters are the chapters of a story, in story order.
type Chapters []Chapter

// Chapters returns the threads with scenes as readers name them.
func (v *View) Chapters(ctx context.Context) (Chapters, error) {
	spans, err := v.Threads(ctx)
	return NewChapters(spans), err
}

// NewChapters returns threads as readers name them. The threads are in story order.
func NewChapters(spans []ThreadSpan) Chapters {
	chapters := make(Chapters, len(spans))
	for i := range spans {
		chapters[i] = newChapter(spans[i])
	}
	return chapters
}

func newChapter(span ThreadSpan) Chapter {
	parts := ingest.ReadTitle(span.Title)
	c := Chapter{ThreadSpan: span, Label: labelOf(&span.Thread, parts)}
	titles := []string{span.Title, c.Label}
	if len(parts) > 0 {
		own := parts[len(parts)-1]
		titles = append(titles, own.Title)
		c.rank = rankOf(&own)
		if parts[0].Kind == "book" && parts[0].Level == 0 {
			c.book = parts[0].Number
		}
		for _, p := range parts {
			if own.Number != 0 && p.Number != 0 {
				c.path = append(c.path, p.Number)
			}
		}
	}
	for _, title := range titles {
		if key := titleKey(title); key != "" {
			c.keys = append(c.keys, key)
		}
	}
	return c
}

// rankOf orders the headings that a number may mean: chapters, letters and acts, scenes of acts, parts.
func rankOf(own *ingest.TitlePart) int {
	switch {
	case own.Level == 1 && (own.Kind == "chapter" || own.Kind == "number"):
		return 0
	case own.Level == 0:
		return 3
	}
	return own.Level
}

// titleKey returns the form in which titles compare: words in lower case, without accents and marks.
func titleKey(title string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			return r
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’':
			return -1
		}
		return ' '
	}, codex.Normalize(title))
	return norm.NFC.String(strings.Join(strings.Fields(plain), " "))
}

// ChapterLabel returns how people name a thread: "Chapter XVIII", "Book One, Chapter I", or its title if that has no
// number; "thread 12" without a title.
func ChapterLabel(t *annotator.Thread) string { return labelOf(t, ingest.ReadTitle(t.Title)) }

// SceneLabel returns how people name a scene: "Chapter XVIII, scene 60".
func SceneLabel(t *annotator.Thread, scene int) string {
	return fmt.Sprintf("%s, scene %d", ChapterLabel(t), scene)
}

func labelOf(t *annotator.Thread, parts []ingest.TitlePart) string {
	if len(parts) == 0 {
		return fmt.Sprintf("thread %d", t.ID)
	}
	labels := make([]string, len(parts))
	for i, p := range parts {
		labels[i] = p.Text
		if p.Kind != "" {
			labels[i] = capitalized(p.Text)
		}
		if p.Kind == "number" {
			labels[i] = "Chapter " + labels[i]
		}
	}
	return strings.Join(labels, ", ")
}

// capitalized writes words in capitals as words of a title. Roman numerals stay.
func capitalized(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if strings.ToUpper(word) == word && strings.Trim(word, "IVXLCDM.") != "" {
			first := []rune(word)[:1]
			words[i] = string(first) + strings.ToLower(word[len(string(first)):])
		}
	}
	return strings.Join(words, " ")
}

// Titles are the titles of threads, by their ids.
type Titles map[int64]string

// Label returns the name of a position, as SceneLabel; "before the story" for the zero position.
func (t Titles) Label(p annotator.Position) string {
	if p.Scene == 0 {
		return beforeStory
	}
	return SceneLabel(&annotator.Thread{ID: p.Thread, Title: t[p.Thread]}, p.Scene)
}

const beforeStory = "before the story"

// Label returns the name of the position of a place, as SceneLabel; "before the story" for place 0.
func (p *Positions) Label(place annotator.Place) string {
	at := p.At(place)
	if s := p.scenes[place.Order()]; s != nil && at.Scene != 0 {
		return SceneLabel(&s.Thread, s.N)
	}
	return beforeStory
}

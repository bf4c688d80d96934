package offline

import (
	"cmp"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"annotator"
)

// Limits of a summary, in words.
const (
	summaryWords  = 110
	sentenceWords = 45 // longer sentences are used only if there are no others
)

// line is a sentence of the story, with the criteria of its choice.
type line struct {
	text  string
	order int
	names int
	words int
	rank  int // among the lines of its scene, from 0
}

// density is the share of names, in thousandths. Because of the constant, a sentence that is one name is not the
// densest.
func (l *line) density() int { return l.names * 1000 / (l.words + 10) }

// summarise returns the first sentence and those with most names, in story order. It takes one of each scene before a
// second.
func (m *Model) summarise(w *window, limit int) string {
	room := summaryWords
	if limit > 0 {
		room = min(room, limit/2)
	}
	if text := m.best(w.asked(), room); text != "" {
		return text
	}
	return "Nothing of note happens."
}

// best returns the best sentences of texts, in story order, with at most room words.
func (m *Model) best(texts []string, room int) string {
	lines := m.lines(texts)
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.density(), a.density()))
	})
	var chosen []line
	for _, l := range lines {
		if l.words <= room {
			room -= l.words
			chosen = append(chosen, l)
		}
	}
	slices.SortFunc(chosen, func(a, b line) int { return cmp.Compare(a.order, b.order) })
	var sentences []string
	for _, l := range chosen {
		sentences = append(sentences, l.text)
	}
	return strings.Join(sentences, " ")
}

// lines splits texts into sentences. The first sentence of all has the first rank, then those of each text by their
// names.
func (m *Model) lines(bodies []string) []line {
	var all []line
	for _, body := range bodies {
		own := m.sentenceLines(body, len(all))
		slices.SortStableFunc(own, func(a, b line) int {
			return cmp.Or(
				cmp.Compare(max(a.words, sentenceWords), max(b.words, sentenceWords)),
				cmp.Compare(min(a.order, 1), min(b.order, 1)), // the first sentence of all
				cmp.Compare(b.density(), a.density()),
			)
		})
		for rank := range own {
			own[rank].rank = rank
		}
		all = append(all, own...)
	}
	return all
}

func (m *Model) sentenceLines(body string, order int) []line {
	r := newReader(m.lex, []string{body})
	t := r.texts[0]
	named := make([]int, len(t.sentences))
	for _, mention := range r.mentions(0) {
		named[mention.sentence]++
	}
	lines := make([]line, len(t.sentences))
	for i, s := range t.sentences {
		text := collapse(t.in(s))
		lines[i] = line{text: text, order: order + i, names: named[i], words: annotator.CountWords(text)}
	}
	return lines
}

var sceneRange = regexp.MustCompile(`(?i)\bscenes?\D{0,12}(\d+)(?:\D{1,12}(\d+))?`)

// asked returns the texts to summarise: those in the request, else the scenes that it lists, else all.
func (w *window) asked() []string {
	if posts := readPosts(w.last); len(posts) > 0 {
		return bodies(posts)
	}
	if texts := taggedTexts(w.instruction); len(texts) > 0 {
		return texts
	}
	from, to := 0, math.MaxInt
	if found := sceneRange.FindStringSubmatch(w.instruction); found != nil {
		from, _ = strconv.Atoi(found[1])
		to, _ = strconv.Atoi(cmp.Or(found[2], found[1]))
	}
	var all []string
	for _, s := range w.scenes {
		if from <= s.number && s.number <= to {
			all = append(all, strings.Join(bodies(s.posts), "\n\n"))
		}
	}
	return all
}

var tagged = regexp.MustCompile(`(?s)<[a-z_]+[^<>]*>([^<>]+)</[a-z_]+>`)

// taggedTexts returns the bodies of the elements with only text of some length, such as earlier summaries.
func taggedTexts(s string) []string {
	var all []string
	for _, found := range tagged.FindAllStringSubmatch(s, -1) {
		if body := strings.TrimSpace(html.UnescapeString(found[1])); annotator.CountWords(body) > 5 {
			all = append(all, body)
		}
	}
	return all
}

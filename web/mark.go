package web

import (
	"slices"
	"unicode"

	"annotator/codex"
)

// span is a piece of text: plain, a link to an entry, or quoted.
type span struct {
	Text   string
	Entry  int64  // the target of the link; 0: none
	Then   int64  // the entry that had the name in the text, where that is another one
	Name   string // the query of the link, if the text names several entries
	Quoted bool
	First  bool // the first piece of a quotation
	Note   int  // the number of the note on what ends with this piece; 0: none
}

// marker splits a text into spans. Offsets are in code points.
type marker struct {
	body               []rune
	quoteFrom, quoteTo int
	links              []namedSpan // in order, not overlapping
	notes              map[int]int // numbers of the notes on what ends at an offset
}

// namedSpan is an occurrence of a name.
type namedSpan struct {
	start, end int // in code points
	name       string
	entry      int64
	then       int64  // the entry that it was then, if that was merged into entry since; else 0
	ambiguous  bool   // several entries have the name
	term       string // of the entry, of a name in the text of the story
}

// quote marks a quotation, if it is within the text.
func (m *marker) quote(start, end int) {
	if 0 <= start && start < end && end <= len(m.body) {
		m.quoteFrom, m.quoteTo = start, end
	}
}

// spans splits the text at the ends of links and of the quotation, and after each note.
func (m *marker) spans() []span { return m.part(0, len(m.body)) }

// part splits a part of the text.
func (m *marker) part(start, end int) []span {
	cuts := []int{start, end, m.quoteFrom, m.quoteTo}
	for _, l := range m.links {
		cuts = append(cuts, l.start, l.end)
	}
	for at := range m.notes {
		cuts = append(cuts, at)
	}
	slices.Sort(cuts)
	cuts = slices.DeleteFunc(slices.Compact(cuts), func(at int) bool { return at < start || at > end })
	var spans []span
	link := 0
	for i := 0; i+1 < len(cuts); i++ {
		from, to := cuts[i], cuts[i+1]
		s := span{
			Text: string(m.body[from:to]), Quoted: m.quoteFrom <= from && to <= m.quoteTo,
			First: from == m.quoteFrom && m.quoteTo > from, Note: m.notes[to],
		}
		for link < len(m.links) && m.links[link].end <= from {
			link++
		}
		if link < len(m.links) && m.links[link].start <= from {
			s.Entry, s.Then = m.links[link].entry, m.links[link].then
			if m.links[link].ambiguous {
				s.Entry, s.Then, s.Name = 0, 0, m.links[link].name
			}
		}
		spans = append(spans, s)
	}
	return spans
}

// excerpt returns the part of a text around the first of some words, with the words marked.
func excerpt(text []rune, words []codex.Span) (spans []span) {
	const size = 240 // code points
	at := codex.ExcerptStart(text, words, size)
	to := min(at+size, len(text))
	for to < len(text) && to > at+size/2 && !unicode.IsSpace(text[to]) {
		to--
	}
	if at > 0 {
		spans = append(spans, span{Text: "…"})
	}
	for _, w := range words {
		if w.End <= to {
			spans = append(spans, span{Text: string(text[at:w.Start])},
				span{Text: string(text[w.Start:w.End]), Quoted: true})
			at = w.End
		}
	}
	spans = append(spans, span{Text: string(text[at:to])})
	if to < len(text) {
		spans = append(spans, span{Text: "…"})
	}
	return spans
}

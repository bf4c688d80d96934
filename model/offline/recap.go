package offline

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"annotator"
)

// maxCast is how many people, and how many places, a summary names.
const maxCast = 12

// The parts of a request for the summaries of threads and the story so far.
var (
	endedThreads  = regexp.MustCompile(`threads (?:have ended|is to leave your view): ([\d, ]+)\.`)
	wantedThreads = regexp.MustCompile(`For each of (?:them|the threads ([\d, ]+)) write <thread `)
	wantedChunk   = regexp.MustCompile(`Scenes (\d+) to (\d+) are to leave your view\. Write <chunk>`)
)

// recap writes the summaries of threads and a chunk, each in its element. Of a story so far it says only that there is
// none: rules cannot tell a story. The result is empty if nothing is asked for.
func (m *Model) recap(w *window) string {
	ended := endedThreads.FindStringSubmatch(w.instruction)
	if ended == nil {
		return ""
	}
	var b strings.Builder
	if wanted := wantedThreads.FindStringSubmatch(w.instruction); wanted != nil {
		for _, id := range numbers(cmp.Or(wanted[1], ended[1])) {
			own := func(s *scene) bool { return s.thread == id }
			fmt.Fprintf(&b, "<thread id=\"%d\">%s</thread>\n", id, m.outline(w, own))
		}
	}
	fmt.Fprintf(&b, "<cumulative>%s</cumulative>\n", annotator.NoStory)
	if chunk := wantedChunk.FindStringSubmatch(w.instruction); chunk != nil {
		from, to := number(chunk[1]), number(chunk[2])
		inside := func(s *scene) bool { return from <= int64(s.number) && int64(s.number) <= to }
		fmt.Fprintf(&b, "<chunk>%s</chunk>\n", m.outline(w, inside))
	}
	return b.String()
}

// outline says who appears in some scenes and where, which other names they have, and quotes their first and last
// sentence. It is escaped.
func (m *Model) outline(w *window, of func(*scene) bool) string {
	b := m.read(w.scenes)
	counts, first, last := map[*entry]int{}, "", ""
	g := newGlossary(w.entries)
	for i := range b.scenes {
		if !of(&b.scenes[i]) {
			continue
		}
		for _, n := range b.in(i) {
			for _, written := range n.written() {
				if e := g.byForm[normal(written)]; e != nil {
					counts[e] += n.forms[written]
					break
				}
			}
		}
		opening, end := b.ends(i)
		first, last = cmp.Or(first, opening), cmp.Or(end, last)
	}
	var parts []string
	if people := most(counts, tagPerson); people != "" {
		parts = append(parts, "With "+people+".")
	}
	if places := most(counts, tagPlace); places != "" {
		parts = append(parts, "Places: "+places+".")
	}
	if named := b.alsoNamed(g, of); len(named) > 0 {
		parts = append(parts, "Also named: "+strings.Join(named[:min(len(named), maxCast)], ", ")+".")
	}
	if first != "" {
		parts = append(parts, "It begins: “"+first+"”")
	}
	if last != "" && last != first {
		parts = append(parts, "It ends: “"+last+"”")
	}
	return html.EscapeString(cmp.Or(strings.Join(parts, " "), "Nothing of note happens."))
}

// alsoNamed returns the names in some scenes that were met once and share no word with an entry, in their order.
func (b *book) alsoNamed(g *glossary, of func(*scene) bool) (named []string) {
	var all []*name
	for i := range b.scenes {
		if !of(&b.scenes[i]) {
			continue
		}
		for _, n := range b.in(i) {
			known := func(word string) bool { return g.byWord[word] != nil }
			if len(n.places) == 1 && b.accepts(n) && !slices.ContainsFunc(n.Words, known) {
				all = append(all, n)
			}
		}
	}
	slices.SortFunc(all, func(x, y *name) int {
		return cmp.Or(x.places[0].text-y.places[0].text, x.places[0].start-y.places[0].start)
	})
	for _, n := range all {
		named = append(named, n.written()[0])
	}
	return named
}

// most returns the terms of the entries of a kind that were counted most, in their order.
func most(counts map[*entry]int, kind string) string {
	entries := slices.DeleteFunc(slices.Collect(maps.Keys(counts)), func(e *entry) bool { return e.kind() != kind })
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a.ID, b.ID)) })
	var terms []string
	for _, e := range entries[:min(len(entries), maxCast)] {
		terms = append(terms, e.names()[0])
	}
	return strings.Join(terms, ", ")
}

// ends returns the first and the last sentence of a scene, without the quotation marks around them.
func (b *book) ends(scene int) (first, last string) {
	posts := b.scenes[scene].posts
	for i, id := range b.posts {
		if id != posts[0].id && id != posts[len(posts)-1].id || len(b.texts[i].sentences) == 0 {
			continue
		}
		t := b.texts[i]
		first = cmp.Or(first, definition(t.in(t.sentences[0])))
		last = definition(t.in(t.sentences[len(t.sentences)-1]))
	}
	return first, last
}

// numbers reads the numbers of a list.
func numbers(list string) (all []int64) {
	for part := range strings.SplitSeq(list, ",") {
		if n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64); err == nil {
			all = append(all, n)
		}
	}
	return all
}

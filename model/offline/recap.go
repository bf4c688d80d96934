package offline

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
)

// threadWords is the length of a thread's summary.
const threadWords = 60

// The parts of a request for the summaries of threads and the story so far.
var (
	endedThreads  = regexp.MustCompile(`threads (?:have ended|is to leave your view): ([\d, ]+)\.`)
	wantedThreads = regexp.MustCompile(`For each of (?:them|the threads ([\d, ]+)) write <thread `)
	wantedChunk   = regexp.MustCompile(`Scenes (\d+) to (\d+) are to leave your view\. Write <chunk>`)
)

// recap writes the summaries of threads, the story so far and a chunk, each in its element. The result is empty if none
// is asked for.
func (m *Model) recap(w *window) string {
	ended := endedThreads.FindStringSubmatch(w.instruction)
	if ended == nil {
		return ""
	}
	var b strings.Builder
	if wanted := wantedThreads.FindStringSubmatch(w.instruction); wanted != nil {
		for _, id := range numbers(cmp.Or(wanted[1], ended[1])) {
			own := func(s *scene) bool { return s.thread == id }
			fmt.Fprintf(&b, "<thread id=\"%d\">%s</thread>\n", id, m.summaryOf(w, threadWords, own))
		}
	}
	before, added := m.best([]string{w.story}, summaryWords), m.summaryOf(w, summaryWords, func(*scene) bool {
		return true
	})
	fmt.Fprintf(&b, "<cumulative>%s</cumulative>\n", strings.TrimSpace(html.EscapeString(before)+"\n"+added))
	if chunk := wantedChunk.FindStringSubmatch(w.instruction); chunk != nil {
		from, to := number(chunk[1]), number(chunk[2])
		inside := func(s *scene) bool { return from <= int64(s.number) && int64(s.number) <= to }
		fmt.Fprintf(&b, "<chunk>%s</chunk>\n", m.summaryOf(w, summaryWords, inside))
	}
	return b.String()
}

// summaryOf returns the best sentences of some scenes, escaped.
func (m *Model) summaryOf(w *window, room int, of func(*scene) bool) string {
	var texts []string
	for i := range w.scenes {
		if of(&w.scenes[i]) {
			texts = append(texts, strings.Join(bodies(w.scenes[i].posts), "\n\n"))
		}
	}
	return html.EscapeString(cmp.Or(m.best(texts, room), "Nothing of note happens."))
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

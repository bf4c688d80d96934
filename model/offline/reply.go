package offline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// maxCited is the maximum number of sentences that an answer to a question cites.
const maxCited = 3

// citation is a sentence, its post, and the words of the question in it.
type citation struct {
	text  string
	post  int64
	words []string
	score float64
}

func (c *citation) String() string { return fmt.Sprintf(`"%s" [post %d]`, c.text, c.post) }

// reply answers a question with the evidence of the entries that it names, and the sentences with its rarest words.
func (m *Model) reply(w *window) string {
	var out []string
	asked, words := " "+normal(w.instruction), m.questionWords(w.instruction)
	shown := slices.Clone(w.scenes)
	for i := range w.entries {
		e := &w.entries[i]
		if e.Definition != "" && strings.Contains(asked, " "+normal(e.Term)) && len(out) < maxCited {
			out = append(out, e.Term+": "+m.about(e, words))
		}
		shown = append(shown, scene{posts: e.quotes})
	}
	most := len(out) + maxCited
	for _, c := range m.cite(shown, words) {
		isSaid := func(said string) bool { return strings.Contains(said, c.String()) }
		if len(out) < most && !slices.ContainsFunc(out, isSaid) {
			out = append(out, c.String())
		}
	}
	if len(out) == 0 {
		return "Nothing in the scenes shown here answers that."
	}
	return strings.Join(out, "\n")
}

// about returns the quotations of an entry that answer best. If none does, it returns the definition and the posts of
// the evidence.
func (m *Model) about(e *entry, asked set) string {
	var said []string
	for _, c := range m.cite([]scene{{posts: e.quotes}}, asked) {
		if !slices.Contains(said, c.String()) && len(said) < maxCited {
			said = append(said, c.String())
		}
	}
	if len(said) > 0 {
		return strings.Join(said, " ")
	}
	said = append(said, e.Definition)
	for _, q := range e.quotes[:min(maxCited, len(e.quotes))] {
		said = append(said, fmt.Sprintf("[post %d]", q.id))
	}
	return strings.Join(said, " ")
}

// questionWords returns the content words of a question.
func (m *Model) questionWords(question string) set {
	words := set{}
	for _, w := range readText(question, m.lex).words {
		if !m.lex.never[w.lower] {
			words[w.lower] = true
		}
	}
	return words
}

// cite returns the sentences that answer best, best first.
func (m *Model) cite(scenes []scene, asked set) []citation {
	var all []citation
	sentences, found := 0, map[string]int{} // in how many sentences a word is
	for _, s := range scenes {
		for _, p := range s.posts {
			t := readText(p.body, m.lex)
			sentences += len(t.sentences)
			all = append(all, hits(t, p.id, asked)...)
		}
	}
	for _, c := range all {
		for _, word := range c.words {
			found[word]++
		}
	}
	for i := range all {
		slices.Sort(all[i].words) // sentences with the same words get the same score
		for _, word := range all[i].words {
			all[i].score += math.Log(1 + float64(sentences)/float64(found[word])) // the inverse document frequency
		}
	}
	slices.SortStableFunc(all, func(a, b citation) int { return cmp.Compare(b.score, a.score) })
	return all
}

// hits returns the sentences of a post that have any of the words of the question.
func hits(t *text, post int64, asked set) []citation {
	var all []citation
	last := -1
	for _, w := range t.words {
		if !asked[w.lower] {
			continue
		}
		if w.sentence != last {
			last = w.sentence
			all = append(all, citation{text: collapse(t.in(t.sentences[last])), post: post})
		}
		if c := &all[len(all)-1]; !slices.Contains(c.words, w.lower) {
			c.words = append(c.words, w.lower)
		}
	}
	return all
}

package offline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// maxCited bounds the sentences that an answer to a question cites.
const maxCited = 3

// citation is a sentence, the post it stands in, and the words of the question in it.
type citation struct {
	text  string
	post  int64
	words []string
	score float64
}

// reply answers a question with the definitions of the entries it names, and the sentences with its rarest words.
func (m *Model) reply(w *window) string {
	var out []string
	asked := " " + normal(w.instruction)
	for _, e := range w.entries {
		if e.Definition != "" && strings.Contains(asked, " "+normal(e.Term)) && len(out) < maxCited {
			out = append(out, e.Term+": "+e.Definition)
		}
	}
	for _, c := range m.cite(w.scenes, m.questionWords(w.instruction)) {
		out = append(out, fmt.Sprintf(`"%s" [post %d]`, c.text, c.post))
	}
	if len(out) == 0 {
		return "Nothing in the scenes shown here answers that."
	}
	return strings.Join(out, "\n")
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
	return all[:min(maxCited, len(all))]
}

// hits returns the sentences of a post that have any of the words asked for.
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

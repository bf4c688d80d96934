package curator

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
)

// lengths are how much of its posts a candidate is shown with, in code points.
type lengths struct {
	first  int // of the post that names it first
	other  int // around each quotation, or the first name in a post without one
	beside int // of a post that does not name it
	quotes int // the most quotations
}

// lengths are less for several candidates, because what is shown for one is context of the others, too.
func (b Batch) lengths() lengths {
	if len(b) == 1 {
		return lengths{2_000, 400, 200, 12}
	}
	return lengths{1_200, 300, 150, 4}
}

// passage is a stretch of a post's body that is shown, in code points.
type passage struct{ from, to int }

// excerpt is what a question shows of a post.
type excerpt struct {
	post     *annotator.Post
	thread   int // how many threads the question shows before the post's own
	passages []passage
}

// excerpts returns the posts of all candidates: each post once, threads in the order in which candidates name them.
func (b Batch) excerpts() []excerpt {
	var list []excerpt
	threads, places := map[int64]int{}, map[int64]int{}
	for _, c := range b {
		for i, shown := range c.shownPassages(b.lengths()) {
			p := &c.Posts[i]
			if _, known := threads[p.Thread]; !known {
				threads[p.Thread] = len(threads)
			}
			at, known := places[p.ID]
			if !known {
				at = len(list)
				places[p.ID] = at
				list = append(list, excerpt{post: p, thread: threads[p.Thread]})
			}
			list[at].passages = append(list[at].passages, shown...)
		}
	}
	slices.SortFunc(list, func(a, b excerpt) int {
		return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.post.Time, b.post.Time),
			cmp.Compare(a.post.ID, b.post.ID))
	})
	return list
}

// shownPassages returns passages with given lengths. It computes them once.
func (c *Candidate) shownPassages(l lengths) [][]passage {
	list, known := c.passages[l]
	if !known {
		list = c.findPassages(l)
		if c.passages == nil {
			c.passages = map[lengths][][]passage{}
		}
		c.passages[l] = list
	}
	return list
}

// findPassages returns the passages of each of its posts that a candidate is shown with: around its first name and
// around its quotations. Of a post without either it is the end nearest to the center, or else to the post that names
// the candidate first.
func (c *Candidate) findPassages(l lengths) [][]passage {
	list := make([][]passage, len(c.Posts))
	quotes, center := c.evidence(l.quotes), cmp.Or(c.Center, c.First)
	before := true
	for i := range c.Posts {
		p := &c.Posts[i]
		for _, e := range quotes {
			if e.Post == p.ID {
				list[i] = append(list[i], around(p.Body, e.Start, l.other))
			}
		}
		before = before && p.ID != center
		switch at := c.mention(p.Body); {
		case p.ID == c.First:
			list[i] = append(list[i], around(p.Body, at, l.first))
		case list[i] != nil:
		case at >= 0:
			list[i] = []passage{around(p.Body, at, l.other)}
		case before:
			list[i] = []passage{around(p.Body, utf8.RuneCountInString(p.Body), l.beside)}
		default:
			list[i] = []passage{around(p.Body, 0, l.beside)}
		}
	}
	return list
}

// around returns the passage of a length around a place in a text.
func around(text string, at, length int) passage {
	all := utf8.RuneCountInString(text)
	if all <= length {
		return passage{0, all}
	}
	from := max(0, min(at-length/3, all-length))
	return passage{from, from + length}
}

const cutMark = " [...] "

// text joins the passages, with a mark where a part of the post is left out.
func (e *excerpt) text() string {
	slices.SortFunc(e.passages, func(a, b passage) int { return cmp.Compare(a.from, b.from) })
	rest, at := e.post.Body, 0
	cut := func(to int) (part string) { // what comes before a code point
		end := len(rest)
		for i := range rest {
			if at == to {
				end = i
				break
			}
			at++
		}
		part, rest = rest[:end], rest[end:]
		return part
	}
	var text strings.Builder
	for _, p := range e.passages {
		if p.from > at {
			text.WriteString(cutMark)
			cut(p.from)
		}
		if p.to > at {
			text.WriteString(cut(p.to))
		}
	}
	if rest != "" {
		text.WriteString(cutMark)
	}
	return strings.TrimSpace(text.String())
}

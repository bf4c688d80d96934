package mention

import (
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
)

// Limits of a quotation, and how many code points of it a part of the fact is worth.
const (
	maxPassage = 600
	maxAround  = 6 // clauses before and after the given words
	wordWorth  = 100
	nameWorth  = 150  // and of a telling word
	maxNaming  = 2    // quotations of sentences for the names in them
	maxNear    = 1100 // bytes from the words that such a sentence is for to its other end, and of itself
	oftenAmong = 8    // a word that more than one of as many clauses around have is worth nothing
)

// Support returns the quotations of a fact as they support it best, and the words of the fact that they lack. They
// consist of whole sentences. If another sentence of the same post has telling words that they lack, it is quoted, too.
// Some quotations of the fact may be known. Those of an inferred fact need not have its words.
func (w *Wording) Support(f *codex.Fact, known []annotator.Evidence, posts []annotator.Post) (
	quotes []annotator.Evidence, lacks []string,
) {
	for i, q := range f.Quotes {
		body := postOf(posts, q.Post).Body
		quotes = withQuote(quotes, body, w.widen(body, q, w.inOthers(f.Quotes, i)))
	}
	if quotes == nil {
		return nil, nil
	}
	all := slices.Concat(known, quotes)
	post := postOf(posts, quotes[0].Post)
	if f.Kind != annotator.Inferred {
		if also := w.also(post, all); also != nil {
			quotes, all = append(quotes, *also), append(all, *also)
		}
		if lacks = w.lacks(all, posts); lacks != nil {
			return quotes, lacks
		}
	}
	return append(quotes, w.naming(post, quotes[0], all)...), nil
}

// inOthers tells the parts of the fact that quotations have besides one of them.
func (w *Wording) inOthers(quotes []annotator.Evidence, one int) []bool {
	has := make([]bool, len(w.parts))
	for i := range quotes {
		if i != one {
			include(has, w.in(quotes[i].Quote))
		}
	}
	return has
}

// naming returns quotations of the nearest sentences with the names of the fact that some quotations lack. These
// may have a pronoun, or the words of a speaker only. The sentences are before one of these, or behind it in its
// paragraph.
func (w *Wording) naming(post *annotator.Post, of annotator.Evidence, quotes []annotator.Evidence) (
	naming []annotator.Evidence,
) {
	has := make([]bool, len(w.parts))
	for i := range quotes {
		include(has, w.named(quotes[i].Quote))
	}
	for _, c := range around(post.Body, of) {
		if len(naming) == maxNaming {
			break
		}
		if in := w.named(post.Body[c.Start:c.End]); w.newNames(has, in) {
			naming = append(naming, quoted(post.Body, c, annotator.Evidence{Post: post.ID}))
			include(has, in)
		}
	}
	return naming
}

// newNames reports whether a text has a name of the fact that others lack.
func (w *Wording) newNames(has, in []bool) bool {
	for k := range w.parts {
		if w.parts[k].ids != nil && in[k] && !has[k] {
			return true
		}
	}
	return false
}

// around returns the clauses of a post behind a quotation in its paragraph, and those before it, if they are near: the
// nearest first. Of two, the shorter one may be further away.
func around(body string, q annotator.Evidence) (near []codex.Range) {
	at := codex.Places(body, q)[0]
	for _, c := range codex.Clauses(body) {
		switch {
		case c.End <= at.Start, c.Start >= at.End && !strings.Contains(body[at.End:c.Start], "\n"):
			near = append(near, c)
		}
	}
	cost := func(c codex.Range) int { return max(at.Start-c.Start, c.End-at.End) + c.End - c.Start }
	near = slices.DeleteFunc(near, func(c codex.Range) bool { return cost(c) > maxNear })
	slices.SortStableFunc(near, func(a, b codex.Range) int { return cost(a) - cost(b) })
	return near
}

// withQuote adds a quotation of a post to others. It takes the place of those that it contains, and is left out if one
// contains it. One that overlaps it, or has only a space between, is made longer instead, unless that is too long.
func withQuote(quotes []annotator.Evidence, body string, q annotator.Evidence) []annotator.Evidence {
	for i, o := range quotes {
		start, end := min(o.Start, q.Start), max(o.End, q.End)
		if o.Post != q.Post || end-start > o.End-o.Start+q.End-q.Start+1 {
			continue
		}
		if end-start <= max(maxPassage, o.End-o.Start, q.End-q.Start) {
			quotes[i].Start, quotes[i].End = start, end
			quotes[i].Quote = string([]rune(body)[start:end])
			return quotes
		}
	}
	return append(quotes, q)
}

// postOf returns the post of a quotation, which is one of those in which it was found.
func postOf(posts []annotator.Post, id int64) *annotator.Post {
	return &posts[slices.IndexFunc(posts, func(p annotator.Post) bool { return p.ID == id })]
}

// also returns a quotation of the clause with the most telling words of the fact that some quotations lack; nil if none
// has several.
func (w *Wording) also(post *annotator.Post, quotes []annotator.Evidence) *annotator.Evidence {
	has := make([]bool, len(w.parts))
	for i := range quotes {
		include(has, w.wordsIn(quotes[i].Quote))
	}
	lacking := 0
	for k := range has {
		if has[k] = has[k] || !w.telling(k); !has[k] {
			lacking++
		}
	}
	if lacking < leastLacking {
		return nil
	}
	var best codex.Range
	most := leastLacking - 1
	for _, c := range codex.Clauses(post.Body) {
		if n := newParts(has, w.wordsIn(post.Body[c.Start:c.End])); n > most && c.End-c.Start <= maxPassage {
			best, most = c, n
		}
	}
	if most < leastLacking {
		return nil
	}
	also := quoted(post.Body, best, annotator.Evidence{Post: post.ID})
	return &also
}

// newParts counts the parts that are in one text and not yet in others.
func newParts(has, in []bool) (n int) {
	for k := range in {
		if in[k] && !has[k] {
			n++
		}
	}
	return n
}

// quoted returns a quotation of a range of the post of another one.
func quoted(body string, r codex.Range, q annotator.Evidence) annotator.Evidence {
	r = codex.Paired(body, r)
	q.Quote = body[r.Start:r.End]
	q.Start = utf8.RuneCountInString(body[:r.Start])
	q.End = q.Start + utf8.RuneCountInString(q.Quote)
	return q
}

// widen returns a quotation of the fact in whole sentences, or in whole clauses of a long sentence. Those before and
// after it are added if they have enough words and names of the fact for their length. Those that other quotations have
// do not count. If a post has the given words more than once, those count that have the most of the fact around them.
// A quotation that is too long stays as it is.
func (w *Wording) widen(body string, q annotator.Evidence, others []bool) annotator.Evidence {
	clauses, best, most := codex.Clauses(body), codex.Range{}, -1
	for _, at := range codex.Places(body, q) {
		p := w.passage(body, clauses, at)
		if p == nil {
			continue
		}
		from, to := p.widest(others)
		if worth := p.worth(nil, from, to); worth > most {
			best, most = codex.Range{Start: p.clauses[from].Start, End: p.clauses[to].End}, worth
		}
	}
	if most < 0 {
		return q
	}
	return quoted(body, best, q)
}

// passage is the clauses of a post around a quotation.
type passage struct {
	*Wording
	body        string
	clauses     []codex.Range
	first, last int      // of the clauses that have the quotation
	has         [][]bool // by clause and part of the fact
}

// passage returns the passage around a place of a post; nil if what is quoted there is too long.
func (w *Wording) passage(body string, clauses []codex.Range, at codex.Range) *passage {
	first := slices.IndexFunc(clauses, func(c codex.Range) bool { return c.End > at.Start })
	last := len(clauses) - 1
	for last >= 0 && clauses[last].Start >= at.End {
		last--
	}
	if first < 0 || last < first {
		return nil
	}
	from, to := max(0, first-maxAround), min(len(clauses), last+1+maxAround)
	p := &passage{Wording: w, body: body, clauses: clauses[from:to], first: first - from, last: last - from}
	if p.length(p.first, p.last) > maxPassage {
		return nil
	}
	for _, c := range p.clauses {
		p.has = append(p.has, w.in(body[c.Start:c.End]))
	}
	return p
}

// widest returns the clauses to quote. Other quotations have some parts of the fact already.
func (p *passage) widest(others []bool) (from, to int) {
	from, to = p.first, p.last
	has := p.in(p.body[p.clauses[from].Start:p.clauses[to].End])
	include(has, others)
	most, length := 0, p.length(from, to)
	for i := p.first; i >= 0; i-- {
		for j := p.last; j < len(p.clauses) && p.length(i, j) <= maxPassage; j++ {
			if gain := p.worth(has, i, j) - p.length(i, j) + length; gain > most {
				most, from, to = gain, i, j
			}
		}
	}
	return from, to
}

// worth returns what the parts of the fact are worth that some clauses have, beyond those that are there already.
func (p *passage) worth(has []bool, from, to int) (worth int) {
	for k := range p.parts {
		if has != nil && has[k] || p.count(k, from, to) == 0 {
			continue
		}
		isName := p.parts[k].ids != nil
		switch often := p.count(k, 0, len(p.has)-1) > max(2, len(p.has)/oftenAmong); {
		case isName, p.telling(k) && !often:
			worth += nameWorth
		case !often:
			worth += wordWorth
		}
	}
	return worth
}

// count returns how many of some clauses have a part of the fact.
func (p *passage) count(part, from, to int) (n int) {
	for _, has := range p.has[from : to+1] {
		if has[part] {
			n++
		}
	}
	return n
}

// length returns the code points from a clause to another one.
func (p *passage) length(from, to int) int {
	return utf8.RuneCountInString(p.body[p.clauses[from].Start:p.clauses[to].End])
}

package web

import (
	"context"
	"unicode"

	"annotator"
	"annotator/codex"
	"annotator/view"
)

// paragraphs splits a post at its empty lines.
func (m *marker) paragraphs(post int64, notes *notes) (list []paragraph) {
	for from := 0; from < len(m.body); {
		to := endOfParagraph(m.body, from)
		start, end := from, to
		for start < end && unicode.IsSpace(m.body[start]) && m.body[start] != ' ' {
			start++
		}
		for end > start && unicode.IsSpace(m.body[end-1]) {
			end--
		}
		if start < end {
			of := notes.within(post, start, to)
			for i := range of {
				m.notes[min(of[i].end, end)] = of[i].Number
			}
			list = append(list, paragraph{m.part(start, end), of})
		}
		from = to
	}
	return list
}

// endOfParagraph returns the offset after the next empty line.
func endOfParagraph(body []rune, from int) int {
	for i := from; i < len(body); i++ {
		if body[i] != '\n' {
			continue
		}
		at := i + 1
		for at < len(body) && body[at] != '\n' && unicode.IsSpace(body[at]) {
			at++
		}
		if at < len(body) && body[at] == '\n' && i > from {
			return at + 1
		}
	}
	return len(body)
}

// note says in the margin which facts a sentence supports.
type note struct {
	Number int
	Facts  []notedFact
	More   int // facts that it does not list
	start  int // offsets of the sentence in its post
	end    int
}

// notedFact is a fact of a note.
type notedFact struct {
	Entry *annotator.Entry
	Fact  int64
	Text  string // empty if it is the sentence itself
}

// notes are the notes on the text of a page, by post.
type notes struct {
	byPost map[int64][]view.Quotation
	of     map[int64]*annotator.Entry
	next   int
}

// newNotes reads the facts that some scenes support. Facts that are only in the history of an entry are left out.
func (r *request) newNotes(ctx context.Context, scenes []annotator.SceneRow) (*notes, error) {
	var posts []int64
	for i := range scenes {
		posts = append(posts, scenes[i].Posts...)
	}
	found, err := r.view.Quotations(ctx, posts)
	if err != nil {
		return nil, err
	}
	n := &notes{byPost: map[int64][]view.Quotation{}}
	ids := make([]int64, 0, len(found))
	for i := range found {
		if q := &found[i]; codex.Shown(&q.Claim) {
			n.byPost[q.Evidence.Post] = append(n.byPost[q.Evidence.Post], *q)
			ids = append(ids, q.Entry)
		}
	}
	n.of, err = r.view.Headings(ctx, ids)
	return n, err
}

// within returns the notes on the sentences that begin in a part of a post.
func (n *notes) within(post int64, from, to int) (list []note) {
	if n == nil {
		return nil
	}
	const mostFacts = 4 // of a note
	for _, q := range n.byPost[post] {
		e := n.of[q.Entry]
		if q.Evidence.Start < from || q.Evidence.Start >= to || e == nil || !e.Status.Live() {
			continue
		}
		if len(list) == 0 || list[len(list)-1].start != q.Evidence.Start || list[len(list)-1].end != q.Evidence.End {
			n.next++
			list = append(list, note{Number: n.next, start: q.Evidence.Start, end: q.Evidence.End})
		}
		last := &list[len(list)-1]
		if len(last.Facts) == mostFacts {
			last.More++
			continue
		}
		fact := notedFact{Entry: e, Fact: q.Claim.ID}
		if !sameWords(q.Claim.Text, q.Evidence.Quote) {
			fact.Text = codex.WithoutLinks(q.Claim.Text)
		}
		last.Facts = append(last.Facts, fact)
	}
	return list
}

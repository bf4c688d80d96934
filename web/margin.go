package web

import (
	"context"
	"slices"
	"strings"
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
			of := notes.within(post, start, end)
			for i := range of {
				m.notes[of[i].end] = of[i].Number
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

// note says in the margin which facts a sentence supports, or several that end together.
type note struct {
	Number int
	Facts  []notedFact
	More   int // facts that it does not list
	end    int // offset of the end of the sentence in its post, or of the paragraph if that ends before
}

// notedFact is a fact of a note.
type notedFact struct {
	Entry *annotator.Entry
	Fact  int64
	Text  string // empty if it is the sentence itself
	Named bool   // the text names the entry
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

// within returns the notes on the sentences that begin in a part of a post, in the order of their ends.
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
		end := min(q.Evidence.End, to)
		at := slices.IndexFunc(list, func(other note) bool { return other.end == end })
		if at < 0 {
			list, at = append(list, note{end: end}), len(list)
		}
		if len(list[at].Facts) == mostFacts {
			list[at].More++
			continue
		}
		list[at].Facts = append(list[at].Facts, newNotedFact(e, &q))
	}
	slices.SortFunc(list, func(a, b note) int { return a.end - b.end })
	for i := range list {
		n.next++
		list[i].Number = n.next
	}
	return list
}

func newNotedFact(e *annotator.Entry, q *view.Quotation) notedFact {
	f := notedFact{Entry: e, Fact: q.Claim.ID}
	if !sameWords(q.Claim.Text, q.Evidence.Quote) {
		f.Text = codex.WithoutLinks(q.Claim.Text)
		f.Named = slices.ContainsFunc(append(e.Names(), e.Term), func(name string) bool {
			return strings.Contains(strings.ToLower(f.Text), strings.ToLower(name))
		})
	}
	return f
}

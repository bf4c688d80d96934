// Package continuity compares a new chapter of a story with the codex as of its place. A model is asked what of the
// chapter does not go together with which facts. Of its answer, only what quotes the chapter and names a fact that was
// shown is a finding.
package continuity

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/context/prompt"
	"annotator/view"
)

// System is the system prompt of a question.
//
//go:embed question.md
var System string

// How much a question shows, in code points and entries. With the answer it fits a context of 32,768 tokens.
const (
	maxPart     = 12_000 // of the chapter
	maxFacts    = 40_000 // of entries
	maxEntry    = 6_000  // of one entry
	maxEntries  = 40
	mainEntries = 5  // those with the most facts, which are shown in any case
	maxWith     = 12 // persons that are listed with a scene

	maxReason = 500 // of an answer
)

// Codex is what the story has told before a chapter.
type Codex struct {
	view  *view.View
	at    *view.Positions
	index *mention.Index
	main  []size // the entries with the most facts, at most mainEntries
}

// size is an entry with its number of facts.
type size struct {
	id    int64
	facts int
}

// Open reads the names of a view, which ends before the chapter.
func Open(ctx context.Context, v *view.View, at *view.Positions) (*Codex, error) {
	c := &Codex{view: v, at: at, index: mention.New()}
	for e, err := range v.All(ctx) {
		if err != nil {
			return nil, err
		}
		if e.Status.Live() {
			c.index.SetNames(e.ID, e.Names())
			c.main = append(c.main, size{e.ID, len(e.Claims)})
		}
	}
	slices.SortFunc(c.main, func(a, b size) int {
		return cmp.Or(cmp.Compare(b.facts, a.facts), cmp.Compare(a.id, b.id))
	})
	c.main = slices.Clip(c.main[:min(len(c.main), mainEntries)])
	return c, nil
}

// Parts cuts a chapter between its posts into parts that a question has room for. A longer post is a part.
func Parts(posts []annotator.Post) (parts [][]annotator.Post) {
	length := 0
	for i := range posts {
		n := utf8.RuneCountInString(posts[i].Body)
		if length += n; i == 0 || length > maxPart {
			parts, length = append(parts, nil), n
		}
		last := len(parts) - 1
		parts[last] = append(parts[last], posts[i])
	}
	return parts
}

// Question is a question about a part of a chapter.
type Question struct {
	Text  string
	posts []annotator.Post
	shown map[[2]int64]bool // entry and claim
}

// Ask returns the question about a part; nil if the part names no entry with facts.
func (c *Codex) Ask(ctx context.Context, posts []annotator.Post) (*Question, error) {
	entries, err := c.named(ctx, posts)
	if err != nil {
		return nil, err
	}
	q := &Question{posts: posts, shown: map[[2]int64]bool{}}
	var text strings.Builder
	text.WriteString("<glossary>\n")
	scenes, room := map[annotator.Order]annotator.Position{}, maxFacts
	for _, e := range entries {
		facts := c.facts(e, scenes, min(room, maxEntry))
		if len(facts) == 0 {
			continue
		}
		shown := *e
		shown.Claims, shown.Present = nil, ""
		head, end, _ := strings.Cut(prompt.Entry(&shown), "</entry>")
		text.WriteString(head)
		for _, f := range facts {
			q.shown[[2]int64{e.ID, f.claim}] = true
			text.WriteString(f.line)
			room -= utf8.RuneCountInString(f.line)
		}
		text.WriteString("</entry>" + end)
	}
	if len(q.shown) == 0 {
		return nil, nil
	}
	if err := c.scenes(ctx, &text, scenes); err != nil {
		return nil, err
	}
	text.WriteString("</glossary>\n<chapter>\n")
	for i := range posts {
		text.WriteString(prompt.Escape(strings.TrimSpace(posts[i].Body)) + "\n\n")
	}
	text.WriteString("</chapter>")
	q.Text = text.String()
	return q, nil
}

// named returns the entries that posts name, those that are named most first. Behind them are those with the most
// facts: a narrator, and whoever is told as you, are seldom named.
func (c *Codex) named(ctx context.Context, posts []annotator.Post) ([]*annotator.Entry, error) {
	counts := map[int64]int{}
	for i := range posts {
		for _, m := range c.index.Find(posts[i].Body) {
			counts[m.ID] += m.Count
		}
	}
	var ids []int64
	for id := range counts {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int64) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	ids = ids[:min(len(ids), maxEntries)]
	if len(ids) == 0 {
		return nil, nil
	}
	for _, e := range c.main {
		if !slices.Contains(ids, e.id) {
			ids = append(ids, e.id)
		}
	}
	found, err := c.view.EntriesByID(ctx, ids)
	var entries []*annotator.Entry
	for _, id := range ids {
		if e := found[id]; e != nil {
			entries = append(entries, e)
		}
	}
	return entries, err
}

// fact is a line of an entry.
type fact struct {
	claim int64
	line  string
}

// facts returns the facts of an entry that hold, in the order in which they are read. If they are longer than there is
// room for, what opens the entry and its states come before others, and of these the newest. It adds the scenes that
// tell them.
func (c *Codex) facts(e *annotator.Entry, scenes map[annotator.Order]annotator.Position, room int) []fact {
	claims, opening := codex.InOrder(e)
	order := make([]int, len(claims))
	for i := range order {
		order[i] = i
	}
	first := func(i int) int {
		if i < opening || claims[i].State {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(claims[b].From, claims[a].From))
	})
	lines := make([]string, len(claims))
	for _, i := range order {
		claim := &claims[i]
		if claim.Until != 0 {
			continue
		}
		at := c.at.Named(claim.From)
		line := fmt.Sprintf("%s [scene %d]\n", prompt.Fact(codex.FactLine(claim)), at.Scene)
		if room -= utf8.RuneCountInString(line); room < 0 {
			break
		}
		lines[i], scenes[claim.From.Order()] = line, at
	}
	var shown []fact
	for i, line := range lines {
		if line != "" {
			shown = append(shown, fact{claims[i].ID, line})
		}
	}
	return shown
}

// scenes writes the scenes that tell the facts, each with the persons that it names.
func (c *Codex) scenes(ctx context.Context, text *strings.Builder,
	scenes map[annotator.Order]annotator.Position,
) error {
	var orders []annotator.Order
	for order := range scenes {
		orders = append(orders, order)
	}
	slices.Sort(orders)
	for _, order := range orders {
		with, err := c.persons(ctx, order)
		if err != nil {
			return err
		}
		at := scenes[order]
		fmt.Fprintf(text, "<scene number=\"%d\" chapter=\"%s\" with=\"%s\"/>\n", at.Scene, prompt.Escape(at.Chapter),
			prompt.Escape(strings.Join(with, "|")))
	}
	return c.at.Err
}

// persons returns the persons that a scene names, in the order in which it names them.
func (c *Codex) persons(ctx context.Context, scene annotator.Order) (names []string, err error) {
	found, err := c.view.MentionsIn(ctx, scene, scene)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for i := range found {
		if !slices.Contains(ids, found[i].Entry) {
			ids = append(ids, found[i].Entry)
		}
	}
	entries, err := c.view.Headings(ctx, ids)
	for _, id := range ids {
		if e := entries[id]; e != nil && slices.Contains(e.Tags, "person") && len(names) < maxWith {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// sorts are the words for the sorts of findings in an answer.
var sorts = map[string]annotator.FindingSort{
	"CONTRADICTION": annotator.Contradiction, "KNOWLEDGE": annotator.Knowledge, "PROMISE": annotator.BrokenPromise,
}

// Answer reads the findings of an answer. Lines that name no fact that was shown, or do not quote the chapter, are
// counted as unfounded. Without any line of the form that was asked for, nor NONE, the answer is not usable.
func (q *Question) Answer(text string) (found []annotator.Finding, unfounded int, usable bool) {
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimLeft(strings.TrimSpace(line), "*-•` "), " ")
		word = strings.ToUpper(strings.Trim(word, "*:`."))
		usable = usable || word == "NONE"
		sort, known := sorts[word]
		if !known {
			continue
		}
		usable = true
		finding, founded := q.read(rest)
		if !founded {
			unfounded++
			continue
		}
		finding.Sort = sort
		found = append(found, finding)
	}
	return found, unfounded, usable
}

// marks are the quotation marks around the words of the chapter.
const marks = "\"“”«»„"

// read reads a line behind its first word: numbers, quotation and reason. The quotation may hold quotation marks, so it
// is the longest text up to one of them that the chapter has.
func (q *Question) read(line string) (annotator.Finding, bool) {
	numbers, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	entry, claim, _ := strings.Cut(strings.Trim(numbers, "*#:`"), ":")
	var f annotator.Finding
	f.Entry, _ = strconv.ParseInt(entry, 10, 64)
	f.Claim, _ = strconv.ParseInt(claim, 10, 64)
	rest = strings.TrimLeft(rest, "*-—:` ")
	if !q.shown[[2]int64{f.Entry, f.Claim}] || strings.IndexAny(rest, marks) != 0 {
		return f, false
	}
	_, width := utf8.DecodeRuneInString(rest)
	rest = rest[width:]
	for end := len(rest); ; {
		if end = strings.LastIndexAny(rest[:end], marks); end <= 0 {
			return f, false
		}
		if quotes, _ := codex.FindQuotes(q.posts, rest[:end]); len(quotes) > 0 {
			f.Quote = q.sentence(&quotes[0])
			end = len(strings.TrimRight(rest[:end], marks+" "))
			_, width := utf8.DecodeRuneInString(rest[end:])
			reason := strings.TrimSpace(strings.TrimLeft(annotator.Unescape(rest[end+width:]), " *-—:"))
			f.Reason = annotator.Clip(reason, maxReason, " [...]")
			return f, true
		}
	}
}

// sentence returns the sentence of the chapter in which a quotation begins, or the quotation if that is longer. So
// answers in other words are the same finding.
func (q *Question) sentence(quote *annotator.Evidence) string {
	at := slices.IndexFunc(q.posts, func(p annotator.Post) bool { return p.ID == quote.Post })
	body := q.posts[at].Body
	if sentence := codex.SentenceAt(body, quote.Start); len(sentence) > len(quote.Quote) {
		return sentence
	}
	return quote.Quote
}

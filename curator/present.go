package curator

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
	"annotator/context/prompt"
)

// How much a question asks about entries whose present statement is out of date.
const (
	maxStatements   = 20    // entries
	statementsShown = 5_000 // tokens of their facts
	statementsPart  = 8     // part of a large window that these may take at the end of the story, where all are due
	statementShown  = 1_250 // tokens of the facts of one
	statementTokens = 160   // of the reply, for each
	statementLength = 600   // code points of a statement; the question asks for 400
)

// MinFacts is the minimum number of facts of an entry that gets a present statement. Fewer are as short as one.
const MinFacts = 5

// statements are the entries of a question whose present statement is out of date.
type statements []outdated

// outdated is an entry with the facts that the question shows.
type outdated struct {
	*annotator.Entry
	shown string
	// settles reports whether a fact says anything of what a guess says; nil: every fact does.
	settles func(guess, fact *annotator.Claim) bool
}

// dueStatements returns the entries whose present statement is due, as many as one question is about, and whether they
// cannot wait.
func (c *Curator) dueStatements(ctx context.Context) (list statements, urgent bool, err error) {
	if c.Tasks&Present == 0 {
		return nil, false, nil
	}
	ids, urgent, err := c.outdated(ctx)
	if err != nil || len(ids) == 0 {
		return nil, false, err
	}
	entries, err := c.entries(ctx, ids)
	if err != nil {
		return nil, false, err
	}
	index, usage, err := c.Names.Words(ctx, c.Scene.Order)
	if err != nil {
		return nil, false, err
	}
	room := statementsShown
	if c.Final {
		room = max(room, min(maxQuestion, c.Window.Budget.Context()/statementsPart))
	}
	for _, id := range ids {
		e := entries[id]
		settles := func(guess, fact *annotator.Claim) bool { return index.Settles(e, guess, e, fact, usage) }
		text := prompt.Outdated(e, func(text string) bool {
			return c.Window.Count(text) <= statementShown
		})
		if tokens := c.Window.Count(text); text != "" && tokens <= room {
			room -= tokens
			list = append(list, outdated{e, text, settles})
		}
	}
	return list, urgent || len(list) >= min(c.least(), maxStatements), nil
}

// outdated returns the entries whose present statement may be out of date, and whether they have waited for long. At
// the end of the corpus any new fact suffices, as no other one follows.
func (c *Curator) outdated(ctx context.Context) (ids []int64, urgent bool, err error) {
	changes := annotator.MajorChange
	if c.Scene.Last {
		changes = 1
	}
	if ids, err = c.Records.Outdated(ctx, changes, MinFacts, maxStatements); err != nil || len(ids) == 0 {
		return nil, false, err
	}
	first, err := annotator.OrderOf(c.Scenes.Neighbor(ctx, c.Scene.Order, 1-PartScenes))
	if err != nil || first == 0 {
		return ids, false, err
	}
	asked, err := c.Records.Restated(ctx, first-1)
	return ids, !asked, err
}

// shown returns the element with the facts of the entries.
func (s statements) shown() string {
	var text strings.Builder
	text.WriteString("<outdated>\n")
	for _, e := range s {
		text.WriteString(e.shown)
	}
	text.WriteString("</outdated>")
	return text.String()
}

var (
	presentTag = regexp.MustCompile(`(?s)<present\s+id="?(\d+)"?([^<>]*)>(.*?)</present>`)
	endedFacts = regexp.MustCompile(`\b(ended|confirmed|refuted)="([^"<>]*)"`)
	endedBy    = regexp.MustCompile(`(\d+)(?:\s*(?:by|[:=>-]+)[^\w,]*(\d+))?`)
)

// statement is what an answer says of an entry.
type statement struct {
	text  string
	ended []codex.Closing // facts that it says no longer hold, each by the fact that says so, if one does
	// guesses are closings of guesses: those that are confirmed, each by another fact, and those that proved false.
	guesses []codex.Closing
}

// readEnded reads the attributes of a statement.
func (s *statement) readEnded(attributes string) {
	for _, attribute := range endedFacts.FindAllStringSubmatch(attributes, -1) {
		for _, pair := range endedBy.FindAllStringSubmatch(attribute[2], -1) {
			var c codex.Closing
			c.Fact, _ = strconv.ParseInt(pair[1], 10, 64)
			c.By, _ = strconv.ParseInt(pair[2], 10, 64)
			switch c.Ended = annotator.Ending(attribute[1]); {
			case attribute[1] == "ended":
				c.Ended = annotator.EndOver
				s.ended = append(s.ended, c)
			case c.Ended == annotator.EndRefuted:
				c.By = 0
				s.guesses = append(s.guesses, c)
			case c.By != 0:
				s.guesses = append(s.guesses, c)
			}
		}
	}
}

// read returns the statements of a reply by entry, and the rest of it, which answers another question. Only text in
// closed elements counts, and of two about an entry the first.
func (s statements) read(reply string) (told map[int64]statement, rest string) {
	told = map[int64]statement{}
	for _, match := range presentTag.FindAllStringSubmatch(reply, -1) {
		id, err := strconv.ParseInt(match[1], 10, 64)
		asked := slices.ContainsFunc(s, func(e outdated) bool { return e.ID == id })
		if err != nil || !asked || told[id].text != "" {
			continue
		}
		if text := shortened(codex.Sentences(codex.Clean(annotator.Unescape(match[3])))); codex.HasWord(text) {
			said := statement{text: text}
			said.readEnded(match[2])
			told[id] = said
		}
	}
	return told, presentTag.ReplaceAllString(reply, "")
}

// shortened joins the first sentences of a statement that have room, at least one.
func shortened(sentences []string) string {
	text := ""
	for i, sentence := range sentences {
		longer := strings.TrimSpace(text + " " + sentence)
		if i > 0 && utf8.RuneCountInString(longer) > statementLength {
			break
		}
		text = longer
	}
	return text
}

// numbers returns the numbers in a text, with any text between them.
func numbers(text string) (list []int64) {
	for _, digits := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// revisions returns what a reply's statements change. If an entry has no usable one, that is recorded, so that it is
// not asked about again before its facts change. An entry that another decision of the same reply has changed keeps its
// statement, as the model has not seen the change. One that only gets facts of a dropped entry is restated.
func (s statements) revisions(
	told map[int64]statement, changed map[int64]bool, others []annotator.Revision, at annotator.Place, thread int64,
) (all []annotator.Revision) {
	for _, e := range s {
		if changed[e.ID] {
			continue
		}
		entry := after(e.Entry, others)
		restated, err := told[e.ID].revisions(&entry, at, e.settles)
		if err == nil && len(restated) > 0 {
			all = append(all, restated...)
			continue
		}
		d := Decision{Action: Unstated, Thread: thread, Reason: "it is as it was"}
		if err != nil {
			d.Reason = annotator.Clip(codex.Clean(err.Error()), MaxReason, "")
		}
		all = append(all, (&Candidate{Entry: *e.Entry}).record(d, at))
	}
	return all
}

// revisions returns what a statement changes in an entry.
func (s statement) revisions(
	e *annotator.Entry, at annotator.Place, settles func(guess, fact *annotator.Claim) bool,
) ([]annotator.Revision, error) {
	if s.text == "" {
		return nil, errors.New("the answer has no statement of what it is now")
	}
	entry := codex.Clone(e)
	var all []annotator.Revision
	for _, c := range s.closings(e) {
		guess, by := claimOf(e, c.Fact), claimOf(e, c.By)
		edit := codex.Edit{Actor: annotator.ActorCurator, At: at, Close: []codex.Closing{c}}
		switch {
		case by == nil:
		case c.Ended == annotator.EndOver: // it ended there, and not where the question is asked
			edit.At = by.From
		case settles != nil && !settles(guess, by):
			continue
		}
		closed, err := revised(&entry, edit)
		if err != nil {
			return nil, err
		}
		all = append(all, closed...)
	}
	restated, err := codex.Restate(&entry, s.text, annotator.ActorCurator, at)
	return append(all, restated...), err
}

// closings returns the closings of the states that have ended, of what the entry is no longer, and of the guesses that
// are settled. An answer that ends most of an entry's states, or of what it is, ends none of these. It has mistaken the
// question, or follows an instruction in a fact.
func (s statement) closings(e *annotator.Entry) (list []codex.Closing) {
	list = s.over(e, func(c *annotator.Claim) bool { return c.State })
	list = append(list, s.over(e, func(c *annotator.Claim) bool {
		return c.Identity && !c.State && c.Kind == annotator.Narrated
	})...)
	return append(list, s.settled(e, list)...)
}

// over returns the closings of those claims of a kind that have ended. A fact that says so is narrated, no older than
// the claim, and holds.
func (s statement) over(e *annotator.Entry, is func(*annotator.Claim) bool) (list []codex.Closing) {
	all := 0
	for i := range e.Claims {
		c := &e.Claims[i]
		if !is(c) || c.Until != 0 {
			continue
		}
		all++
		at := slices.IndexFunc(s.ended, func(ended codex.Closing) bool { return ended.Fact == c.ID })
		if at < 0 {
			continue
		}
		closing := s.ended[at]
		by := claimOf(e, closing.By)
		over := slices.ContainsFunc(s.ended, func(ended codex.Closing) bool { return ended.Fact == closing.By })
		if by == nil || over || by.Kind != annotator.Narrated || by.Earlier || by.From < c.From {
			closing.By = 0
		}
		list = append(list, closing)
	}
	if 2*len(list) > all+1 {
		return nil
	}
	return list
}

// settled returns the closings of guesses, given those of states. A narrated fact that holds and is newer may confirm a
// guess.
func (s statement) settled(e *annotator.Entry, ended []codex.Closing) (list []codex.Closing) {
	find := func(id int64) *annotator.Claim {
		isClosed := func(c codex.Closing) bool { return c.Fact == id }
		if slices.ContainsFunc(ended, isClosed) || slices.ContainsFunc(list, isClosed) {
			return nil
		}
		return claimOf(e, id)
	}
	for _, g := range s.guesses {
		guess, by := find(g.Fact), find(g.By)
		if guess == nil || guess.Kind != annotator.Inferred {
			continue
		}
		if g.Ended == annotator.EndRefuted || by != nil && by.Kind == annotator.Narrated && codex.Newer(by, guess) {
			list = append(list, g)
		}
	}
	return list
}

// claimOf returns the claim of an entry with an id that holds; nil for none.
func claimOf(e *annotator.Entry, id int64) *annotator.Claim {
	at := slices.IndexFunc(e.Claims, func(c annotator.Claim) bool { return c.ID == id && c.Until == 0 })
	if at < 0 {
		return nil
	}
	return &e.Claims[at]
}

// note is the note of a question for statements that brought none.
func (s statements) note() string {
	return fmt.Sprintf("The curator gave no usable statement of what %d entries are now.", len(s))
}

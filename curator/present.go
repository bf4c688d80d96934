package curator

import (
	"context"
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/context/prompt"
)

// How much a question asks about entries whose present statement is out of date.
const (
	maxStatements   = 12    // entries
	statementsShown = 3_000 // tokens of their facts
	statementTokens = 100   // of the reply, for each
	statementLimit  = 3     // sentences of a statement
)

// MinFacts is how many facts an entry holds at least that is given a present statement. Fewer are as short as one.
const MinFacts = 4

// statements are the entries of a question whose present statement is out of date.
type statements []*annotator.Entry

// outdated returns the entries whose present statement is due, as many as one question is about.
func (c *Curator) outdated(ctx context.Context) (statements, error) {
	if c.Outdated == nil {
		return nil, nil
	}
	ids, err := c.Outdated(ctx, maxStatements)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	entries, err := c.entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	var list statements
	room := statementsShown
	for _, id := range ids {
		room -= c.Window.Count(prompt.Entry(entries[id]))
		if room < 0 && len(list) > 0 {
			break
		}
		list = append(list, entries[id])
	}
	return list, nil
}

// question returns what the model is asked about the entries, before another question in the same message; that may be
// empty.
func (s statements) question(instruction, other string) string {
	var text strings.Builder
	text.WriteString(instruction)
	text.WriteString("\n\n<outdated>\n")
	for _, e := range s {
		text.WriteString(prompt.Entry(e))
	}
	text.WriteString("</outdated>")
	if other == "" {
		return text.String() + "\n\nClose each of these elements, and write nothing else."
	}
	return text.String() + "\n\nClose each of these elements. In the same answer, after them, answer what follows: " +
		"where it says to write nothing else, that is beside these elements.\n\n" + other
}

var presentTag = regexp.MustCompile(`(?s)<present\s+id="?(\d+)"?[^<>]*>(.*?)</present>`)

// read returns the statements of a reply by entry, and the rest of it, which answers another question. Only text in
// closed elements counts, and of two about an entry the first.
func (s statements) read(reply string) (texts map[int64]string, rest string) {
	texts = map[int64]string{}
	for _, match := range presentTag.FindAllStringSubmatch(reply, -1) {
		id, err := strconv.ParseInt(match[1], 10, 64)
		asked := slices.ContainsFunc(s, func(e *annotator.Entry) bool { return e.ID == id })
		if err != nil || !asked || texts[id] != "" {
			continue
		}
		all := codex.Sentences(codex.Clean(html.UnescapeString(match[2])))
		if text := strings.Join(all[:min(len(all), statementLimit)], " "); codex.HasWord(text) {
			texts[id] = text
		}
	}
	return texts, presentTag.ReplaceAllString(reply, "")
}

// revisions returns what a reply's statements change. Of an entry without a usable one it is recorded that there is
// none, so that it is not asked about again before its facts change. An entry that another decision of the same reply
// has changed keeps its statement: the model has not seen the change.
func (s statements) revisions(
	texts map[int64]string, changed map[int64]bool, at annotator.Place, thread int64,
) (all []annotator.Revision) {
	for _, e := range s {
		if changed[e.ID] {
			continue
		}
		at := max(at, e.Last)
		restated, err := codex.Restate(e, texts[e.ID], annotator.ActorCurator, at)
		if texts[e.ID] == "" {
			err = errors.New("the answer has no statement of what it is now")
		}
		if err == nil && len(restated) > 0 {
			all = append(all, restated...)
			continue
		}
		d := Decision{Action: Unstated, Thread: thread, Reason: "it is as it was"}
		if err != nil {
			d.Reason = clipped(codex.Clean(err.Error()))
		}
		all = append(all, (&Candidate{Entry: *e}).record(d, at))
	}
	return all
}

// note is the note of a question for statements that brought none.
func (s statements) note() string {
	return fmt.Sprintf("The curator gave no usable statement of what %d entries are now.", len(s))
}

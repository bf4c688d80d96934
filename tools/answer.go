package tools

import (
	"fmt"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
)

// An answer stays in the window for many scenes.
const (
	maxAnswer  = 8000            // characters of an answer's content, at most
	maxContent = maxAnswer - 300 // of them for entries and posts; the rest is for what stands round these
)

// length is the number of characters that a value takes in an answer.
func jsonLength(value any) int { return utf8.RuneCountInString(encode(value)) }

// cut shortens a text to what fits into so many characters of JSON, and says how much is left out.
func truncate(text string, room int) string {
	const marker = 40 // of room for the note
	used, fits := 0, 0
	for at, r := range text {
		if used <= room-marker {
			fits = at
		}
		if used += jsonWidth(r); used > room {
			return fmt.Sprintf("%s… [%d more characters]", text[:fits], utf8.RuneCountInString(text[fits:]))
		}
	}
	return text
}

// width is the number of characters that JSON spends on a character.
func jsonWidth(r rune) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t', r == '\b', r == '\f':
		return 2
	case r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError:
		return 6
	}
	return 1
}

type entryView struct {
	ID         int64            `json:"id"`
	Term       string           `json:"term"`
	Status     annotator.Status `json:"status"`
	MergedInto int64            `json:"merged_into,omitempty"`
	Tags       []string         `json:"tags"`
	Aliases    []string         `json:"aliases"`
	Definition string           `json:"definition"`
	Revisions  int              `json:"revisions"`
	Truncated  string           `json:"truncated,omitempty"`

	whole bool // the definition is
}

// viewEntry gives an entry as an answer shows it, in at most room characters: aliases are left out first, then tags, then
// the definition is cut.
func viewEntry(e *annotator.Entry, room int) entryView {
	v := entryView{
		ID: e.ID, Term: e.Name(), Status: e.Status, MergedInto: e.MergedInto, Tags: append([]string{}, e.Tags...),
		Aliases: otherNames(e), Definition: e.Definition(), Revisions: e.Revisions, whole: true,
	}
	for _, list := range []*[]string{&v.Aliases, &v.Tags} {
		for jsonLength(v) > room && len(*list) > 0 {
			*list = (*list)[:len(*list)/2]
			v.Truncated = "names or tags are left out for length"
		}
	}
	if over := jsonLength(v) - room; over > 0 {
		v.Definition = truncate(v.Definition, jsonLength(v.Definition)-over-len(`""`))
		v.whole = false
	}
	return v
}

// otherNames returns the names of an entry but the term.
func otherNames(e *annotator.Entry) []string {
	names := []string{}
	for _, alias := range e.Aliases {
		if n := codex.Normalize(alias.Name); n != codex.Normalize(e.Term) && n != codex.Normalize(e.Name()) {
			names = append(names, alias.Name)
		}
	}
	return names
}

func shownEntries(e *annotator.Entry, v *entryView) []annotator.Shown {
	if !v.whole {
		return nil
	}
	return []annotator.Shown{{Entry: e.ID, Revision: e.Revision}}
}

// entryResult is the answer of a call that ends with one entry.
func entryResult(e *annotator.Entry) Result {
	view := viewEntry(e, maxContent)
	return Result{
		Content: encode(struct {
			OK    bool      `json:"ok"`
			Entry entryView `json:"entry"`
		}{true, view}),
		Shows: shownEntries(e, &view),
	}
}

// createdResult answers a call that made an entry. It does not repeat what the call says: in a long window every answer is
// read again and again.
func createdResult(e *annotator.Entry) Result {
	view := viewEntry(e, maxContent)
	return Result{
		Content: encode(struct {
			OK    bool        `json:"ok"`
			Entry createdView `json:"entry"`
		}{true, createdView{ID: view.ID, Term: view.Term, Status: view.Status, Aliases: view.Aliases}}),
		Shows: []annotator.Shown{{Entry: e.ID, Revision: e.Revision}},
	}
}

type createdView struct {
	ID      int64            `json:"id"`
	Term    string           `json:"term"`
	Status  annotator.Status `json:"status"`
	Aliases []string         `json:"aliases"`
}

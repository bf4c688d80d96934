package tools

import (
	"fmt"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
)

// Limits of a tool's answer, in characters. An answer stays in the window for many scenes.
const (
	maxAnswer  = 8000
	maxContent = maxAnswer - 300 // for entries and posts; the rest is for the JSON around them
)

// jsonLength returns the number of characters of a value's JSON.
func jsonLength(value any) int { return utf8.RuneCountInString(annotator.EncodeJSON(value)) }

// truncate shortens a text to limit characters of JSON and appends how many characters are left out.
func truncate(text string, limit int) string {
	const marker = 40 // characters reserved for the appended note
	used, fits := 0, 0
	for at, r := range text {
		if used <= limit-marker {
			fits = at
		}
		if used += jsonWidth(r); used > limit {
			return fmt.Sprintf("%s… [%d more characters]", text[:fits], utf8.RuneCountInString(text[fits:]))
		}
	}
	return text
}

// jsonWidth returns the number of characters that encode a character in JSON.
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

	whole bool // the definition is not truncated
}

// viewEntry returns an entry in at most limit characters. It drops aliases first, then tags, then cuts the definition.
func viewEntry(e *annotator.Entry, limit int) entryView {
	v := entryView{
		ID: e.ID, Term: e.Name(), Status: e.Status, MergedInto: e.MergedInto, Tags: append([]string{}, e.Tags...),
		Aliases: otherNames(e), Definition: e.Definition(), Revisions: e.Revisions, whole: true,
	}
	for _, list := range []*[]string{&v.Aliases, &v.Tags} {
		for jsonLength(v) > limit && len(*list) > 0 {
			*list = (*list)[:len(*list)/2]
			v.Truncated = "names or tags are left out for length"
		}
	}
	if over := jsonLength(v) - limit; over > 0 {
		v.Definition = truncate(v.Definition, jsonLength(v.Definition)-over-len(`""`))
		v.whole = false
	}
	return v
}

// otherNames returns the names of an entry other than its term.
func otherNames(e *annotator.Entry) []string {
	names := []string{}
	for _, alias := range e.Aliases {
		if n := codex.Normalize(alias.Name); n != codex.Normalize(e.Term) && n != codex.Normalize(e.Name()) {
			names = append(names, alias.Name)
		}
	}
	return names
}

// shownEntries returns the entry if its view holds the whole definition.
func shownEntries(e *annotator.Entry, v *entryView) []annotator.Shown {
	if !v.whole {
		return nil
	}
	return []annotator.Shown{{Entry: e.ID, Revision: e.Revision}}
}

// entryResult is the answer of a call that returns one entry.
func entryResult(e *annotator.Entry) Result {
	view := viewEntry(e, maxContent)
	return Result{
		Content: annotator.EncodeJSON(entryAnswer{true, view}),
		Shows:   shownEntries(e, &view),
	}
}

// createdResult is the answer of a call that created an entry. It omits what the call contains: the window holds both.
func createdResult(e *annotator.Entry) Result {
	view := viewEntry(e, maxContent)
	return Result{
		Content: annotator.EncodeJSON(entryAnswer{true, createdView{view.ID, view.Term, view.Status, view.Aliases}}),
		Shows:   []annotator.Shown{{Entry: e.ID, Revision: e.Revision}},
	}
}

type entryAnswer struct {
	OK    bool `json:"ok"`
	Entry any  `json:"entry"` // an entryView or a createdView
}

type createdView struct {
	ID      int64            `json:"id"`
	Term    string           `json:"term"`
	Status  annotator.Status `json:"status"`
	Aliases []string         `json:"aliases"`
}

package tools

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
)

// Limits of a tool's answer, in characters. An answer stays in the window for many scenes.
const (
	maxAnswer = 8000
	maxSearch = 3000 // of a search; another one shows what is left out
	minAnswer = 800
	frame     = 300 // for the JSON around entries and posts
)

// maxContent returns how many characters of entries and posts an answer may have.
func (env *Env) maxContent() int {
	if env.MaxAnswer == 0 {
		return maxAnswer - frame
	}
	return min(max(env.MaxAnswer, minAnswer), maxAnswer) - frame
}

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
	Present    string           `json:"present,omitempty"`
	Facts      []string         `json:"facts"` // that hold, as codex.FactLine has them
	Locked     []string         `json:"locked,omitempty"`
	Not        []string         `json:"not,omitempty"`
	Truncated  string           `json:"truncated,omitempty"`

	whole bool // all facts are there
}

// viewEntry returns an entry in at most limit characters. It drops aliases first, then tags, then the facts that share
// the fewest words with a query, the earliest of them first, and cuts the last one.
func viewEntry(e *annotator.Entry, limit int, query string) entryView {
	v := entryView{
		ID: e.ID, Term: e.Name(), Status: e.Status, MergedInto: e.MergedInto, Tags: append([]string{}, e.Tags...),
		Aliases: codex.OtherNames(e.Names(), e.Term, e.Name()), Present: codex.Present(e),
		Facts: append([]string{}, codex.FactLines(e)...), whole: true,
	}
	v.Locked, v.Not = codex.Marks(e)
	for _, list := range []*[]string{&v.Aliases, &v.Tags} {
		for jsonLength(v) > limit && len(*list) > 0 {
			*list = (*list)[:len(*list)/2]
			v.Truncated = "names or tags are left out for length"
		}
	}
	all, near := len(v.Facts), sharedWords(v.Facts, query)
	for jsonLength(v) > limit && len(v.Facts) > 1 {
		least := slices.Index(near, slices.Min(near))
		v.Facts, near = slices.Delete(v.Facts, least, least+1), slices.Delete(near, least, least+1)
		v.Truncated, v.whole = fmt.Sprintf("%d of %d facts are left out for length; to see others, search for words "+
			"of them", all-len(v.Facts), all), false
	}
	if over := jsonLength(v) - limit; over > 0 && len(v.Facts) > 0 {
		v.Facts[0] = truncate(v.Facts[0], jsonLength(v.Facts[0])-over-len(`""`))
		v.whole = false
	}
	return v
}

// sharedWords returns how many words of a query each text has, if only as a part of a word: some scripts do not separate
// words.
func sharedWords(texts []string, query string) []int {
	words, shared := strings.Fields(codex.Normalize(query)), make([]int, len(texts))
	for i := range texts {
		text := codex.Normalize(texts[i])
		for _, word := range words {
			if strings.Contains(text, word) {
				shared[i]++
			}
		}
	}
	return shared
}

// shownEntries returns the entry if its view holds all facts.
func shownEntries(e *annotator.Entry, v *entryView) []annotator.Shown {
	if !v.whole {
		return nil
	}
	return []annotator.Shown{{Entry: e.ID, Revision: e.Revision}}
}

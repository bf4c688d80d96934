package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
)

// entry returns the entry with an id, or a *Failure if there is none.
func (env *Env) entry(ctx context.Context, id int64) (*annotator.Entry, error) {
	e, err := env.Glossary.Entry(ctx, id)
	if annotator.KindOf(err) == annotator.NotFound {
		return nil, failf(NotFound, "there is no entry %d; glossary_search tells the ids", id)
	}
	return e, err
}

// entryRef names an entry: a number is its id, a text one of its names.
type entryRef string

// UnmarshalJSON reads a number or a string.
func (r *entryRef) UnmarshalJSON(encoded []byte) error {
	if encoded[0] != '"' {
		*r = entryRef(encoded)
		return nil
	}
	return json.Unmarshal(encoded, (*string)(r))
}

// entryBy returns the entry with an id or, of a text that is no number, the live entry that goes by it.
func (env *Env) entryBy(ctx context.Context, ref entryRef) (*annotator.Entry, error) {
	if id, err := strconv.ParseInt(strings.TrimSpace(string(ref)), 10, 64); err == nil {
		return env.entry(ctx, id)
	}
	e, err := env.Glossary.Lookup(ctx, codex.CleanName(unescape(string(ref))))
	if annotator.KindOf(err) == annotator.NotFound {
		return nil, failf(NotFound, "no entry goes by %.200q; glossary_search tells the names and ids", ref)
	}
	return e, err
}

// checkNameFree fails with DUPLICATE if another live entry has the name, or its term and no disambiguator.
func (env *Env) checkNameFree(ctx context.Context, name string, self int64) error {
	term, disambiguator := codex.SplitName(codex.CleanName(name))
	wanted := annotator.Entry{Term: term, Disambiguator: disambiguator}
	for _, key := range []string{wanted.Name(), term} {
		e, err := env.Glossary.Lookup(ctx, key)
		if annotator.KindOf(err) == annotator.NotFound {
			continue
		}
		if err != nil {
			return err
		}
		if e.ID != self && !disambiguated(e, &wanted, key) {
			return duplicateError(e, &wanted)
		}
	}
	return nil
}

// disambiguated reports whether the disambiguators tell the entry found by key from the wanted one.
func disambiguated(e, wanted *annotator.Entry, key string) bool {
	return key != wanted.Name() && e.Disambiguator != "" &&
		codex.Normalize(e.Disambiguator) != codex.Normalize(wanted.Disambiguator)
}

func duplicateError(e, wanted *annotator.Entry) error {
	advice := "say what the new one is in parentheses after its term"
	switch {
	case e.Disambiguator != "":
	case wanted.Disambiguator != "":
		advice = fmt.Sprintf("first rename entry %d so that its term says what it is in parentheses", e.ID)
	default:
		advice = fmt.Sprintf("first rename entry %d so that its term says what it is in parentheses, then say what the new one is "+
			"in parentheses after its term", e.ID)
	}
	return &Failure{
		Code: Duplicate, Entry: e,
		Message: fmt.Sprintf("entry %d, %q, goes by this name; if it is the same thing, use glossary_update; if not, %s",
			e.ID, e.Name(), advice),
	}
}

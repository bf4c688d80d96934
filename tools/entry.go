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
	found, err := env.Glossary.Named(ctx, codex.CleanName(string(ref)))
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, failf(NotFound, "no entry goes by %.200q; glossary_search tells the names and ids", ref)
	case len(found) > 1:
		return nil, failf(Ambiguous, "several entries go by %.200q: %s; name the one by its id", ref,
			namesAndIDs(found))
	}
	return &found[0], nil
}

// namesAndIDs renders entries by their ids and names, as many as a message may have.
func namesAndIDs(entries []annotator.Entry) string {
	const most = 10
	var parts []string
	for i := range entries[:min(len(entries), most)] {
		parts = append(parts, fmt.Sprintf("%d, %q", entries[i].ID, entries[i].Name()))
	}
	return strings.Join(parts, "; ")
}

// checkNameFree fails with DUPLICATE if another live entry has the name, and with LOCKED if an entry has it that a
// person has taken out. It does not if something in parentheses distinguishes the two, or if a fact of the call does.
func (env *Env) checkNameFree(ctx context.Context, name string, self int64, facts []factArguments) error {
	term, disambiguator := codex.SplitName(codex.CleanName(name))
	wanted := annotator.Entry{Term: term, Disambiguator: disambiguator}
	for _, key := range []string{wanted.Name(), term} {
		found, err := env.Glossary.Named(ctx, key)
		if err != nil {
			return err
		}
		for i := range found {
			e := &found[i]
			if e.ID != self && !disambiguated(e, &wanted, key) && !toldApart(e, key, facts) {
				return duplicateError(e)
			}
		}
	}
	hidden, err := env.Glossary.Hidden(ctx, term)
	for i := range hidden {
		if codex.Normalize(hidden[i].Disambiguator) == codex.Normalize(disambiguator) {
			return failf(codex.Locked, "a person has taken %q out of the glossary; leave it out", hidden[i].Name())
		}
	}
	return err
}

// disambiguated reports whether the disambiguators distinguish the entry found by key from the wanted one.
func disambiguated(e, wanted *annotator.Entry, key string) bool {
	return key != wanted.Name() && codex.Normalize(e.Disambiguator) != codex.Normalize(wanted.Disambiguator)
}

// toldApart reports whether a fact tells an entry from another one for which it is, and which goes by a key: the entry
// has that as a further name only, and the fact links it by another one. So an office is not its holder.
func toldApart(e *annotator.Entry, key string, facts []factArguments) bool {
	name := codex.Normalize(key)
	if codex.Normalize(e.Name()) == name || codex.Normalize(e.Term) == name {
		return false
	}
	others := codex.OtherNames(e.Names(), key)
	for i := range facts {
		for _, link := range codex.Links(facts[i].Text) {
			if len(codex.OtherNames([]string{link}, others...)) == 0 {
				return true
			}
		}
	}
	return false
}

func duplicateError(e *annotator.Entry) error {
	return &Failure{
		Code: Duplicate, Entry: e,
		Message: fmt.Sprintf("entry %d, %q, goes by this name; if it is the same thing, use glossary_update; if not, "+
			"link this one in its facts, or say what the new one is in parentheses after its term", e.ID, e.Name()),
	}
}

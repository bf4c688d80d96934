package tools

import (
	"context"
	"fmt"

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
	if wanted.Disambiguator != "" {
		advice = fmt.Sprintf("first rename entry %d so that its term says what it is in parentheses", e.ID)
	}
	return &Failure{
		Code: Duplicate, Entry: e,
		Message: fmt.Sprintf("entry %d, %q, goes by this name; if it is the same thing, use glossary_update; if not, %s",
			e.ID, e.Name(), advice),
	}
}

package tools

import (
	"slices"
	"sync"

	"annotator"
	"annotator/codex"
)

// wholeDefinition is what a call may have in place of facts: all of them as one text, with a quotation that supports
// one of them. Parsing puts facts in its place.
type wholeDefinition struct {
	Definition   string              `json:"definition,omitempty"`
	Quote        string              `json:"quote,omitempty"`
	PostID       int64               `json:"post_id,omitempty"`
	SourcePostID int64               `json:"source_post_id,omitempty"`
	Kind         annotator.ClaimKind `json:"kind,omitempty" enum:"narrated,claimed,inferred"`
	Narrow       bool                `json:"narrow,omitempty"`
}

var definitionSchema = sync.OnceValues(schemaFor[wholeDefinition])

// splitDefinition puts facts in the place of a definition, and returns what is wrong with that. The quotation goes with
// the fact that shares the most words with it. The kind goes with all facts of a new entry. A definition that is given
// again repeats what is known, so there the kind goes with what is quoted, or with the end.
func splitDefinition(object map[string]any) (problems []string) {
	form, err := definitionSchema()
	if err != nil {
		return []string{err.Error()}
	}
	whole := map[string]any{}
	for _, name := range form.schema.PropertyOrder {
		if value, given := object[name]; given {
			whole[name] = value
			delete(object, name)
		}
	}
	coerce(form.schema, whole)
	if problems = form.problems(whole); problems != nil || len(whole) == 0 {
		return problems
	}
	facts, isList := object["facts"].([]any)
	if !isList && object["facts"] != nil {
		return nil // the problem is in the facts
	}
	definition, _ := whole["definition"].(string)
	first := len(facts)
	for _, sentence := range codex.Sentences(codex.Clean(definition)) {
		facts = append(facts, map[string]any{"text": sentence})
	}
	if len(facts) == 0 {
		return nil
	}
	bears := quotedFact(facts, whole["quote"])
	again := object["entry_id"] != nil || object["status"] == updateAgain
	for i, f := range facts {
		fact, _ := f.(map[string]any)
		if i >= first {
			setMissing(fact, "post_id", whole["post_id"], whole["source_post_id"])
		}
		if i >= first && (i == bears || !again) {
			setMissing(fact, "kind", whole["kind"])
		}
		if i == bears {
			setMissing(fact, "quote", whole["quote"])
		}
	}
	object["facts"] = facts
	return nil
}

// quotedFact returns the index of the fact that a quotation bears out; without one, that of the last.
func quotedFact(facts []any, quote any) int {
	texts := make([]string, len(facts))
	for i := range facts {
		fact, _ := facts[i].(map[string]any)
		texts[i], _ = fact["text"].(string)
	}
	words, _ := quote.(string)
	return codex.Closest(texts, annotator.Unescape(words))
}

// setMissing sets a parameter that an object lacks to the first value that is there.
func setMissing(object map[string]any, name string, values ...any) {
	at := slices.IndexFunc(values, func(v any) bool { return v != nil })
	if _, given := object[name]; object != nil && !given && at >= 0 {
		object[name] = values[at]
	}
}

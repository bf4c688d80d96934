package tools

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"annotator"
)

// Update is one change that a model wrote into the codex_updates block of its reply.
type Update struct {
	Term         string              `json:"term"`
	Definition   string              `json:"definition,omitempty"`
	Status       string              `json:"status" enum:"new,update,skip"`
	SourcePostID int64               `json:"source_post_id,omitempty"`
	Quote        string              `json:"quote,omitempty"`
	Kind         annotator.ClaimKind `json:"kind,omitempty" enum:"narrated,claimed,inferred"`
	Tags         []string            `json:"tags,omitempty"`
	Aliases      []string            `json:"aliases,omitempty"`
}

// The statuses of an update, beside "update".
const (
	updateNew  = "new"
	updateSkip = "skip"
)

// updateShape is the schema of an element, compiled at the first block.
var updateShape = sync.OnceValues(shapeOf[Update])

// Updates reads the changes out of a text reply: a JSON array between <codex_updates> and </codex_updates>, bare or in a
// code fence. What stands in <thinking>, <think> or <analysis> does not count; of several blocks the last does. Found is
// false where there is no block. An empty array is no change, and elements with the status skip are left out. An error
// says what is wrong with a block, in words for the model that wrote it.
func Updates(text string) (updates []Update, found bool, err error) {
	array, found, err := lastBlock(text)
	if err != nil || !found {
		return nil, found, err
	}
	value, err := parse(array)
	if err != nil {
		return nil, true, fmt.Errorf("the codex_updates block is no JSON array: %w", err)
	}
	elements, ok := value.([]any)
	if !ok {
		return nil, true, fmt.Errorf("the codex_updates block holds %s, not an array", name(value))
	}
	s, err := updateShape()
	if err != nil {
		return nil, true, err
	}
	for i, element := range elements {
		u, err := s.update(element)
		if err != nil {
			return nil, true, fmt.Errorf("element %d of the codex_updates block: %w", i+1, err)
		}
		if u.Status != updateSkip {
			updates = append(updates, u)
		}
	}
	return updates, true, nil
}

func (s *shape) update(element any) (Update, error) {
	object, ok := element.(map[string]any)
	if !ok {
		return Update{}, fmt.Errorf("it is %s, not an object", name(element))
	}
	s.fit(object)
	if problems := s.problems(object); problems != nil {
		return Update{}, fmt.Errorf("%s", strings.Join(problems, "; "))
	}
	u, err := unmarshal[Update]([]byte(encode(object)))
	if err == nil && u.Status != updateSkip && u.Definition == "" {
		err = fmt.Errorf("%.100q has no definition", u.Term)
	}
	return u, err
}

// Call returns the tool call that makes the update, without an ID. An update of an existing entry is for the live one that
// goes by its term; where there is none, the call is one that answers NOT_FOUND.
func (u *Update) Call(ctx context.Context, glossary Glossary) (annotator.ToolCall, error) {
	rest := basis{Quote: u.Quote, PostID: u.SourcePostID, Kind: u.Kind}
	if u.Status == updateNew {
		return call("glossary_create", createArguments{
			Term: u.Term, Definition: u.Definition, Tags: append([]string{}, u.Tags...), Aliases: u.Aliases, basis: rest,
		}), nil
	}
	change := updateArguments{Definition: &u.Definition, Tags: u.Tags, Aliases: u.Aliases, basis: rest}
	e, err := glossary.Lookup(ctx, u.Term)
	switch {
	case err == nil:
		change.EntryID = e.ID
	case annotator.KindOf(err) == annotator.NotFound:
		change.Term = &u.Term // for the answer to name
	default:
		return annotator.ToolCall{}, err
	}
	return call("glossary_update", change), nil
}

func call(tool string, arguments any) annotator.ToolCall {
	return annotator.ToolCall{Name: tool, Arguments: encode(arguments)}
}

package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"annotator"
	"annotator/policy"
)

// codexUpdate is one element of a reply's codex_updates that changes an entry. Another kind of element declares the
// intent of those after it.
type codexUpdate struct {
	Term    string            `json:"term"`
	Status  string            `json:"status" enum:"new,update,skip"`
	Facts   []factArguments   `json:"facts,omitempty"`
	Close   []closeArguments  `json:"close,omitempty"`
	Reword  []rewordArguments `json:"reword,omitempty"`
	Move    []moveArguments   `json:"move,omitempty"`
	Tags    []string          `json:"tags,omitempty"`
	Aliases []string          `json:"aliases,omitempty"`
	closing
}

// Names of tools that the program itself refers to.
const (
	CreateName = "glossary_create" // for the status "new"
	UpdateName = "glossary_update" // for "update"
	deleteName = "glossary_delete"
	SummonName = "summon_snapshot"
)

// The statuses of an update.
const (
	updateNew   = "new"
	updateAgain = "update"
	updateSkip  = "skip"
)

// The schemas of an element, compiled at the first block. The tool that declares intents checks which exist.
var (
	updateSchema      = sync.OnceValues(schemaFor[codexUpdate])
	declarationSchema = sync.OnceValues(schemaFor[intentArguments])
)

// element is an element of a block as a call, with the term that it is about; that is empty for a declaration.
type element struct {
	annotator.ParsedCall
	about string // in lower case
}

// ParseUpdates reads the JSON arrays of a reply's blocks as calls. An element of a later block replaces those of
// earlier ones for the same term, and elements with the status skip are left out. An error describes the mistake to the
// model that wrote the block.
func (r *Registry) ParseUpdates(arrays []string) ([]annotator.ParsedCall, error) {
	var all []element
	for _, array := range arrays {
		block, err := r.parseBlock(array)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(e element) bool {
			return e.about != "" && slices.ContainsFunc(block, func(later element) bool {
				return later.about == e.about
			})
		})
		all = append(all, block...)
	}
	var calls []annotator.ParsedCall
	for i := range all {
		calls = append(calls, all[i].ParsedCall)
	}
	return calls, nil
}

func (r *Registry) parseBlock(array string) (elements []element, err error) {
	value, err := parseJSON(array)
	if err != nil {
		return nil, fmt.Errorf("the codex_updates block is no JSON array: %w", err)
	}
	list, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("the codex_updates block holds %s, not an array", jsonType(value))
	}
	for i := range list {
		e, err := r.parseElement(list[i])
		if err != nil {
			return nil, fmt.Errorf("element %d of the codex_updates block: %w", i+1, err)
		}
		if e.Tool != "" {
			elements = append(elements, e)
		}
	}
	return elements, nil
}

// parseElement reads an element of a block. It has no tool if it is to be skipped. An element with an intent is a
// declaration.
func (r *Registry) parseElement(value any) (element, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return element{}, fmt.Errorf("it is %s, not an object", jsonType(value))
	}
	if _, declares := object["intent"]; declares {
		d, err := decodeElement[intentArguments](declarationSchema, object)
		return element{ParsedCall: r.Parse(toolCall(policy.SelectIntent, d))}, err
	}
	u, err := decodeElement[codexUpdate](updateSchema, object)
	switch {
	case err != nil || u.Status == updateSkip:
		return element{}, err
	case u.isEmpty():
		return element{}, fmt.Errorf("%.100q has no facts", u.Term)
	}
	e := element{r.Parse(u.call()), strings.ToLower(strings.TrimSpace(u.Term))}
	if u.Status != updateNew {
		e.Term = annotator.Unescape(u.Term)
	}
	return e, nil
}

// isEmpty reports whether a change neither changes anything nor ends its scene. A new entry has facts.
func (u *codexUpdate) isEmpty() bool {
	changes := len(u.Close) + len(u.Reword) + len(u.Move) + len(u.Aliases) + len(u.Tags)
	return len(u.Facts) == 0 && (u.Status == updateNew || changes == 0 && !u.Done)
}

// decodeElement validates an object against a schema and decodes it.
func decodeElement[A any](shapeOf func() (*argumentSchema, error), object map[string]any) (a A, err error) {
	s, err := shapeOf()
	if err != nil {
		return a, err
	}
	if problems := s.fit(object); problems != nil {
		return a, errors.New(strings.Join(problems, "; "))
	}
	return unmarshal[A]([]byte(annotator.EncodeJSON(object)))
}

// call returns an element's tool call. That of an update lacks the entry.
func (u *codexUpdate) call() annotator.ToolCall {
	if u.Status == updateNew {
		return toolCall(CreateName, createArguments{
			Term: u.Term, Facts: u.Facts, Tags: append([]string{}, u.Tags...), Aliases: u.Aliases, closing: u.closing,
		})
	}
	return toolCall(UpdateName, updateArguments{
		Facts: u.Facts, Close: u.Close, Reword: u.Reword, Move: u.Move, Tags: u.Tags, Aliases: u.Aliases,
		closing: u.closing,
	})
}

func toolCall(tool string, arguments any) annotator.ToolCall {
	return annotator.ToolCall{Name: tool, Arguments: annotator.EncodeJSON(arguments)}
}

// Resolve returns an update with the entry that goes by its term now. An update of a term that no live entry has
// answers NOT_FOUND.
func Resolve(ctx context.Context, glossary Glossary, call annotator.ParsedCall) (annotator.ParsedCall, error) {
	if call.Term == "" {
		return call, nil
	}
	change, err := unmarshal[updateArguments](call.Arguments)
	if err != nil {
		return call, err
	}
	found, err := glossary.Named(ctx, call.Term)
	switch len(found) {
	case 0:
		change.Term = &call.Term // the answer names it
	case 1:
		change.Entry = entryRef(strconv.FormatInt(found[0].ID, 10))
	default:
		change.Entry = entryRef(call.Term) // which is refused, with their ids
	}
	call.Arguments = []byte(annotator.EncodeJSON(change))
	return call, err
}

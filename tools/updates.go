package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"annotator"
	"annotator/policy"
)

// Update is one element of a reply's codex_updates: a change, or a declaration of intent for the elements after it.
type Update struct {
	Term    string           `json:"term"`
	Status  string           `json:"status" enum:"new,update,skip"`
	Facts   []factArguments  `json:"facts,omitempty"`
	Close   []closeArguments `json:"close,omitempty"`
	Tags    []string         `json:"tags,omitempty"`
	Aliases []string         `json:"aliases,omitempty"`

	// The form of before has one quotation for a whole definition.
	Definition   string              `json:"definition,omitempty"`
	SourcePostID int64               `json:"source_post_id,omitempty"`
	Quote        string              `json:"quote,omitempty"`
	Kind         annotator.ClaimKind `json:"kind,omitempty" enum:"narrated,claimed,inferred"`
	closing

	declares *intentArguments // nil for a change
}

// Names of tools that the program itself refers to.
const (
	CreateName = "glossary_create" // for the status "new"
	UpdateName = "glossary_update" // for "update"
	deleteName = "glossary_delete"
	SummonName = "summon_snapshot"
)

// The statuses of an update, beside "update".
const (
	updateNew  = "new"
	updateSkip = "skip"
)

// The schemas of an element, compiled at the first block. The tool that declares intents checks which exist.
var (
	updateSchema      = sync.OnceValues(schemaFor[Update])
	declarationSchema = sync.OnceValues(schemaFor[intentArguments])
)

// Elements returns the elements of the JSON array of a block, each of which ParseUpdate reads. Elements with the status skip
// are omitted. An error describes the mistake to the model that wrote the block.
func Elements(array string) ([]string, error) {
	value, err := parseJSON(array)
	if err != nil {
		return nil, fmt.Errorf("the codex_updates block is no JSON array: %w", err)
	}
	if _, ok := value.([]any); !ok {
		return nil, fmt.Errorf("the codex_updates block holds %s, not an array", jsonType(value))
	}
	raw, err := unmarshal[[]json.RawMessage]([]byte(array))
	if err != nil {
		return nil, err
	}
	var elements []string
	for i := range raw {
		u, err := ParseUpdate(string(raw[i]))
		if err != nil {
			return nil, fmt.Errorf("element %d of the codex_updates block: %w", i+1, err)
		}
		if u.Status != updateSkip {
			elements = append(elements, string(raw[i]))
		}
	}
	return elements, nil
}

// ParseUpdate reads an element of a block. An element with an intent is a declaration.
func ParseUpdate(element string) (Update, error) {
	value, err := parseJSON(element)
	if err != nil {
		return Update{}, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return Update{}, fmt.Errorf("it is %s, not an object", jsonType(value))
	}
	if _, declares := object["intent"]; declares {
		d, err := decodeElement[intentArguments](declarationSchema, object)
		return Update{declares: &d}, err
	}
	u, err := decodeElement[Update](updateSchema, object)
	if err == nil && u.isEmpty() {
		err = fmt.Errorf("%.100q has no facts", u.Term)
	}
	return u, err
}

// isEmpty reports whether a change changes nothing. A new entry has facts.
func (u *Update) isEmpty() bool {
	told := len(u.Facts) > 0 || u.Definition != ""
	changes := u.Status == "update" && len(u.Close)+len(u.Aliases)+len(u.Tags) > 0
	return u.Status != updateSkip && !told && !changes
}

// decodeElement validates an object against a schema and decodes it.
func decodeElement[A any](shapeOf func() (*argumentSchema, error), object map[string]any) (A, error) {
	s, err := shapeOf()
	if err != nil {
		return *new(A), err
	}
	coerce(s.schema, object)
	if problems := s.problems(object); problems != nil {
		return *new(A), errors.New(strings.Join(problems, "; "))
	}
	return unmarshal[A]([]byte(annotator.EncodeJSON(object)))
}

// Call returns an element's tool call, without an ID. An update of a term that no live entry has answers NOT_FOUND.
func (u *Update) Call(ctx context.Context, glossary Glossary) (annotator.ToolCall, error) {
	if u.declares != nil {
		return toolCall(policy.SelectIntent, u.declares), nil
	}
	cited := citation{Quote: u.Quote, PostID: u.SourcePostID, Kind: u.Kind}
	if u.Status == updateNew {
		return toolCall(CreateName, createArguments{
			Term: u.Term, Facts: u.Facts, Definition: u.Definition, Tags: append([]string{}, u.Tags...), Aliases: u.Aliases, citation: cited, closing: u.closing,
		}), nil
	}
	change := updateArguments{Facts: u.Facts, Close: u.Close, Tags: u.Tags, Aliases: u.Aliases, citation: cited, closing: u.closing}
	if u.Definition != "" {
		change.Definition = &u.Definition
	}
	found, err := glossary.Named(ctx, u.Term)
	switch {
	case err != nil:
		return annotator.ToolCall{}, err
	case len(found) == 0:
		change.Term = &u.Term // the answer names it
	case len(found) == 1:
		change.Entry = entryRef(strconv.FormatInt(found[0].ID, 10))
	default:
		change.Entry = entryRef(u.Term) // which is refused, with their ids
	}
	return toolCall(UpdateName, change), nil
}

func toolCall(tool string, arguments any) annotator.ToolCall {
	return annotator.ToolCall{Name: tool, Arguments: annotator.EncodeJSON(arguments)}
}

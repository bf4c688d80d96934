// Package eval compares a codex with a list of what its story tells, a gold list.
//
// Entries and things of the list are paired by their names. Every figure is a share of units, such as things, names or
// facts, with an interval that a bootstrap over these units gives.
package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"annotator"
	"annotator/codex"

	"gopkg.in/yaml.v3"
)

// Gold is a list of what a story tells.
type Gold struct {
	Entities  []Entity   `json:"entities"`
	Relations []Relation `json:"relations"`
	Traps     []string   `json:"traps"` // statements that a careless reader would make
}

// Entity is a thing of the story.
type Entity struct {
	Name       string `json:"name"`
	Aliases    []Name `json:"aliases"`
	Kind       string `json:"kind"`       // person, place, …; empty: not said
	Importance string `json:"importance"` // major, minor, …; empty: not said
	Facts      []Fact `json:"facts"`
}

// Name is another name of a thing: a string, or an object with a name.
type Name string

// UnmarshalJSON reads either form.
func (n *Name) UnmarshalJSON(text []byte) error {
	var object struct{ Name string }
	if json.Unmarshal(text, (*string)(n)) == nil {
		return nil
	}
	err := json.Unmarshal(text, &object)
	*n = Name(object.Name)
	return err
}

// Fact is something that the story tells of a thing.
type Fact struct {
	Text  string `json:"text"`
	Quote string `json:"quote"` // words of the story that say so; may be empty
	Post  int64  `json:"post"`  // that has the quote; 0: not said
}

// Relation is what one thing is to another.
type Relation struct {
	A        string `json:"a"`
	Relation string `json:"relation"`
	B        string `json:"b"`
}

// Read reads a list in YAML or JSON. Unknown fields are ignored, so that a list may have notes. An error is Misused.
func Read(text []byte) (*Gold, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		var value any
		if err := yaml.Unmarshal(text, &value); err != nil {
			return nil, annotator.Errorf(annotator.Misused, "the gold list is no YAML: %w", err)
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, annotator.Errorf(annotator.Misused, "the gold list: %w", err)
		}
		text = encoded
	}
	g := &Gold{}
	if err := json.Unmarshal(text, g); err != nil {
		return nil, annotator.Errorf(annotator.Misused, "the gold list: %w", err)
	}
	return g, g.check()
}

func (g *Gold) check() error {
	if len(g.Entities) == 0 {
		return annotator.Errorf(annotator.Misused, "the gold list has no entities").
			WithAdvice("docs/eval.md describes the form of a list")
	}
	for i := range g.Entities {
		if !codex.HasWord(g.Entities[i].Name) {
			return annotator.Errorf(annotator.Misused, "entity %d of the gold list has no name", i+1)
		}
	}
	return nil
}

// names returns the names of a thing in the form in which they are compared, each once.
func (e *Entity) names() []string {
	list := []string{e.Name}
	for _, alias := range e.Aliases {
		list = append(list, string(alias))
	}
	return comparable(list)
}

// comparable returns names in the form in which they are compared, each once and without empty ones. An article in
// front of a name makes no difference.
func comparable(names []string) (list []string) {
	seen := map[string]bool{}
	for _, name := range names {
		base, _ := codex.SplitName(name)
		key := codex.Normalize(codex.Visible(base))
		for _, article := range []string{"the ", "a ", "an "} {
			key = strings.TrimPrefix(key, article)
		}
		if key != "" && !seen[key] {
			seen[key] = true
			list = append(list, key)
		}
	}
	return list
}

// String describes the size of a list.
func (g *Gold) String() string {
	facts := 0
	for i := range g.Entities {
		facts += len(g.Entities[i].Facts)
	}
	return fmt.Sprintf("%d things, %d facts, %d relations, %d traps", len(g.Entities), facts, len(g.Relations),
		len(g.Traps))
}

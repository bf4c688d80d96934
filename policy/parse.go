package policy

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"

	"annotator"

	"gopkg.in/yaml.v3"
)

//go:embed policy.yaml
var defaultText string

// Text returns the text of the default policy.
func Text() string { return defaultText }

// Default returns the default policy.
func Default() *Policy { return parsedDefault() }

// parsedDefault parses the default policy once: every command has it among its settings.
var parsedDefault = sync.OnceValue(func() *Policy {
	p, err := Parse("policy.yaml", []byte(defaultText), nil)
	if err != nil {
		panic(err) // the embedded file is valid
	}
	p.hash = ""
	return p
})

// MaxBytes is the maximum size of a policy file.
const MaxBytes = 64 << 10

// Parse parses a policy. tools are the names of the existing tools; nil skips that check. Errors have the kind
// annotator.Misused and name the path and the line.
func Parse(path string, text []byte, tools []string) (*Policy, error) {
	r := reader{path: path, tools: tools, policy: &Policy{modes: map[Mode]map[string][]string{}}}
	if len(text) > MaxBytes {
		return nil, annotator.Errorf(annotator.Misused, "%s has %d bytes; a policy may have %d", path,
			len(text), MaxBytes)
	}
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var document, more yaml.Node
	switch err := documents.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, annotator.Errorf(annotator.Misused, "%s is empty", path).
			WithReason(annotator.ReasonEmptyPolicy)
	case err != nil:
		return nil, annotator.Errorf(annotator.Misused, "%s: %w", path, err)
	}
	if err := documents.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, annotator.Errorf(annotator.Misused, "%s holds more than one document", path).
			WithAdvice("remove the document after ---")
	}
	r.rejectAliases(&document)
	r.read(document.Content[0])
	if r.err != nil {
		return nil, r.err
	}
	sum := sha256.Sum256(text)
	r.policy.hash = hex.EncodeToString(sum[:])
	return r.policy, nil
}

// reader builds a policy from the nodes of a YAML document. It keeps the first error and reads on.
type reader struct {
	path   string
	tools  []string
	policy *Policy
	err    error
}

// fail records an error at a node, with advice, which may be empty.
func (r *reader) fail(at *yaml.Node, advice, format string, args ...any) {
	if r.err == nil {
		r.err = annotator.Errorf(annotator.Misused, "%s:%d: %s", r.path, at.Line, fmt.Sprintf(format, args...)).
			WithAdvice("%s", advice)
	}
}

// rejectAliases refuses YAML aliases, so that each line shows what it permits.
func (r *reader) rejectAliases(node *yaml.Node) {
	if node.Kind == yaml.AliasNode {
		r.fail(node, "write the value itself", "*%.100s is an alias, which a policy may not use", node.Value)
	}
	for _, child := range node.Content {
		r.rejectAliases(child)
	}
}

func (r *reader) read(top *yaml.Node) {
	parts := map[string]*yaml.Node{}
	for key, value := range r.pairs(top, "a policy") {
		if key.Value != "intents" && key.Value != "modes" {
			r.fail(key, "a policy has intents and modes", "there is no key %.100q", key.Value)
		}
		parts[key.Value] = value
	}
	intents, modes := parts["intents"], parts["modes"]
	if intents == nil || modes == nil {
		r.fail(top, "", "a policy needs both intents and modes; one is missing")
		return
	}
	for name, meaning := range r.pairs(intents, "intents") {
		r.intent(name, meaning)
	}
	for name, permissions := range r.pairs(modes, "modes") {
		r.mode(name, permissions)
	}
	if len(r.policy.modes[Annotate]) == 0 {
		r.fail(modes, "", "the mode annotate has no intent, so no tool that writes could run")
	}
}

// pairs yields the keys of a mapping with their values. A duplicate key is an error.
func (r *reader) pairs(node *yaml.Node, what string) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		if node.Kind != yaml.MappingNode {
			r.fail(node, "", "%s is not a mapping of keys to values", what)
			return
		}
		seen := map[string]bool{}
		for pair := range slices.Chunk(node.Content, 2) {
			key, value := pair[0], pair[1]
			if key.Kind != yaml.ScalarNode || key.Value == "" {
				r.fail(key, "", "a key is not a name")
			}
			if seen[key.Value] {
				r.fail(key, "", "%.100q is defined twice", key.Value)
			}
			seen[key.Value] = true
			if !yield(key, value) {
				return
			}
		}
	}
}

// Limits of an intent, in bytes: every prompt contains all of them.
const (
	maxName    = 40
	maxMeaning = 200
)

func (r *reader) intent(key, value *yaml.Node) {
	meaning := strings.Join(strings.Fields(value.Value), " ")
	switch {
	case strings.ContainsFunc(key.Value, func(c rune) bool { return (c < 'A' || c > 'Z') && c != '_' }):
		r.fail(key, "", "the intent %.100q is not written in capitals", key.Value)
	case len(key.Value) > maxName:
		r.fail(key, "", "the name of the intent %.40s... has %d bytes; it may have %d", key.Value,
			len(key.Value), maxName)
	case value.Kind != yaml.ScalarNode || meaning == "" || value.Tag == "!!null":
		r.fail(key, "say in a few words what the model does with this intent", "the intent %s has no meaning",
			key.Value)
	case len(meaning) > maxMeaning:
		r.fail(value, "", "the meaning of %s has %d bytes; it may have %d", key.Value, len(meaning), maxMeaning)
	}
	r.policy.intents = append(r.policy.intents, Intent{key.Value, meaning})
}

func (r *reader) mode(key, value *yaml.Node) {
	mode := Mode(key.Value)
	if !slices.Contains(Modes(), mode) {
		r.fail(key, "the modes are "+list(Modes()), "there is no mode %.100q", key.Value)
	}
	r.policy.modes[mode] = map[string][]string{}
	for intent, tools := range r.pairs(value, "the mode "+key.Value) {
		if mode != Annotate {
			r.fail(intent, "", "the mode %s runs no tools, so it cannot have intents", mode)
		}
		r.policy.modes[mode][intent.Value] = r.permissions(intent, tools)
	}
}

// permissions returns the tools that an intent permits.
func (r *reader) permissions(intent, tools *yaml.Node) []string {
	if !slices.ContainsFunc(r.policy.intents, func(i Intent) bool { return i.Name == intent.Value }) {
		r.fail(intent, "", "the intent %.100q is not among the intents", intent.Value)
	}
	if tools.Kind != yaml.SequenceNode {
		r.fail(tools, "", "%s takes a list of tools", intent.Value)
	}
	permitted := []string{}
	for _, tool := range tools.Content {
		switch {
		case tool.Kind != yaml.ScalarNode:
			r.fail(tool, "", "a tool is not a name")
		case tool.Value == SelectIntent:
			r.fail(tool, "", "%s needs no permission", SelectIntent)
		case r.tools != nil && !slices.Contains(r.tools, tool.Value):
			r.fail(tool, "the tools are "+list(r.tools), "there is no tool %.100q", tool.Value)
		case slices.Contains(permitted, tool.Value):
			r.fail(tool, "", "%s is listed twice", tool.Value)
		}
		permitted = append(permitted, tool.Value)
	}
	return permitted
}

func list[S ~string](names []S) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = string(name)
	}
	return strings.Join(all, ", ")
}

package policy

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"annotator"

	"gopkg.in/yaml.v3"
)

//go:embed policy.yaml
var defaultText string

// Text returns the text of the default policy.
func Text() string { return defaultText }

// Default returns the default policy.
func Default() *Policy {
	p, err := Parse("policy.yaml", []byte(defaultText), nil)
	if err != nil {
		panic(err) // the embedded file is valid
	}
	p.hash = ""
	return p
}

// MaxBytes is the maximum size of a policy file.
const MaxBytes = 64 << 10

// Parse parses a policy. tools are the names of the existing tools; nil skips that check. Errors have the kind
// annotator.Misused and name the path and the line.
func Parse(path string, text []byte, tools []string) (*Policy, error) {
	r := reader{path: path, tools: tools, policy: &Policy{modes: map[Mode]map[string][]string{}}}
	if len(text) > MaxBytes {
		return nil, annotator.Errorf(annotator.Misused, "%s has %d bytes; a policy may have %d", path, len(text), MaxBytes)
	}
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var document, more yaml.Node
	switch err := documents.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, annotator.Errorf(annotator.Misused, "%s is empty", path).
			WithAdvice("`annotator tools --policy` prints the default policy")
	case err != nil:
		return nil, annotator.Errorf(annotator.Misused, "%s: %w", path, err)
	}
	if err := documents.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, annotator.Errorf(annotator.Misused, "%s holds more than one document", path).
			WithAdvice("remove the document after ---")
	}
	if err := r.rejectAliases(&document); err != nil {
		return nil, err
	}
	if err := r.read(document.Content[0]); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	r.policy.hash = hex.EncodeToString(sum[:])
	return r.policy, nil
}

// reader builds a policy from the nodes of a YAML document.
type reader struct {
	path   string
	tools  []string
	policy *Policy
}

func (r *reader) errorAt(at *yaml.Node, format string, args ...any) *annotator.Error {
	return annotator.Errorf(annotator.Misused, "%s:%d: %s", r.path, at.Line, fmt.Sprintf(format, args...))
}

// rejectAliases refuses YAML aliases, so that each line shows what it permits.
func (r *reader) rejectAliases(node *yaml.Node) error {
	if node.Kind == yaml.AliasNode {
		return r.errorAt(node, "*%.100s is an alias, which a policy may not use", node.Value).
			WithAdvice("write the value itself")
	}
	for _, child := range node.Content {
		if err := r.rejectAliases(child); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) read(top *yaml.Node) error {
	var intents, modes *yaml.Node
	err := r.pairs(top, "a policy", func(key, value *yaml.Node) error {
		switch key.Value {
		case "intents":
			intents = value
		case "modes":
			modes = value
		default:
			return r.errorAt(key, "there is no key %.100q", key.Value).WithAdvice("a policy has intents and modes")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if intents == nil || modes == nil {
		return r.errorAt(top, "a policy needs both intents and modes; one is missing")
	}
	if err := r.pairs(intents, "intents", r.intent); err != nil {
		return err
	}
	if err := r.pairs(modes, "modes", r.mode); err != nil {
		return err
	}
	if len(r.policy.modes[Annotate]) == 0 {
		return r.errorAt(modes, "the mode annotate has no intent, so no tool that writes could run")
	}
	return nil
}

// pairs calls read for each key of a mapping, and refuses duplicate keys.
func (r *reader) pairs(node *yaml.Node, what string, read func(key, value *yaml.Node) error) error {
	if node.Kind != yaml.MappingNode {
		return r.errorAt(node, "%s is not a mapping of keys to values", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Value == "" {
			return r.errorAt(key, "a key is not a name")
		}
		if seen[key.Value] {
			return r.errorAt(key, "%.100q is defined twice", key.Value)
		}
		seen[key.Value] = true
		if err := read(key, value); err != nil {
			return err
		}
	}
	return nil
}

// Limits of an intent, in bytes: every prompt contains all of them.
const (
	maxName    = 40
	maxMeaning = 200
)

func (r *reader) intent(key, value *yaml.Node) error {
	meaning := strings.Join(strings.Fields(value.Value), " ")
	switch {
	case strings.ContainsFunc(key.Value, func(c rune) bool { return (c < 'A' || c > 'Z') && c != '_' }):
		return r.errorAt(key, "the intent %.100q is not written in capitals", key.Value)
	case len(key.Value) > maxName:
		return r.errorAt(key, "the name of the intent %.40s... has %d bytes; it may have %d",
			key.Value, len(key.Value), maxName)
	case value.Kind != yaml.ScalarNode || meaning == "" || value.Tag == "!!null":
		return r.errorAt(key, "the intent %s has no meaning", key.Value).
			WithAdvice("say in a few words what the model does with this intent")
	case len(meaning) > maxMeaning:
		return r.errorAt(value, "the meaning of %s has %d bytes; it may have %d", key.Value, len(meaning), maxMeaning)
	}
	r.policy.intents = append(r.policy.intents, Intent{key.Value, meaning})
	return nil
}

func (r *reader) mode(key, value *yaml.Node) error {
	mode := Mode(key.Value)
	if !slices.Contains(Modes(), mode) {
		return r.errorAt(key, "there is no mode %.100q", key.Value).WithAdvice("the modes are %s", list(Modes()))
	}
	r.policy.modes[mode] = map[string][]string{}
	return r.pairs(value, "the mode "+key.Value, func(intent, tools *yaml.Node) error {
		if mode != Annotate {
			return r.errorAt(intent, "the mode %s runs no tools, so it cannot have intents", mode)
		}
		return r.permissions(mode, intent, tools)
	})
}

// permissions reads the tools that an intent permits in a mode.
func (r *reader) permissions(mode Mode, intent, tools *yaml.Node) error {
	if !slices.ContainsFunc(r.policy.intents, func(i Intent) bool { return i.Name == intent.Value }) {
		return r.errorAt(intent, "the intent %.100q is not among the intents", intent.Value)
	}
	if tools.Kind != yaml.SequenceNode {
		return r.errorAt(tools, "%s takes a list of tools", intent.Value)
	}
	permitted := []string{}
	for _, tool := range tools.Content {
		switch {
		case tool.Kind != yaml.ScalarNode:
			return r.errorAt(tool, "a tool is not a name")
		case tool.Value == SelectIntent:
			return r.errorAt(tool, "%s needs no permission", SelectIntent)
		case r.tools != nil && !slices.Contains(r.tools, tool.Value):
			return r.errorAt(tool, "there is no tool %.100q", tool.Value).WithAdvice("the tools are %s", list(r.tools))
		case slices.Contains(permitted, tool.Value):
			return r.errorAt(tool, "%s is listed twice", tool.Value)
		}
		permitted = append(permitted, tool.Value)
	}
	r.policy.modes[mode][intent.Value] = permitted
	return nil
}

func list[S ~string](names []S) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = string(name)
	}
	return strings.Join(all, ", ")
}

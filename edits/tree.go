// Package edits brings what people changed in files back into a codex.
//
// Read reads an export that was changed: JSON, YAML or a table. Compare computes the operations that lead from the
// codex as it was exported to the file.
package edits

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"annotator"

	"gopkg.in/yaml.v3"
)

// MaxSize is the most bytes of a file.
const MaxSize = 32 << 20

// maxDepth is the most collections of a file that lie in each other.
const maxDepth = 16

// parse returns the tree of a JSON or YAML document, with the lines of its nodes. JSON is YAML but for its escapes.
func parse(text []byte) (*yaml.Node, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	if begin := bytes.TrimLeft(text, " \t\r\n"); len(begin) > 0 && (begin[0] == '{' || begin[0] == '[') {
		return parseJSON(text)
	}
	return parseYAML(text)
}

func parseYAML(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, next yaml.Node
	err := decoder.Decode(&document)
	switch {
	case errors.Is(err, io.EOF):
		return nil, misread(1, "the file is empty")
	case err != nil:
		return nil, annotator.Errorf(annotator.Misused, "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	switch err := decoder.Decode(&next); {
	case err == nil && len(next.Content) > 0:
		return nil, misread(next.Content[0].Line, "another document begins here; a file has one")
	case err != nil && !errors.Is(err, io.EOF):
		return nil, annotator.Errorf(annotator.Misused, "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return document.Content[0], checkTree(document.Content[0], 0)
}

// checkTree refuses aliases, which may make a small file large, and a tree that is too deep.
func checkTree(node *yaml.Node, depth int) error {
	if node.Kind == yaml.AliasNode {
		return misread(node.Line, "*%.40s is an alias of YAML; write the value out", node.Value)
	}
	if depth > maxDepth {
		return misread(node.Line, "more than %d lists and maps lie in each other", maxDepth)
	}
	for _, child := range node.Content {
		if err := checkTree(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// jsonTree reads JSON as nodes of YAML.
type jsonTree struct {
	*json.Decoder
	text []byte
	line int // of the offset
	at   int64
}

func parseJSON(text []byte) (*yaml.Node, error) {
	t := &jsonTree{json.NewDecoder(bytes.NewReader(text)), text, 1, 0}
	t.UseNumber()
	node, err := t.value(0)
	if err == nil {
		if _, more := t.Token(); !errors.Is(more, io.EOF) {
			err = misread(t.lineNow(), "there is more after the end of the document")
		}
	}
	return node, err
}

// lineNow returns the line of the token that was read last.
func (t *jsonTree) lineNow() int {
	offset := min(t.InputOffset(), int64(len(t.text)))
	t.line += bytes.Count(t.text[t.at:offset], []byte("\n"))
	t.at = offset
	return t.line
}

// next reads the next token.
func (t *jsonTree) next() (json.Token, error) {
	token, err := t.Token()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = misread(t.lineNow(), "the file ends too early")
	case err != nil:
		err = misread(t.lineNow(), "this is no JSON: %v", err)
	}
	return token, err
}

// value reads the next value.
func (t *jsonTree) value(depth int) (*yaml.Node, error) {
	token, err := t.next()
	line := t.lineNow()
	switch {
	case err != nil:
		return nil, err
	case depth > maxDepth:
		return nil, misread(line, "more than %d lists and maps lie in each other", maxDepth)
	}
	scalar := func(tag, value string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value, Line: line}
	}
	switch token := token.(type) {
	case json.Delim:
		return t.collection(token, depth, line)
	case string:
		return scalar("!!str", token), nil
	case json.Number:
		return scalar("!!int", token.String()), nil
	case bool:
		return scalar("!!bool", fmt.Sprint(token)), nil
	default:
		return scalar("!!null", "null"), nil
	}
}

// collection reads a list or a map after its opening delimiter.
func (t *jsonTree) collection(open json.Delim, depth, line int) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.SequenceNode, Line: line}
	if open == '{' {
		node.Kind = yaml.MappingNode
	}
	for t.More() {
		child, err := t.value(depth + 1)
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, child)
	}
	_, err := t.next()
	return node, err
}

// misread returns the error of a line of a file.
func misread(line int, format string, args ...any) error {
	return annotator.Errorf(annotator.Misused, "line %d: %s", line, fmt.Sprintf(format, args...))
}

package exporters

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"
)

// writeYAML writes a document as YAML, with the same data as its JSON. Every string is in double quotes, because
// parsers disagree on plain scalars. The other styles of the encoder lose a leading line feed.
func writeYAML(w io.Writer, doc *Document) error {
	around, err := encodeYAML(envelope(doc))
	if err != nil {
		return err
	}
	if len(doc.Entries) == 0 {
		_, err := w.Write(around)
		return err
	}
	out := bufio.NewWriter(w) // Flush returns its first error
	fmt.Fprintf(out, "%s\n", bytes.TrimSuffix(around, []byte(" []\n")))
	for i := range doc.Entries {
		item, err := encodeYAML(doc.Entries[i : i+1])
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s", item)
	}
	return out.Flush()
}

// editable begins a file for an editor.
const editable = `# Change what you want, save, and close the editor. What the file changes is shown before it is
# applied. A field or an entry that you leave out stays as it is. A fact, a name or a quotation that you leave out of
# its list is taken away. A fact or an entry without an id is new.
# "status: retired" takes an entry out, and "merged_into: 12" makes it one with #12.
`

// WriteEditable writes a document as YAML for an editor. Fields that are computed are left out.
func WriteEditable(w io.Writer, doc *Document) error {
	head := envelope(doc)
	head.Chapters, head.Summaries = nil, nil
	var around, entries bytes.Buffer
	fmt.Fprint(&around, editable)
	text, err := encodeYAML(head)
	if err != nil {
		return err
	}
	around.Write(bytes.TrimSuffix(text, []byte(" []\n")))
	for i := range doc.Entries {
		decoder := json.NewDecoder(bytes.NewReader(encodeJSON(&doc.Entries[i], "")))
		decoder.UseNumber()
		node, err := yamlNode(decoder)
		if err != nil {
			return err
		}
		shortenNode(node)
		item, err := encodeNode(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{node}})
		if err != nil {
			return err
		}
		fmt.Fprintf(&entries, "\n%s", item)
	}
	if len(doc.Entries) == 0 {
		entries.WriteString(" []\n")
	}
	_, err = io.Copy(w, io.MultiReader(&around, &entries))
	return err
}

// shortenNode leaves out what is computed, and writes positions and quotations in one line.
func shortenNode(node *yaml.Node) {
	if node.Kind == yaml.SequenceNode {
		for _, item := range node.Content {
			shortenNode(item)
		}
		return
	}
	kept := node.Content[:0]
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		switch key.Value {
		case "definition", "present", "first", "last":
			continue
		case "from", "until":
			value.Style |= yaml.FlowStyle
		case "evidence":
			for _, quotation := range value.Content {
				quotation.Style |= yaml.FlowStyle
			}
		case "aliases":
			for _, name := range value.Content {
				name.Style |= yaml.FlowStyle
			}
		case "claims":
			shortenNode(value)
		}
		kept = append(kept, key, value)
	}
	node.Content = kept
}

// encodeYAML encodes a value as YAML. It converts the JSON of the value, so that the formats agree on names, order and
// empty values.
func encodeYAML(value any) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(encodeJSON(value, "")))
	decoder.UseNumber()
	node, err := yamlNode(decoder)
	if err != nil {
		return nil, err
	}
	return encodeNode(node)
}

func encodeNode(node *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(node); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// yamlNode converts the next JSON value of the decoder.
func yamlNode(decoder *json.Decoder) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		return yamlCollection(decoder, token)
	case string:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: token, Style: yaml.DoubleQuotedStyle}, nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: token.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(token)}, nil
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	}
}

// yamlCollection converts an array or object after its opening delimiter.
func yamlCollection(decoder *json.Decoder, open json.Delim) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.SequenceNode}
	if open == '{' {
		node.Kind = yaml.MappingNode
	}
	for decoder.More() {
		child, err := yamlNode(decoder)
		if err != nil {
			return nil, err
		}
		if node.Kind == yaml.MappingNode && len(node.Content)%2 == 0 {
			child.Style = 0 // keys are plain words
		}
		node.Content = append(node.Content, child)
	}
	_, err := decoder.Token()
	return node, err
}

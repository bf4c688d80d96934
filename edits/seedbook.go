package edits

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"annotator/exporters"

	"gopkg.in/yaml.v3"
)

func isJSON(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\uFEFF")), " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// tree reads a file of JSON or YAML.
func (r *seedReader) tree(text []byte) error {
	root, err := parse(text)
	if err != nil {
		return err
	}
	switch entries := field(root, "entries"); {
	case root.Kind == yaml.SequenceNode:
		return r.lore(root.Content, nil)
	case root.Kind != yaml.MappingNode:
		return misread(root.Line, "this is neither an export of a codex nor a lorebook")
	case textIn(root, "format") == exporters.DocumentFormat,
		entries != nil && len(entries.Content) > 0 && field(entries.Content[0], "term") != nil:
		f, err := readDocument(root)
		if err == nil {
			r.document(f)
		}
		return err
	}
	return r.book(root)
}

// book reads a World Info book, the lorebook of another program, or a character card with its book.
func (r *seedReader) book(root *yaml.Node) error {
	if data := field(root, "data"); data != nil && data.Kind == yaml.MappingNode { // a card, or a book of its own
		if textIn(data, "description")+textIn(data, "personality") != "" && ownDocument(data) == nil {
			name := textIn(data, "name")
			r.add(seedEntry{
				line: data.Line, name: name, names: texts(field(data, "nickname")),
				facts: factsOf(strings.ReplaceAll(
					textIn(data, "description")+"\n"+textIn(data, "personality"), "{{char}}", name)),
			})
		}
		if book := field(data, "character_book"); book != nil {
			data = book
		} else if field(data, "entries") == nil {
			return nil
		}
		root = data
	} else if data != nil { // of RisuAI
		return r.lore(data.Content, root)
	}
	entries := field(root, "entries")
	switch {
	case entries == nil:
		return misread(root.Line, "this is neither an export of a codex nor a lorebook: it has no entries")
	case entries.Kind == yaml.MappingNode: // of World Info, by their numbers
		var list []*yaml.Node
		for i := 1; i < len(entries.Content); i += 2 {
			list = append(list, entries.Content[i])
		}
		return r.lore(list, root)
	}
	return r.lore(entries.Content, root)
}

// ownDocument returns the extension of a book or card that an exporter of this program wrote; nil for none.
func ownDocument(of *yaml.Node) *yaml.Node {
	return field(field(of, "extensions"), exporters.ExtensionCodex)
}

// lore reads the entries of a lorebook, which may be names alone.
func (r *seedReader) lore(entries []*yaml.Node, book *yaml.Node) error {
	var doc exporters.Document
	if own := ownDocument(book); own != nil {
		_ = lines{}.decode(own, reflect.ValueOf(&doc).Elem(), "") // else no text is as the exporter wrote it
	}
	categories := map[string]string{}
	if list := field(book, "categories"); list != nil {
		for _, c := range list.Content {
			categories[textIn(c, "id")] = textIn(c, "name")
		}
	}
	for _, node := range entries {
		if node.Kind == yaml.ScalarNode {
			r.add(seedEntry{line: node.Line, name: node.Value})
			continue
		}
		if err := r.loreEntry(node, &doc, categories[textIn(node, "category")]); err != nil {
			return err
		}
	}
	return nil
}

// loreEntry reads an entry of a lorebook. One that this program wrote has the entry of the codex with it, which is read
// unless its text was changed since.
func (r *seedReader) loreEntry(node *yaml.Node, doc *exporters.Document, category string) error {
	name, content := textIn(node, "comment", "name", "displayName"), textIn(node, "content", "text", "entry")
	keys := texts(field(node, "keys", "key", "keywords"))
	if name == "" && len(keys) > 0 {
		name = keys[0]
	}
	switch {
	case node.Kind != yaml.MappingNode:
		return misread(node.Line, "this is no entry of a lorebook")
	case name == "":
		r.leave(node.Line, "an entry without a name: %.60q", content)
		return nil
	case textIn(node, "disable") == "true", textIn(node, "enabled") == "false":
		r.leave(node.Line, "%q: it is switched off", name)
		return nil
	}
	e := seedEntry{line: node.Line, name: name}
	if category != "" {
		e.tags = []string{category}
	}
	if own := field(field(node, "extensions"), exporters.ExtensionEntry); own != nil {
		var entry exporters.Entry
		isOwn := lines{}.decode(own, reflect.ValueOf(&entry).Elem(), "") == nil
		if isOwn && nameOf(&entry) == name && exporters.Lore(&entry, doc) == content {
			r.add(seedOf(&entry, node.Line))
			return nil
		}
		if isOwn {
			e.tags = entry.Tags
		}
	}
	for _, key := range keys {
		if exporters.IsExpression(key) {
			r.leave(node.Line, "%s: the key %.60q is a pattern", name, key)
			continue
		}
		e.names = append(e.names, key)
	}
	e.facts = factsOf(strings.ReplaceAll(plainLore(strings.TrimPrefix(content, name+": ")), "{{char}}", name))
	r.add(e)
	return nil
}

// plainLore removes lines by which a text tells its program where to use it: "@@depth 4".
func plainLore(content string) string {
	kept := slices.DeleteFunc(strings.Split(content, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "@@")
	})
	return strings.Join(kept, "\n")
}

// field returns the first field of a map that it has; nil for none.
func field(node *yaml.Node, names ...string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for _, name := range names {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == name {
				return node.Content[i+1]
			}
		}
	}
	return nil
}

// textIn returns the first field of a map that is a text and not empty.
func textIn(node *yaml.Node, names ...string) string {
	for _, name := range names {
		if f := field(node, name); f != nil && f.Kind == yaml.ScalarNode && f.Tag != "!!null" {
			if text := strings.TrimSpace(f.Value); text != "" {
				return text
			}
		}
	}
	return ""
}

// texts returns the texts of a list, or of a text with commas.
func texts(node *yaml.Node) (all []string) {
	if node == nil {
		return nil
	}
	list := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		list = node.Content
	}
	for _, n := range list {
		parts := []string{n.Value}
		if node.Kind == yaml.ScalarNode {
			parts = strings.Split(n.Value, ",")
		}
		for _, part := range parts {
			if part = strings.TrimSpace(part); part != "" && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
				all = append(all, part)
			}
		}
	}
	return all
}

package edits

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"annotator"
	"annotator/exporters"

	"gopkg.in/yaml.v3"
)

// File is an export that a person may have changed.
type File struct {
	Story   exporters.Story     // empty if the file does not name it
	AsOf    *annotator.Position // the limit of the export; nil: none
	entries []fileEntry
}

// fileEntry is an entry of a file. A field that has no line is not in the file, and is as it was.
type fileEntry struct {
	exporters.Entry
	lines lines
	// isTable: claims that are no longer shown are not in the file.
	isTable bool
}

// IDs returns the ids of the entries, in the order of the file.
func (f *File) IDs() []int64 {
	ids := make([]int64, 0, len(f.entries))
	for i := range f.entries {
		if id := f.entries[i].ID; id != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// Read reads an export that was changed: JSON, YAML, or a table with a line for each entry. The name of the file says
// whether it is a table. The errors name the line of what is not understood, and are of kind annotator.Misused.
func Read(name string, text []byte) (*File, error) {
	switch {
	case len(text) > MaxSize:
		return nil, tooLarge()
	case slices.Contains([]string{".csv", ".tsv"}, strings.ToLower(filepath.Ext(name))):
		return readTable(text, "id")
	case bytes.HasPrefix(text, []byte("PK\x03\x04")):
		return nil, annotator.Errorf(annotator.Misused, "this is an archive: only JSON, YAML and CSV can be read")
	}
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	f, err := readDocument(root)
	if err == nil {
		err = f.checkIDs()
	}
	return f, err
}

func tooLarge() error {
	return annotator.Errorf(annotator.Misused, "the file is too large: at most %d bytes are read", MaxSize)
}

// readDocument reads the tree of a document.
func readDocument(root *yaml.Node) (*File, error) {
	if root.Kind != yaml.MappingNode {
		return nil, misread(root.Line, "this is no export of a codex")
	}
	var entries *yaml.Node
	head := *root
	head.Content = slices.Clone(root.Content)
	for i := 0; i+1 < len(head.Content); i += 2 {
		if head.Content[i].Value == "entries" {
			entries = head.Content[i+1]
			head.Content = slices.Delete(head.Content, i, i+2)
			break
		}
	}
	var doc exporters.Document
	at := lines{}
	if err := at.decode(&head, reflect.ValueOf(&doc).Elem(), ""); err != nil {
		return nil, err
	}
	switch {
	case entries == nil || entries.Kind != yaml.SequenceNode:
		return nil, misread(root.Line, "this is no export of a codex: it has no list of entries")
	case at.has("entries"):
		return nil, misread(at.at("entries"), `the field "entries" comes twice`)
	case doc.Format != "" && doc.Format != exporters.DocumentFormat:
		return nil, misread(at.at("format"), "the format is %.40q, and not %s", doc.Format, exporters.DocumentFormat)
	case doc.Version != exporters.Version && at.has("version"):
		return nil, misread(at.at("version"), "version %d is not known; this is version %d", doc.Version,
			exporters.Version)
	}
	f := &File{Story: doc.Story, AsOf: doc.AsOf, entries: make([]fileEntry, len(entries.Content))}
	for i, node := range entries.Content {
		e := &f.entries[i]
		e.lines = lines{}
		if err := e.lines.decode(node, reflect.ValueOf(&e.Entry).Elem(), ""); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// checkIDs refuses two entries, or two facts of an entry, with the same id.
func (f *File) checkIDs() error {
	first := map[int64]int{}
	for i := range f.entries {
		e := &f.entries[i]
		if line := first[e.ID]; line != 0 && e.ID != 0 {
			return misread(e.lines.at(), "entry %d is in line %d already", e.ID, line)
		}
		first[e.ID] = e.lines.at()
		claims := map[int64]int{}
		for n := range e.Claims {
			id := e.Claims[n].ID
			if line := claims[id]; line != 0 && id != 0 {
				return misread(e.lines.at("claims", n), "fact %d is in line %d already", id, line)
			}
			claims[id] = e.lines.at("claims", n)
		}
	}
	return nil
}

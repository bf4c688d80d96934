package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEventsAreDocumented compares docs/events.md with the code: all kinds of notices and all fields, and an example of
// each kind.
func TestEventsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "events.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n## Fields\n")
	fields, rest, _ := strings.Cut(rest, "\n## Kinds\n")
	kinds, rest, _ := strings.Cut(rest, "\n## Guarantees\n")
	_, examples, _ := strings.Cut(rest, "\n```\n")
	same(t, "fields", firstColumn(fields), jsonFields())
	same(t, "kinds", firstColumn(kinds), kindsOfNotices(t))
	var shown []string
	for line := range strings.Lines(strings.TrimSuffix(examples, "```\n")) {
		var e event
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&e); err != nil {
			t.Errorf("an example is none: %v: %s", err, line)
			continue
		}
		if again, err := json.Marshal(e); err != nil || string(again)+"\n" != line {
			t.Errorf("an example reads\n%s, the program would write\n%s (%v)", line, again, err)
		}
		shown = append(shown, string(e.Kind))
	}
	same(t, "examples", slices.Compact(shown), kindsOfNotices(t))
}

func same(t *testing.T, what string, documented, declared []string) {
	t.Helper()
	slices.Sort(documented)
	slices.Sort(declared)
	if !slices.Equal(documented, declared) {
		t.Errorf("%s: docs/events.md has %q, the code %q", what, documented, declared)
	}
}

var code = regexp.MustCompile("`([a-z_]+)`")

// firstColumn returns the words in code type in the first column of a table.
func firstColumn(table string) (words []string) {
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, match := range code.FindAllStringSubmatch(cells[1], -1) {
				words = append(words, match[1])
			}
		}
	}
	return words
}

func jsonFields() (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[event]()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// kindsOfNotices reads the constants from the source.
func kindsOfNotices(t *testing.T) (kinds []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "notice.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "NoticeKind" {
			kind, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, kind)
		}
		return true
	})
	return kinds
}

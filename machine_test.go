package annotator_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"annotator"

	"pgregory.net/rapid"
)

// constants reads the constants of a type from the source, so that a missing one is found.
func constants(t *testing.T, file, typeName string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typeName {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		return true
	})
	if len(values) == 0 {
		t.Fatalf("%s declares no %s", file, typeName)
	}
	return values
}

func TestMachineIsWhole(t *testing.T) {
	t.Parallel()
	states := constants(t, "machine.go", "State")
	events := constants(t, "machine.go", "Event")
	if len(states) != 16 {
		t.Errorf("%d states, the design has 16", len(states))
	}
	used := map[string]bool{}
	rows := map[string]bool{}
	for _, row := range annotator.Transitions {
		key := string(row.State) + " at " + string(row.Event)
		if rows[key] {
			t.Errorf("two rows for %s", key)
		}
		rows[key] = true
		used[string(row.Event)] = true
		if !slices.Contains(states, string(row.State)) || !slices.Contains(states, string(row.Next)) {
			t.Errorf("%s leads from or to an undeclared state", key)
		}
	}
	for _, event := range events {
		if !used[event] {
			t.Errorf("no row uses the event %q", event)
		}
	}
	for _, s := range states {
		for _, e := range events {
			next, ok := annotator.Next(annotator.State(s), annotator.Event(e))
			if ok != rows[s+" at "+e] || ok == (next == "") {
				t.Errorf("Next(%s, %s) = %q, %v", s, e, next, ok)
			}
		}
		if s != string(annotator.StateInit) && !reaches(annotator.StateInit, annotator.State(s)) {
			t.Errorf("%s cannot be reached", s)
		}
		if s != string(annotator.StateExit) && !reaches(annotator.State(s), annotator.StateExit) {
			t.Errorf("%s does not lead to EXIT", s)
		}
	}
}

func reaches(from, to annotator.State) bool {
	seen := map[annotator.State]bool{}
	var walk func(annotator.State) bool
	walk = func(s annotator.State) bool {
		if s == to {
			return true
		}
		if seen[s] {
			return false
		}
		seen[s] = true
		for _, row := range annotator.Transitions {
			if row.State == s && walk(row.Next) {
				return true
			}
		}
		return false
	}
	return walk(from)
}

// TestSchemaListsTheConstants compares the CHECK lists of the database with the constants of the program.
func TestSchemaListsTheConstants(t *testing.T) {
	t.Parallel()
	schema := readMigrations(t)
	for _, c := range []struct{ file, typeName, table, column string }{
		{"machine.go", "State", "run_state", "state"},
		{"journal.go", "TraceKind", "trace", "kind"},
		{"glossary.go", "Status", "entry", "status"},
		{"glossary.go", "Field", "revision", "field"},
		{"glossary.go", "Actor", "revision", "actor"},
		{"scene.go", "SceneState", "scene", "state"},
		{"decision.go", "Verdict", "decision", "verdict"},
	} {
		want := constants(t, c.file, c.typeName)
		got := checkList(t, schema, c.table, c.column)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s.%s allows %q, %s declares %q", c.table, c.column, got, c.typeName, want)
		}
	}
}

// readMigrations returns all migrations, in order.
func readMigrations(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func checkList(t *testing.T, schema, table, column string) []string {
	t.Helper()
	at := strings.LastIndex(schema, "CREATE TABLE "+table+" (") // a later migration may make it anew
	if at < 0 {
		t.Fatalf("no table %s", table)
	}
	body, _, _ := strings.Cut(schema[at:], ") STRICT")
	match := regexp.MustCompile(`(?s)\s` + column + `\s+TEXT[^\n]*?CHECK \(` + column +
		` IN \((.*?)\)\)`).FindStringSubmatch(body)
	if match == nil {
		t.Fatalf("%s.%s has no list of values", table, column)
	}
	var values []string
	for _, value := range regexp.MustCompile(`'([^']*)'`).FindAllStringSubmatch(match[1], -1) {
		values = append(values, value[1])
	}
	return values
}

// TestRandomEventsReachStates follows random events: every state but EXIT has a successor, and all successors are
// states.
func TestRandomEventsReachStates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		state := annotator.StateInit
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			var ways []annotator.Transition
			for _, row := range annotator.Transitions {
				if row.State == state {
					ways = append(ways, row)
				}
			}
			if state == annotator.StateExit {
				if len(ways) > 0 {
					t.Fatal("EXIT leads on")
				}
				return
			}
			way := rapid.SampledFrom(ways).Draw(t, "way")
			next, ok := annotator.Next(state, way.Event)
			if !ok || next != way.Next {
				t.Fatalf("Next(%s, %s) = %s, %v; the row says %s", state, way.Event, next, ok, way.Next)
			}
			state = next
		}
	})
}

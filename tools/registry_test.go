package tools_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/tools"
)

func TestDefinitions(t *testing.T) {
	t.Parallel()
	first, second := newWorld(t).registry.Definitions(), newWorld(t).registry.Definitions()
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("a second registry differs: %s", diff)
	}
	for _, d := range first {
		var schema struct {
			Type                 string
			AdditionalProperties *bool
			Properties           map[string]struct{ Type, Description string }
		}
		if err := json.Unmarshal(d.Schema, &schema); err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		if schema.Type != "object" || schema.AdditionalProperties == nil || *schema.AdditionalProperties {
			t.Errorf("%s: %s", d.Name, d.Schema)
		}
		for name, p := range schema.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s: parameter %s has type %q and description %q", d.Name, name, p.Type, p.Description)
			}
		}
		if bytes.Contains(d.Schema, []byte("null")) || d.Description == "" {
			t.Errorf("%s: %q %s", d.Name, d.Description, d.Schema)
		}
	}
}

// The parameters are a contract with users' scripts and prompts.
func TestSchemaOfCreate(t *testing.T) {
	t.Parallel()
	var schema struct {
		Required   []string
		Properties map[string]struct {
			Type    string
			Enum    []string
			Default any
			Items   struct {
				Required   []string
				Properties map[string]struct{ Type string }
			}
		}
	}
	if err := json.Unmarshal(newWorld(t).registry.Definitions()[1].Schema, &schema); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"term", "tags", "facts"}, schema.Required); diff != "" {
		t.Error(diff)
	}
	status := schema.Properties["status"]
	if diff := cmp.Diff([]string{"tentative", "confirmed"}, status.Enum); diff != "" || status.Default != "tentative" {
		t.Errorf("status: %+v", status)
	}
	for _, former := range []string{"definition", "quote", "post_id", "kind"} {
		if _, shown := schema.Properties[former]; shown {
			t.Errorf("%s is of the form of before, and is shown", former)
		}
	}
	quoted := schema.Properties["facts"].Items
	if got := quoted.Properties["post_id"].Type; got != "integer" || !slices.Equal(quoted.Required, []string{"text"}) {
		t.Errorf("post_id is of type %s, and a fact requires %q", got, quoted.Required)
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	want := map[string]tools.Permission{
		"glossary_search": tools.Reads, "glossary_create": tools.Writes, "glossary_update": tools.Writes,
		"glossary_delete": tools.Retires, "read_post": tools.Reads, "read_thread_range": tools.Reads,
		"ask_person": tools.Asks,
	}
	got := map[string]tools.Permission{}
	for _, tool := range tools.Standard() {
		got[tool.Name] = tool.Permission
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownTool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{
		"", "functions.glossary_search:0", "Glossary_Search", "glossary_search ",
		strings.Repeat("x", 1<<20),
	} {
		a := w.refused("UNKNOWN_TOOL", name, "{}")
		if diff := cmp.Diff(w.registry.Names(), a.Error.Tools); diff != "" || len(a.Error.Message) > 500 {
			t.Errorf("%.30q: %s, a message of %d bytes", name, diff, len(a.Error.Message))
		}
	}
}

func TestNewRefusesDeclarations(t *testing.T) {
	t.Parallel()
	one := tools.Standard()[0]
	if _, err := tools.New(one, one); err == nil {
		t.Error("a tool stands twice, and nobody minds")
	}
	type odd struct {
		Limit int `json:"limit" min:"many"`
	}
	if _, err := tools.New(tools.Define[odd]("odd", tools.Reads, "", nil)); err == nil {
		t.Error("a bound is no number, and nobody minds")
	}
}

// A failure of storage is an error, not an answer to the model.
func TestBrokenStorage(t *testing.T) {
	t.Parallel()
	for tool, arguments := range map[string]string{
		"glossary_search": `{"query":"Dawn"}`,
		"glossary_create": `{"term":"Dawn","definition":"A ship.","tags":[]}`,
		"glossary_update": `{"entry_id":1,"term":"Dawn"}`,
		"glossary_delete": `{"entry_id":1,"reason":"no such ship"}`,
	} {
		w := newWorld(t)
		w.glossary.broken = annotator.Errorf(annotator.Storage, "disk I/O error")
		result, err := w.registry.Run(t.Context(), w.env,
			w.registry.Parse(annotator.ToolCall{Name: tool, Arguments: arguments}))
		if !errors.Is(err, annotator.Storage) || !cmp.Equal(result, tools.Result{}) {
			t.Errorf("%s: %+v, %v", tool, result, err)
		}
	}
}

func TestAnswersWithoutARun(t *testing.T) {
	t.Parallel()
	cause := errors.New("UNIQUE constraint failed")
	for _, test := range []struct {
		result tools.Result
		code   string
	}{
		{tools.RolledBackResult("glossary_create", cause), "EXECUTION_ERROR"},
		{tools.RolledBackResult("glossary_update", cause), "UPDATE_FAILED"},
		{tools.RolledBackResult("glossary_delete", cause), "DELETE_FAILED"},
		{tools.ErrorResult(tools.RoundLimit, "no more: UNIQUE constraint failed"), "ROUND_LIMIT"},
	} {
		var a answer
		if err := json.Unmarshal([]byte(test.result.Content), &a); err != nil {
			t.Fatal(err)
		}
		if a.OK || a.Error.Code != test.code || test.result.Error != test.code ||
			!strings.Contains(a.Error.Message, cause.Error()) {
			t.Errorf("%s: %+v", test.code, test.result)
		}
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := tools.Markdown(w.registry)
	for _, line := range []string{
		"## glossary_create (writes)", "| `term`* | string |", "| `tags` | array of string |",
		"| `status` | tentative, confirmed | \"tentative\" |", "| `include_adjacent` | boolean | false |",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("lacks %q", line)
		}
	}
	for _, name := range w.registry.Names() {
		if tool, ok := w.registry.Tool(name); !ok || !strings.Contains(text, strings.TrimSpace(tool.Description)) {
			t.Errorf("lacks the text of %s", name)
		}
	}
	if !slices.IsSorted([]int{strings.Index(text, "## glossary_search"), strings.Index(text, "## read_post")}) {
		t.Error("the tools are out of order")
	}
}

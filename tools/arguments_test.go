package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"annotator"
	"annotator/tools"
)

func TestInvalidJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, arguments := range []string{
		"", " ", "null", "[]", "1", `"{}"`, "true", "{", `{"query":"a"`, `{"query":"a"}}`, `{"query":"a"} x`,
		`{"query":"a"}{}`,
		`{"query":"a","query":"b"}`, `{"query":"a",}`, `{query:"a"}`, `{'query':'a'}`, "{\"query\":\"\xff\"}",
		"{\"query\":\"\x00\"}",
		`{"query":1e999}`, `{"query":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
		`{"query":` + strings.Repeat("[", 20000), `{"query":"` + strings.Repeat("a", 1<<20) + `"}`, "\ufeff{}",
	} {
		if a := w.refused("INVALID_JSON", "glossary_search", arguments); len(a.Error.Message) > 500 {
			t.Errorf("%.40q: a message of %d bytes", arguments, len(a.Error.Message))
		}
	}
}

func TestInvalidArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, test := range []struct {
		tool, arguments string
		problems        []string // what each of them begins with
	}{
		{"glossary_search", `{}`, []string{"arguments: missing property 'query'"}},
		{"glossary_search", `{"Query":"a"}`, []string{
			"arguments: additional properties 'Query'",
			"arguments: missing property 'query'",
		}},
		{"glossary_search", `{"query":"a","Query":"b"}`, []string{"arguments: additional properties 'Query'"}},
		{"glossary_search", `{"query":null}`, []string{"query: got null"}},
		{
			"glossary_search", `{"query":1,"limit":0,"status":"new"}`,
			[]string{"limit: minimum", "query: got number", "status: value must"},
		},
		{"glossary_search", `{"query":"a","limit":51}`, []string{"limit: maximum"}},
		{"glossary_search", `{"query":"a","limit":1.5}`, []string{"limit: got number, want integer"}},
		{"glossary_search", `{"query":"a","limit":"ten"}`, []string{"limit: got string"}},
		{"glossary_search", `{"query":"a","tags":["a",1,{}]}`, []string{"tags.1: got number", "tags.2: got object"}},
		{"glossary_search", `{"query":"a","include_references":1}`, []string{"include_references: got number"}},
		{
			"glossary_delete", `{"entry_id":9223372036854775808,"reason":"no"}`,
			[]string{"json: cannot unmarshal number"},
		},
	} {
		a := w.refused("INVALID_ARGUMENTS", test.tool, test.arguments)
		ok := len(a.Error.Errors) == len(test.problems)
		for i := range test.problems {
			ok = ok && strings.HasPrefix(a.Error.Errors[i], test.problems[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", test.arguments, a.Error.Errors, test.problems)
		}
	}
}

func TestManyProblemsAreCapped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.refused("INVALID_ARGUMENTS", "glossary_search", `{"query":"a","tags":[`+strings.Repeat("1,", 10_000)+`1]}`)
	if n := len(a.Error.Errors); n != 21 || a.Error.Errors[20] != "and 9981 more" {
		t.Errorf("%d problems, the last %q", n, a.Error.Errors[n-1])
	}
	long := strings.Repeat("k", 1<<19)
	if result, _ := w.run("glossary_search", `{"query":"a","`+long+`":1}`); len(result.Content) > 8000 {
		t.Errorf("an answer of %d bytes", len(result.Content))
	}
}

func TestCoercion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 12 {
		w.do("glossary_create", fmt.Sprintf(`{"term":"Thing %d","definition":"It is a thing.","tags":["item"]}`,
			len(w.glossary.entries)))
	}
	for _, test := range []struct {
		arguments string
		count     int
	}{
		{`{"query":"thing"}`, 10},
		{`{"query":"thing","limit":null,"tags":null}`, 10},
		{`{"query":"thing","limit":3.0}`, 3},
		{`{"query":"thing","limit":1e0}`, 1},
		{`{"query":"thing","limit":"4"}`, 4},
		{`{"query":"thing","limit":"4.0","include_references":"true"}`, 4},
		{`{"query":"thing","tags":"[\"item\"]","limit":12}`, 12},
		{`{"query":"7"}`, 1},
		{`{"query":"thing","limit":"null","tags":"None"}`, 10},
		{`{"query":"thing","limit":"<value>5</value>"}`, 5},
		{`{"query":"thing","tags":"<item>item</item>\n<item>item</item>","limit":"<value> 12 </value>"}`, 12},
		{`{"query":"thing","tags":"<value>[\"item\"]</value>","include_references":"<value>true</value>"}`, 10},
		{`{"query":"<value>thing</value>"}`, 0},
	} {
		if result, a := w.run("glossary_search", test.arguments); a.Count != test.count {
			t.Errorf("%s: %d entries: %s", test.arguments, a.Count, result.Content)
		}
	}
}

// TestValuesInTags: lists and objects in tags are read by the schema, where the tags have but one meaning there. Words
// next to tags, and tags for one value twice, have none.
func TestValuesInTags(t *testing.T) {
	t.Parallel()
	fact := map[string]any{"text": "It is of glass.", "quote": "a small <b>lamp</b>", "state": true}
	tagged := "<text>It is of glass.</text><quote>a small <b>lamp</b></quote><state>true</state>"
	for _, test := range []struct {
		facts string
		want  int
	}{
		{"<fact>" + tagged + "</fact>\n<fact>" + tagged + "</fact>", 2},
		{"<item>" + tagged + "</item>", 1},
		{tagged, 1},
		{"<fact>It is of glass.</fact><fact>It is small.</fact>", 2},
		{`[{"text": "It is of glass."}]`, 1},
		{tagged + "<text>It is small.</text>", 0},
		{"<fact>" + tagged + "</fact> and more", 0},
		{"<fact>" + tagged, 0},
		{"<fact><text>It is of glass.</text><colour>green</colour></fact>", 0},
	} {
		var got createArgumentsOf
		registry, err := tools.New(tools.Define("note", tools.Reads, "Notes.",
			func(_ context.Context, _ *tools.Env, a createArgumentsOf) (tools.Result, error) {
				got = a
				return tools.Result{}, nil
			}))
		if err != nil {
			t.Fatal(err)
		}
		encoded, _ := json.Marshal(map[string]string{"facts": test.facts})
		result, err := registry.Run(t.Context(), newWorld(t).env,
			registry.Parse(annotator.ToolCall{Name: "note", Arguments: string(encoded)}))
		if err != nil || len(got.Facts) != test.want || (result.Error == "") != (test.want > 0) {
			t.Errorf("%s: %+v, %s, %v", test.facts, got, result.Content, err)
		}
		if strings.Contains(test.facts, tagged) && test.want > 0 &&
			(got.Facts[0].Text != fact["text"] || got.Facts[0].Quote != fact["quote"] || !got.Facts[0].State) {
			t.Errorf("%s: %+v", test.facts, got.Facts[0])
		}
	}
}

// createArgumentsOf has a list of objects, as the arguments of edits do.
type createArgumentsOf struct {
	Facts []struct {
		Text  string `json:"text"`
		Quote string `json:"quote,omitempty"`
		State bool   `json:"state,omitempty"`
	} `json:"facts"`
}

func TestNoArgumentsWhereNoneAreRequired(t *testing.T) {
	t.Parallel()
	type none struct {
		Limit int `json:"limit,omitempty" default:"7" jsonschema:"how many"`
	}
	var got int
	registry, err := tools.New(tools.Define("list", tools.Reads, "Lists.",
		func(_ context.Context, _ *tools.Env, a none) (tools.Result, error) {
			got = a.Limit
			return tools.Result{}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	result, err := registry.Run(t.Context(), newWorld(t).env, registry.Parse(annotator.ToolCall{Name: "list"}))
	if err != nil || result.Error != "" || got != 7 {
		t.Errorf("limit %d, %+v, %v", got, result, err)
	}
}

// Any arguments give an answer of bounded length that is JSON. Only an answer with ok changes anything.
func FuzzRun(f *testing.F) {
	for _, arguments := range []string{
		"", "null", "{}", `{"query":"Dawn"}`,
		`{"term":"Dawn","definition":"A ship.","tags":["ship"],"quote":"a grey ship"}`,
		`{"entry_id":1,"definition":"A \ud800 ship.","narrow":true}`, `{"entry_id":"1","reason":"\u0000"}`,
		`{"post_id":30.0}`,
		`{"query":"<value>5</value>","limit":"<value>5</value>","tags":"<a><b>c</b></a>"}`,
		`{"term":"Oil","tags":"<x></x>","facts":"<f><text>It burns.</text></f>"}`,
		`{"thread_id":1,"start_post_id":11,"tag_filter":"qm_post"}`, `{"entry_id":1,"term":"x","term":"y"}`,
		`{"entry_id":1e400}`,
	} {
		for tool := range uint8(6) {
			f.Add(tool, arguments)
		}
	}
	registry := newRegistry(f)
	f.Fuzz(func(t *testing.T, tool uint8, arguments string) {
		w := worldOf(t, registry)
		w.do("glossary_create", `{"term":"Mik","definition":"A smith.","tags":[]}`)
		before := w.glossary.revision
		names := w.registry.Names()
		result, a := w.run(names[int(tool)%len(names)], arguments)
		if n := len([]rune(result.Content)); n > 8000 {
			t.Errorf("an answer of %d characters", n)
		}
		if !a.OK && w.glossary.revision != before {
			t.Errorf("%s changed the glossary", result.Content)
		}
		if (w.glossary.revision != before) != (len(result.Changed) > 0) {
			t.Errorf("touched %v, revisions %d to %d", result.Changed, before, w.glossary.revision)
		}
	})
}

// Arguments that encoding/json accepts too are read equally.
func TestArgumentsAgreeWithEncodingJSON(t *testing.T) {
	t.Parallel()
	type arguments struct {
		Text  string   `json:"text"`
		ID    int64    `json:"id"`
		Names []string `json:"names"`
		Yes   bool     `json:"yes"`
	}
	var got arguments
	registry, err := tools.New(tools.Define("keep", tools.Reads, "Keeps.",
		func(_ context.Context, _ *tools.Env, a arguments) (tools.Result, error) {
			got = a
			return tools.Result{}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	env := newWorld(t).env
	rapid.Check(t, func(t *rapid.T) {
		want := arguments{
			Text: rapid.String().Draw(t, "text"), ID: rapid.Int64().Draw(t, "id"),
			Names: rapid.SliceOf(rapid.String()).Draw(t, "names"), Yes: rapid.Bool().Draw(t, "yes"),
		}
		encoded, _ := json.Marshal(want)
		result, err := registry.Run(t.Context(), env,
			registry.Parse(annotator.ToolCall{Name: "keep", Arguments: string(encoded)}))
		if err != nil || result.Error != "" {
			t.Fatalf("%s: %+v, %v", encoded, result, err)
		}
		if again, _ := json.Marshal(got); string(again) != string(encoded) {
			t.Fatalf("%s became %s", encoded, again)
		}
	})
}

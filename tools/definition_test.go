package tools_test

import (
	"testing"

	"annotator"
)

// TestDefinitionBecomesFacts: a definition is read as its sentences, and nothing behind the reading of a call knows of
// it.
func TestDefinitionBecomesFacts(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	const create, update = `{"term":"Dawn","tags":[],"status":"tentative",`, `{"entry_id":1,`
	for _, test := range []struct{ tool, begins, rest, want string }{
		{
			"glossary_create", create, `"definition":"She is grey. She sails."}`,
			`"facts":[{"text":"She is grey."},{"text":"She sails."}]`,
		},
		{
			"glossary_create", create,
			`"definition":"She is grey. She sails.","quote":"the grey ship","post_id":"30","kind":"claimed","narrow":"true"}`,
			`"facts":[{"kind":"claimed","post_id":30,"quote":"the grey ship","text":"She is grey."},{"kind":"claimed","post_id":30,"text":"She sails."}]`,
		},
		{
			"glossary_create", create, `"facts":["She is grey."],"quote":"a grey ship"}`,
			`"facts":[{"quote":"a grey ship","text":"She is grey."}]`,
		},
		{
			"glossary_create", create, `"facts":[{"text":"She is grey.","quote":"a ship"}],"definition":"She sails.",` +
				`"quote":null}`,
			`"facts":[{"quote":"a ship","text":"She is grey."},{"text":"She sails."}]`,
		},
		{
			"glossary_update", update, `"definition":"She is grey. Mik stole her.","kind":"inferred"}`,
			`"facts":[{"text":"She is grey."},{"kind":"inferred","text":"Mik stole her."}]`,
		},
		{
			"glossary_update", update, `"definition":"Mr. Ashe &amp; Sons sold her.","source_post_id":30}`,
			`"facts":[{"post_id":30,"text":"Mr. Ashe & Sons sold her."}]`,
		},
		{"glossary_update", update, `"definition":" ","quote":"a grey ship","narrow":false}`, ""},
	} {
		call := registry.Parse(annotator.ToolCall{Name: test.tool, Arguments: test.begins + test.rest})
		want := registry.Parse(annotator.ToolCall{Name: test.tool, Arguments: test.begins + test.want + "}"})
		if test.want == "" {
			want = registry.Parse(annotator.ToolCall{Name: test.tool, Arguments: `{"entry_id":1}`})
		}
		if call.Failure != nil || want.Failure != nil || string(call.Arguments) != string(want.Arguments) {
			t.Errorf("%s is read as %s %s, want %s", test.rest, call.Arguments, call.Failure, want.Arguments)
		}
	}
	for _, wrong := range []string{
		`"definition":7}`, `"definition":"A ship.","kind":"dreamt"}`,
		`"definition":"A ship.","narrow":"perhaps"}`, `"definition":"A ship.","facts":7}`,
	} {
		if call := registry.Parse(annotator.ToolCall{
			Name:      "glossary_update",
			Arguments: update + wrong,
		}); call.Failure == nil {
			t.Errorf("%s is read as %s", wrong, call.Arguments)
		}
	}
}

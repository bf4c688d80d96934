package tools_test

import (
	"strings"
	"testing"

	"annotator/codex"
)

// TestFieldsOfAUser: a value of a user's field is taken with a quotation that the story has, and if it is of the type.
// A value of an example is taken only if the quotation says it.
func TestFieldsOfAUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env.Fields = []codex.UserField{
		{Name: "colour", Kinds: []string{"ship"}, Examples: []string{"grey", "sea green"}},
		{Name: "guns", Type: "number", Examples: []string{"40"}},
		{Name: "rig", OneOf: []string{"sloop", "brig"}},
	}
	w.do("glossary_create", `{"term":"Dawn","tags":["ship"],"facts":[
		{"text":"She is grey.","quote":"a grey ship","relation":"Colour","object":"grey"}]}`)
	for want, fact := range map[string]string{
		"is an example of colour": `{"text":"She is green.","quote":"She sails at night","relation":"colour","object":"sea green"}`,
		"needs a quote":           `{"text":"She has 40 guns.","relation":"guns","object":"40"}`,
		"quote that the story":    `{"text":"She has 9 guns.","quote":"nine guns of brass","relation":"guns","object":"9"}`,
		"is a number":             `{"text":"She has guns.","quote":"a grey ship","relation":"guns","object":"many"}`,
		"is one of: sloop, brig":  `{"text":"She is a ship.","quote":"a grey ship","relation":"rig","object":"ship"}`,
		"needs its value":         `{"text":"She has a colour.","quote":"a grey ship","relation":"colour"}`,
	} {
		a := w.refused(codex.FieldCode, "glossary_update", `{"entry_id":1,"facts":[`+fact+`]}`)
		if !strings.Contains(a.Error.Message, want) {
			t.Errorf("%s: %s, and not %q", fact, a.Error.Message, want)
		}
	}
	w.refused(codex.FieldCode, "glossary_create", `{"term":"Mik","tags":["person"],"facts":[
		{"text":"Mik is grey.","quote":"a grey ship","relation":"colour","object":"grey"}]}`)
	w.do("glossary_update", `{"entry_id":1,"facts":[
		{"text":"She is a ship.","quote":"a grey ship","relation":"kind of","object":"many"}]}`) // no field
}

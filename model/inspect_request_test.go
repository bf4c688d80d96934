package model_test

import (
	"testing"

	"annotator/model"
)

// TestInspectKnowsTheRequest: whether a reply is usable depends on the request and the model.
func TestInspectKnowsTheRequest(t *testing.T) {
	t.Parallel()
	strict := model.Request{Model: "m", SameModel: true}
	cut := model.Request{MaxTokens: 100}
	quoting, escaped := model.Request{History: []byte("read: \uFFFD")}, model.Request{History: []byte(`read: \ufffd`)}
	for name, test := range map[string]struct {
		request model.Request
		reply   model.Reply
		code    string // "": it can be used
	}{
		"the model that was asked":             {strict, model.Reply{Text: "So.", Model: "m"}, ""},
		"a model that is not named":            {strict, model.Reply{Text: "So."}, ""},
		"another model":                        {strict, model.Reply{Text: "So.", Model: "n"}, model.CodeModel},
		"damage of the story":                  {quoting, model.Reply{Text: "\uFFFD it is"}, ""},
		"damage of the story, escaped":         {escaped, model.Reply{Text: "\uFFFD it is"}, ""},
		"damage of its own":                    {model.Request{}, model.Reply{Text: "\uFFFD it is"}, model.CodeDamaged},
		"NUL beside damage of the story":       {quoting, model.Reply{Text: "\x00 it is"}, model.CodeDamaged},
		"an escape beside damage of the story": {quoting, model.Reply{Text: `\ud83d \uFFFD it is`}, model.CodeDamaged},
		"bytes beside damage of the story": {
			quoting,
			model.Reply{Text: "\uFFFD it is", Raw: []byte("\xff")},
			model.CodeDamaged,
		},
		"the last character, cut": {cut, model.Reply{Text: "It is \uFFFD", Finish: "length"}, ""},
		"more than the last character, cut": {
			cut,
			model.Reply{Text: "It \uFFFD is \uFFFD", Finish: "length"},
			model.CodeDamaged,
		},
		"the last character, not cut":         {cut, model.Reply{Text: "It is \uFFFD"}, model.CodeDamaged},
		"signs that say something":            {model.Request{}, model.Reply{Text: "→ ♥"}, ""},
		"signs that say nothing":              {model.Request{}, model.Reply{Text: "— … ~"}, model.CodeStuck},
		"nothing but damage, which is quoted": {quoting, model.Reply{Text: "\uFFFD"}, model.CodeStuck},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.reply.Finish == "" {
				test.reply.Finish = "stop"
			}
			code := ""
			if f := inspect(&test.request, &test.reply); f != nil {
				code = f.Code
			}
			if code != test.code {
				t.Errorf("it is judged %q, want %q", code, test.code)
			}
		})
	}
}

package tools

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator/codex"
	"annotator/policy"
)

//go:embed select_active_intent.md
var intentText string

type intentArguments struct {
	Intent        string `json:"intent" jsonschema:"what you are about to do"`
	Justification string `json:"justification" jsonschema:"why the scene calls for it, in a few words"`
}

// WithPolicy returns the tools of a model under a policy: first the tool that declares an intent, then those of the
// given tools that some intent permits.
func WithPolicy(p *policy.Policy, declared []Tool) []Tool {
	permitted := slices.DeleteFunc(slices.Clone(declared), func(t Tool) bool { return !p.Permits(policy.Annotate, t.Name) })
	return append([]Tool{intentTool(p.Intents(policy.Annotate))}, permitted...)
}

func intentTool(intents []policy.Intent) Tool {
	text := strings.TrimSpace(intentText) + "\n"
	for _, intent := range intents {
		text += fmt.Sprintf("\n- %s: %s", intent.Name, intent.Meaning)
	}
	text += fmt.Sprintf("\n\nAnswers `{\"ok\":true,\"intent\":...}`. Errors: EMPTY: the justification holds no word. "+
		"TOO_LONG: it has more than %d characters.", maxJustification)
	tool := Define(policy.SelectIntent, Declares, text, declare)
	tool.schema = func() (*argumentSchema, error) { return intentSchema(intents) }
	return tool
}

// intentSchema returns the schema of a declaration, with the policy's intents as the enum.
func intentSchema(intents []policy.Intent) (*argumentSchema, error) {
	s, err := schemaFor[intentArguments]()
	if err != nil {
		return nil, err
	}
	for _, intent := range intents {
		s.schema.Properties["intent"].Enum = append(s.schema.Properties["intent"].Enum, intent.Name)
	}
	return s, nil
}

// maxJustification is the maximum length of a justification, in code points.
const maxJustification = 500

func declare(_ context.Context, _ *Env, a intentArguments) (Result, error) {
	if !codex.HasWord(a.Justification) {
		return Result{}, &Failure{Code: "EMPTY", Message: "the justification holds no word"}
	}
	if n := utf8.RuneCountInString(a.Justification); n > maxJustification {
		message := fmt.Sprintf("the justification has %d characters; at most %d", n, maxJustification)
		return Result{}, &Failure{Code: TooLong, Message: message}
	}
	return Result{Content: encode(policy.IntentAnswer{OK: true, Intent: a.Intent})}, nil
}

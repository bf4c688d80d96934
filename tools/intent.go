package tools

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"annotator/codex"
	"annotator/policy"
)

//go:embed select_active_intent.md
var intentText string

type intentArguments struct {
	Intent        string `json:"intent" jsonschema:"what you are about to do"`
	Justification string `json:"justification" jsonschema:"why the scene calls for it, in a few words"`
}

// Governed returns what a model is given where a policy governs it: the tool by which it declares its intent, then those of the
// tools that some intent permits.
func Governed(p *policy.Policy, declared []Tool) []Tool {
	permitted := slices.DeleteFunc(slices.Clone(declared), func(t Tool) bool { return !p.Permits(policy.Annotate, t.Name) })
	return append([]Tool{intentTool(p.Intents(policy.Annotate))}, permitted...)
}

func intentTool(intents []policy.Intent) Tool {
	text := strings.TrimSpace(intentText) + "\n"
	for _, intent := range intents {
		text += fmt.Sprintf("\n- %s: %s", intent.Name, intent.Meaning)
	}
	text += "\n\nAnswers `{\"ok\":true,\"intent\":...}`. Errors: EMPTY: the justification holds no word."
	tool := Define(policy.Select, Declares, text, declare)
	tool.shape = func() (*shape, error) { return intentShape(intents) }
	return tool
}

// intentShape is the schema of a declaration; which intents there are is the policy's to say.
func intentShape(intents []policy.Intent) (*shape, error) {
	s, err := shapeOf[intentArguments]()
	if err != nil {
		return nil, err
	}
	for _, intent := range intents {
		s.schema.Properties["intent"].Enum = append(s.schema.Properties["intent"].Enum, intent.Name)
	}
	s.checker, err = compile(s.schema)
	return s, err
}

func declare(_ context.Context, _ *Env, a intentArguments) (Result, error) {
	if !codex.HasWord(a.Justification) {
		return Result{}, &Failure{Code: "EMPTY", Message: "the justification holds no word"}
	}
	return Result{Content: encode(policy.Answer{OK: true, Intent: a.Intent})}, nil
}

package tools

import (
	"context"
	"fmt"

	"annotator"
	"annotator/codex"
	"annotator/policy"
)

type intentArguments struct {
	Intent        string `json:"intent" jsonschema:"what you are about to do"`
	Justification string `json:"justification" jsonschema:"why the scene calls for it, in a few words"`
}

// WithPolicy returns the tool that declares an intent, and those of the given tools that some intent permits.
func WithPolicy(p *policy.Policy, declared []Tool) []Tool {
	all := []Tool{intentTool(p.Intents(policy.Annotate))}
	for _, t := range declared {
		if p.Permits(policy.Annotate, t.Name) {
			all = append(all, t)
		}
	}
	return all
}

func intentTool(intents []policy.Intent) Tool {
	text, _ := describe(policy.SelectIntent)
	for _, intent := range intents {
		text += fmt.Sprintf("\n- %s: %s", intent.Name, intent.Meaning)
	}
	text += "\n"
	tool := Define(policy.SelectIntent, Declares, text, declare)
	tool.notes = fmt.Sprintf("Answers `{\"ok\":true,\"intent\":...}`. Errors: EMPTY: the justification holds no word. "+
		"TOO_LONG: it has more than %d characters.", maxJustification)
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
	if _, err := codex.Text("justification", a.Justification, maxJustification); err != nil {
		return Result{}, err
	}
	return Result{Content: annotator.EncodeJSON(policy.IntentAnswer{OK: true, Intent: a.Intent})}, nil
}

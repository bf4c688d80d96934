package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"annotator"
	"annotator/policy"
	"annotator/tools"

	"github.com/spf13/cobra"
)

func newTools(a *app) *cobra.Command {
	var asPolicy bool
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Describe the tools that the model is given",
		Long: longHelp(`
Describe the tools that the model is given: what they do, their arguments, and what they may change; with --json also
the schemas that a model is sent. --policy prints the default policy, which says which intent permits which tools, as a
file for --governance-policy.`, exitMisused),
		Example: `  annotator tools
  annotator tools --json | jq '.[].name'
  annotator tools --policy > policy.yaml`,
	}
	cmd.Flags().BoolVar(&asPolicy, "policy", false, "print the default policy")
	return a.prints(cmd, func(context.Context, []string) (result, error) {
		if asPolicy {
			return message{strings.TrimSuffix(policy.Text(), "\n"), map[string]string{"policy": policy.Text()}}, nil
		}
		return describeTools()
	})
}

// describedTools is what `tools` prints.
type describedTools struct {
	*tools.Registry
}

// describedTool is a tool as `tools --json` prints it.
type describedTool struct {
	Name        string           `json:"name"`
	Permission  tools.Permission `json:"permission"`
	Description string           `json:"description"`
	Schema      json.RawMessage  `json:"schema"` // of the arguments
}

func describeTools() (result, error) {
	registry, err := tools.New(tools.WithPolicy(policy.Default(), tools.All())...)
	return describedTools{registry}, err
}

// MarshalJSON encodes each tool with its schema.
func (d describedTools) MarshalJSON() ([]byte, error) {
	var all []describedTool
	for _, definition := range d.Definitions() {
		tool, _ := d.Tool(definition.Name)
		all = append(all, describedTool{definition.Name, tool.Permission, definition.Description, definition.Schema})
	}
	return []byte(annotator.EncodeJSON(all)), nil
}

func (d describedTools) print(w io.Writer) { _, _ = io.WriteString(w, tools.Markdown(d.Registry)) }

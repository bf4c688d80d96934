package main

import (
	"encoding/json"
	"io"

	"annotator"
	"annotator/policy"
	"annotator/tools"

	"github.com/spf13/cobra"
)

func newTools(a *app) *cobra.Command {
	var asJSON, asPolicy bool
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Describe the tools that the model is given",
		Long: longHelp(`
Describe the tools that the model is given: what they do, their arguments, and what they may change. --policy prints the
default policy, which says which intent permits which tools, as a file for --governance-policy.`, exitMisused),
		Example: `  annotator tools
  annotator tools --json | jq '.[].name'
  annotator tools --policy > policy.yaml`,
		RunE: func(*cobra.Command, []string) error {
			if asPolicy && asJSON {
				return annotator.Errorf(annotator.Misused, "--policy and --json print different documents").WithAdvice("give one of them")
			}
			if asPolicy {
				_, err := io.WriteString(a.out, policy.Text())
				return err
			}
			return a.describeTools(asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with the schemas that a model is sent")
	cmd.Flags().BoolVar(&asPolicy, "policy", false, "print the default policy")
	return cmd
}

// describedTool is a tool as `tools --json` prints it.
type describedTool struct {
	Name        string           `json:"name"`
	Permission  tools.Permission `json:"permission"`
	Description string           `json:"description"`
	Schema      json.RawMessage  `json:"schema"` // of the arguments
}

func (a *app) describeTools(asJSON bool) error {
	registry, err := tools.New(tools.WithPolicy(policy.Default(), tools.All())...)
	if err != nil {
		return err
	}
	if !asJSON {
		_, err := io.WriteString(a.out, tools.Markdown(registry))
		return err
	}
	var all []describedTool
	for _, definition := range registry.Definitions() {
		tool, _ := registry.Tool(definition.Name)
		all = append(all, describedTool{definition.Name, tool.Permission, definition.Description, definition.Schema})
	}
	return a.printJSON(all)
}

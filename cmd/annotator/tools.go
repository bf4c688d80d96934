package main

import (
	"encoding/json"
	"io"

	"annotator/tools"

	"github.com/spf13/cobra"
)

func newTools(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Describe the tools that a model is given",
		Long:  described("Describe the tools that a model is given: what they do, what they take and what they may change.", exitMisused),
		Example: `  annotator tools
  annotator tools --json | jq '.[].name'`,
		Args: arguments(0, 0),
		RunE: func(*cobra.Command, []string) error { return a.describeTools(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with the schemas that a model is sent")
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
	registry, err := tools.New(tools.All()...)
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

package main

import (
	"fmt"
	"io"

	"annotator/context/prompt"
	"annotator/tools"

	"github.com/spf13/cobra"
)

func newPrompts(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prompts",
		Short: "Write out or show what the model is told of its task",
		Long: described(`
Write out or show what the model is told of its task. The system prompt is made of the files SOUL.md, IDENTITY.md, USER.md,
MEMORY.md, AGENTS.md and TOOLS.md, in this order, and of what holds for every story. A file that is missing has a default; one
that is empty leaves its part out. A run is told the folder with --prompts, and reads it once, when it starts.`, exitMisused),
		Example: `  annotator prompts init prompts
  annotator prompts show prompts`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPromptsInit(a), newPromptsShow(a))
	return cmd
}

func newPromptsInit(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "init [DIR]",
		Short:   "Write the default files into a folder, to be edited",
		Long:    described("Write the default files into the folder DIR, prompts where none is named. Nothing is overwritten.", exitMisused),
		Example: "  annotator prompts init\n  annotator run book.epub --prompts prompts",
		Args:    arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "prompts"
			if len(args) > 0 {
				dir = args[0]
			}
			paths, err := prompt.Write(dir)
			if err != nil {
				return err
			}
			for _, path := range paths {
				fmt.Fprintln(a.out, clean(path))
			}
			return nil
		},
	}
}

func newPromptsShow(a *app) *cobra.Command {
	var title string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [DIR]",
		Short: "Print the system prompt that a run would use",
		Long: described(`
Print the system prompt that a run would use with the files in DIR, or with the defaults. On standard error stand its length and
its hash, which covers the tools' descriptions, too: a run records it, and is not gone on with under another unless --accept
prompt agrees.`, exitMisused),
		Example: "  annotator prompts show\n  annotator prompts show prompts --title \"The Quay\"",
		Args:    arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			var dir string
			if len(args) > 0 {
				dir = args[0]
			}
			return a.showPrompt(dir, title, asJSON)
		},
	}
	cmd.Flags().StringVar(&title, "title", "", "`TITLE` of the story")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// shownPrompt is a system prompt as `prompts show` prints it.
type shownPrompt struct {
	Hash   string `json:"hash"`
	Tokens int    `json:"tokens"` // estimate, with the tools
	Prompt string `json:"prompt"`
}

func (a *app) showPrompt(dir, title string, asJSON bool) error {
	identity, err := loadPrompts(dir)
	if err != nil {
		return err
	}
	registry, err := tools.New(tools.All()...)
	if err != nil {
		return err
	}
	record, err := tools.EncodeDefinitions(registry.Definitions())
	if err != nil {
		return err
	}
	shown := shownPrompt{Prompt: prompt.Compose(identity, prompt.Runtime{Title: title})}
	shown.Hash = prompt.Hash(shown.Prompt, record)
	shown.Tokens = prompt.Size(shown.Prompt, record).Tokens()
	if asJSON {
		return a.printJSON(shown)
	}
	if _, err := io.WriteString(a.out, shown.Prompt); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.err, "hash %s, about %d tokens with the tools\n", shown.Hash, shown.Tokens)
	return err
}

// loadPrompts reads a folder of prompts; without one, the defaults are in force.
func loadPrompts(dir string) (prompt.Identity, error) {
	if dir == "" {
		return prompt.Defaults(), nil
	}
	return prompt.Load(dir)
}

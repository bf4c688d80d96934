package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"annotator/context/prompt"
	"annotator/context/window"
	"annotator/runner"
	"annotator/storage"
	"annotator/tools"

	"github.com/spf13/cobra"
)

func newPrompts(a *app) *cobra.Command {
	return group("prompts", "Write or print the system prompt", `
Write or print the system prompt. It consists of the files SOUL.md, IDENTITY.md, USER.md, GUIDANCE.md, MEMORY.md,
AGENTS.md and TOOLS.md, in this order, and of instructions that are the same for every story. A missing file has a
default; an empty one omits its part. SUMMARISER.md, CURATOR.md and CURATOR_SYSTEM.md are the questions beside the
story: the request for a summary, a template in the syntax of Go's text/template; what each question of the curator
begins with; and the system prompt of --curator-prompt replaced. A run reads the folder that --prompts names, once,
when it starts. A run that goes on with other files needs --accept prompt.`,
		"  annotator prompts init prompts\n  annotator prompts show prompts", newPromptsInit(a), newPromptsShow(a))
}

func newPromptsInit(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write the default files into a folder, for editing",
		Long: longHelp("Write the default files into the folder DIR (default: prompts). No file is overwritten.",
			exitMisused),
		Example: "  annotator prompts init\n  annotator run book.epub --prompts prompts",
		Args:    arguments(0, 1),
	}
	return a.prints(cmd, func(_ context.Context, args []string) (result, error) {
		paths, err := prompt.Write(cmp.Or(strings.Join(args, ""), "prompts"))
		return message{strings.Join(paths, "\n"), map[string][]string{"files": paths}}, err
	})
}

func newPromptsShow(a *app) *cobra.Command {
	c := Config{Config: runner.Defaults()}
	var title string
	cmd := &cobra.Command{
		Use:   "show [DIR]",
		Short: "Print the system prompt that a run would use",
		Long: longHelp(`
Print the system prompt that a run would use with the files in DIR, or with the defaults. Standard error shows its
length and its hash, which includes the descriptions of the tools. A run records the hash; a run with other files in
--prompts needs --accept prompt.`, exitMisused),
		Example: `  annotator prompts show
  annotator prompts show prompts --title "The Quay"
  annotator prompts show --kinds person,place --guidance wishes.md`,
		Args: arguments(0, 1),
	}
	flags := cmd.Flags()
	flags.StringVar(&title, "title", "", "`TITLE` of the story")
	c.scopeFlags(flags)
	return a.prints(cmd, func(_ context.Context, args []string) (result, error) {
		c.Prompts = strings.Join(args, "")
		return a.composePrompt(&c, title)
	})
}

// shownPrompt is a system prompt as `prompts show` prints it.
type shownPrompt struct {
	Hash   string `json:"hash"`
	Tokens int    `json:"tokens"` // estimate, with the tools
	Prompt string `json:"prompt"`
	err    io.Writer
}

func (a *app) composePrompt(c *Config, title string) (_ *shownPrompt, err error) {
	if c.Identity, err = c.loadPrompts(); err != nil {
		return nil, err
	}
	if c.Kinds, err = parseKinds(c.KindList); err != nil {
		return nil, err
	}
	if c.Fields, err = readSchema(c.Schema); err != nil {
		return nil, err
	}
	record, err := encodeTools(tools.All())
	if err != nil {
		return nil, err
	}
	shown := &shownPrompt{err: a.err, Prompt: c.SystemPrompt(title)}
	shown.Hash = storage.HashPrompt(shown.Prompt, record, "")
	shown.Tokens = window.NewPrefix(shown.Prompt, record, nil).Tokens(nil)
	return shown, nil
}

func (s *shownPrompt) print(w io.Writer) {
	fmt.Fprint(w, s.Prompt)
	fmt.Fprintf(s.err, "hash %s, about %d tokens with the tools\n", s.Hash, s.Tokens)
}

// encodeTools returns the definitions of tools as a request carries them.
func encodeTools(list []tools.Tool) (string, error) {
	registry, err := tools.New(list...)
	if err != nil {
		return "", err
	}
	return tools.EncodeDefinitions(registry.Definitions()), nil
}

// loadPrompts reads the folder of prompts and the guidance. Without a folder, the prompts are the defaults.
func (c *Config) loadPrompts() (identity prompt.Identity, err error) {
	if c.Prompts == "" {
		identity = prompt.Defaults()
	} else if identity, err = prompt.Load(c.Prompts); err != nil {
		return identity, err
	}
	if c.Guidance != "" {
		err = identity.LoadGuidance(c.Guidance)
	}
	return identity, err
}

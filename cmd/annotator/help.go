package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newHelp is the command that cobra would make, but for what it says of commands that there are not.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]...",
		Short: "Tell more about a command",
		Args:  arguments(0, anyNumber),
		RunE: func(_ *cobra.Command, args []string) error {
			command, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(command, rest[0])
			}
			return command.Help()
		},
	}
}

// widestHelp is how many columns help takes up at most: longer lines are hard to read.
const widestHelp = 120

// fitHelp has the help of all commands fit a terminal of so many columns; 0 leaves it as it was written.
func fitHelp(root *cobra.Command, width int) {
	if width == 0 {
		return
	}
	width = min(width, widestHelp)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages", fmt.Sprint("FlagUsagesWrapped ", width)))
	fitText(root, width)
}

func fitText(cmd *cobra.Command, width int) {
	paragraphs := strings.Split(cmd.Long, "\n\n")
	for i, text := range paragraphs {
		if list := strings.Contains(text, "\n "); !list {
			paragraphs[i] = strings.Join(broken(text, width), "\n")
		}
	}
	cmd.Long = strings.Join(paragraphs, "\n\n")
	for _, command := range cmd.Commands() {
		fitText(command, width)
	}
}

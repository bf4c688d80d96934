package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"annotator"

	"github.com/spf13/cobra"
)

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "annotator",
		Short: "Read a long story scene by scene and keep a codex of it",
		Long: `annotator reads a long story scene by scene. A model notes facts about people,
places and things. They become a codex: entries with names and facts, and the
quotations that support them.

A run can be stopped at any moment. Run the same command again to continue.`,
		Example: `  annotator run book.epub
  annotator search --db book.annotator.db "the captain"
  annotator export --db book.annotator.db --format json -o book.json`,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	addGroup(root, "Make a codex:",
		newRun(a), newStatus(a), newRetry(a), newCurate(a), newImport(a), newEstimate(a), newDoctor(a),
		newInit(a), newDemo(a))
	addGroup(root, "Read it:",
		newShow(a), newSearch(a), newMentions(a), newStory(a), newTimeline(a), newStanding(a), newAsk(a),
		newCheck(a), newServe(a), newExport(a), newMCP(a))
	addGroup(root, "Correct it:",
		append(newEdits(a), newReview(a), newQuestions(a), newImportEdits(a), newEditLog(a))...)
	addGroup(root, "Examine a run:",
		newVerify(a), newAudit(a), newSnapshot(a), newMemory(a), newBackup(a), newEval(a), newSample(a),
		newPrompts(a), newTools(a), newStates(a))
	root.AddCommand(newMan(a), newVersion(a))
	root.SetHelpCommand(newHelp(root))
	prepare(root)
	wrapHelp(root, terminalWidth(a.out))
	return root
}

// addGroup adds commands that the help lists together, under a heading.
func addGroup(root *cobra.Command, heading string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: heading, Title: heading})
	for _, cmd := range commands {
		cmd.GroupID = heading
	}
	root.AddCommand(commands...)
}

// prepare makes a command and its subcommands refuse arguments unless they declare some. It registers completions.
func prepare(cmd *cobra.Command) {
	if cmd.Args == nil {
		cmd.Args = arguments(0, 0)
	}
	completeFlags(cmd)
	for _, command := range cmd.Commands() {
		prepare(command)
	}
}

// group returns a command that only has subcommands.
func group(use, short, long, example string, subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: longHelp(long, exitMisused), Example: example,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(subcommands...)
	return cmd
}

// untilSignalled makes a command run until a signal ends it.
func untilSignalled(cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return untilSignal(cmd.Context(), func(ctx context.Context) error { return run(ctx, args) })
	}
	return cmd
}

// unlimited is the maximum number of arguments if any number is accepted.
const unlimited = 1 << 20

// arguments accepts between least and most arguments.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return nil
		}
		if cmd.HasSubCommands() {
			return unknownCommand(cmd, args[0])
		}
		if len(args) < least {
			return annotator.Errorf(annotator.Misused, "an argument is missing").WithAdvice("usage: %s", cmd.UseLine())
		}
		return annotator.Errorf(annotator.Misused, "unexpected argument %q", args[most]).
			WithAdvice("usage: %s", cmd.UseLine())
	}
}

// unknownCommand reports a subcommand that does not exist.
func unknownCommand(parent *cobra.Command, name string) error {
	_, path, _ := strings.Cut(parent.CommandPath()+" ", " ")
	err := annotator.Errorf(annotator.Misused, "there is no command %q", path+name)
	var names []string
	for _, command := range parent.Commands() {
		names = append(names, command.Name())
	}
	if near := nearest(name, names); near != "" {
		return err.WithAdvice("did you mean %q?", path+near)
	}
	return err.WithAdvice("`%s --help` lists the commands", parent.CommandPath())
}

// newHelp returns cobra's help command, with an error and a suggestion for an unknown command.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]...",
		Short: "Show the help of a command",
		Args:  arguments(0, unlimited),
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

// wrapHelp wraps the help of all commands to a terminal's width, 120 columns at most; 0 is no terminal.
func wrapHelp(root *cobra.Command, width int) {
	if width == 0 {
		return
	}
	width = min(width, 120)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages",
		fmt.Sprint("FlagUsagesWrapped ", width)))
	wrapLong(root, width)
}

func wrapLong(cmd *cobra.Command, width int) {
	item := regexp.MustCompile(`^( +\S+ +)(.*)$`) // of a list: its name and its text
	paragraphs := strings.Split(cmd.Long, "\n\n")
	for i, text := range paragraphs {
		if isList := strings.Contains(text, "\n "); !isList {
			paragraphs[i] = strings.Join(wrap(text, width), "\n")
			continue
		}
		lines := strings.Split(text, "\n")
		for n, line := range lines {
			if parts := item.FindStringSubmatch(line); parts != nil {
				lines[n] = hangingIndent(parts[1], parts[2], width)
			}
		}
		paragraphs[i] = strings.Join(lines, "\n")
	}
	cmd.Long = strings.Join(paragraphs, "\n\n")
	for _, command := range cmd.Commands() {
		wrapLong(command, width)
	}
}

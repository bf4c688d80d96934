package main

import (
	"errors"
	"strings"

	"annotator"
	"annotator/corpus/ingest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "annotator",
		Short: "Read a long story scene by scene and keep a codex of it",
		Long: `annotator reads a long story scene by scene, has a model keep a glossary of its people, places and things,
and exports the codex: each entry with the places in the story that it rests on.

A run can be stopped at any moment and goes on where it stopped when it is called again.`,
		Example: `  annotator run book.epub
  annotator search --db book.annotator.db "the captain"
  annotator export --db book.annotator.db --format json -o book.json`,
		Args:          arguments(0, 0),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		newRun(a), newRetry(a), newImport(a), newStatus(a), newExport(a), newSearch(a), newShow(a), newSnapshot(a), newMemory(a), newAudit(a), newCurate(a), newVerify(a), newBackup(a),
		newDoctor(a), newStates(a), newTools(a), newPrompts(a), newVersion(a),
	)
	root.SetHelpCommand(newHelp(root))
	complete(root)
	fitHelp(root, terminalWidth(a.out))
	return root
}

// arguments accepts from least to most arguments.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return nil
		}
		if cmd.HasSubCommands() {
			return unknownCommand(cmd, args[0])
		}
		if len(args) < least {
			return annotator.Errorf(annotator.Misused, "%s: an argument is missing", cmd.CommandPath()).WithAdvice("the usage is: %s", cmd.UseLine())
		}
		err := annotator.Errorf(annotator.Misused, "%s: %q is one argument too many", cmd.CommandPath(), args[most])
		if cmd.Flags().Lookup("db") != nil && ingest.IsDatabase(args[most]) {
			return err.WithAdvice("a database is named with --db: --db %s", quoted(args[most]))
		}
		return err.WithAdvice("the usage is: %s", cmd.UseLine())
	}
}

// anyNumber is the most arguments of a command that takes as many as are given.
const anyNumber = 1 << 20

// unknownCommand says that a command has no subcommand of a name.
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

// flagError puts what is wrong with a flag in our words.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var unfit *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		return unknownFlag(cmd, unknown.GetSpecifiedName())
	case unknown != nil:
		return annotator.Errorf(annotator.Misused, "%s has no flag -%s", cmd.CommandPath(), unknown.GetSpecifiedName()).
			WithAdvice("see `%s --help`; what begins with a dash and is no flag comes behind --", cmd.CommandPath())
	case errors.As(err, &unfit):
		flag := unfit.GetFlag()
		return unfitValue("--"+flag.Name, flag, unfit.GetValue())
	}
	return annotator.Errorf(annotator.Misused, "%s: %w", cmd.CommandPath(), err).WithAdvice("see `%s --help`", cmd.CommandPath())
}

func unknownFlag(cmd *cobra.Command, name string) error {
	err := annotator.Errorf(annotator.Misused, "%s has no flag --%s", cmd.CommandPath(), name)
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := nearest(name, names); near != "" {
		return err.WithAdvice("did you mean --%s?", near)
	}
	return err.WithAdvice("see `%s --help`", cmd.CommandPath())
}

// unfitValue says that a flag's value, wherever it was given, is not of the flag's type.
func unfitValue(where string, flag *pflag.Flag, value string) *annotator.Error {
	wants := "another value"
	switch flag.Value.Type() {
	case "int", "int64":
		wants = "a whole number"
	case "int64Slice":
		wants = "whole numbers with commas between them"
	case "stringSlice":
		wants = "words with commas between them"
	case "float64":
		wants = "a number"
	case "bool":
		wants = "true or false"
	case "duration":
		wants = "a time such as 90s or 30m"
	}
	return annotator.Errorf(annotator.Misused, "%s takes %s, not %q", where, wants, value)
}

// described joins a command's description with its exit statuses.
func described(text string, statuses ...int) string {
	return strings.TrimSpace(text) + "\n\n" + statusHelp(statuses...)
}

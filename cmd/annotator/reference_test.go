package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandReference returns docs/cli.md.
func commandReference() string {
	var b strings.Builder
	b.WriteString(`# The command line

Generated from the commands; ` + "`annotator COMMAND --help`" + ` prints the same text.

Standard output is the answer; standard error is progress and errors. ` +
		"`--json`" + ` prints stable JSON: fields may be added,
but not changed. An error says what was tried, what happened, and what to do next.

## Exit statuses

`)
	_, statuses, _ := strings.Cut(longHelp("", exitMisused, exitHalted, exitViolation, exitQuarantined, exitNoCalls,
		exitInterrupted, exitAborted), "\n  ")
	b.WriteString("```\n" + strings.ReplaceAll(statuses, "\n  ", "\n") + "\n```\n" + `
A shell shows 134 for a process that ended by SIGABRT. Go's runtime does so, with the stacks of the program on standard error,
where no memory is left, and where the program has a fault that it cannot report itself; with the variable GOTRACEBACK it ends
as that says. Two cases look otherwise: on Windows, and where memory is missing before the program has begun, it ends with 2;
a kernel that ends the process for want of memory leaves 137. The next run resumes after all of these.

## Settings

A flag takes precedence over the environment, that over the configuration file, that over the user's own file, that over
the default. The configuration file is the one that --config names, else annotator.yaml in the working folder. The
user's own file is annotator/config.yaml in the system's configuration folder (~/.config on Linux). "annotator init"
writes a file to start from. The keys are the names of the flags with underscores. Keys with a common prefix may be
nested:

    curator: {prompt: shared, batch: 4, off: true}

An annotator.yaml that was only found in the working folder may have been written by others. It may not set
api_key_file, shared_key_file, log_file or events, unless --config names it.

The API key is no flag. It comes from ANNOTATOR_API_KEY, from OPENAI_API_KEY (which is not sent to Anthropic or Google),
or from the file that --api-key-file names. A file that other users can read is refused without --shared-key-file. The
key is sent to an endpoint that a flag, the environment, a file named with --config or the user's own file names; not to
one that only a found annotator.yaml or a database names. A key that is sent without encryption to another machine, or
through a proxy, gets a warning. The command "annotator run --print-config" prints each setting and its source.

| Flag | Environment | Default | Meaning |
|---|---|---|---|
`)
	newSettings().flags.VisitAll(func(f *pflag.Flag) {
		name, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", strings.TrimSpace("--"+f.Name+" "+name),
			inCode(environment(f.Name)...), inCode(f.DefValue), usage)
	})
	b.WriteString("\n## Commands\n")
	a := &app{out: &b, err: &b, lookup: func(string) (string, bool) { return "", false }}
	describeCommands(&b, newRoot(a))
	return b.String()
}

// inCode marks words as code, and omits empty ones.
func inCode(words ...string) string {
	var marked []string
	for _, word := range words {
		if word != "" {
			marked = append(marked, "`"+word+"`")
		}
	}
	return strings.Join(marked, ", ")
}

func describeCommands(b *strings.Builder, parent *cobra.Command) {
	for _, command := range parent.Commands() {
		if command.Name() == "help" {
			continue
		}
		command.InitDefaultHelpFlag()
		about, _, _ := strings.Cut(command.Long, "\n\nExit status:")
		fmt.Fprintf(b, "\n### %s\n\n%s\n\n```\n%s\n\n%s\n```\n", command.CommandPath(), about, command.UseLine(),
			command.Example)
		var own pflag.FlagSet
		var shared []string
		command.Flags().VisitAll(func(f *pflag.Flag) {
			isSetting := newSettings().flags.Lookup(f.Name) != nil && command.Flags().Lookup("config") != nil
			if isSetting {
				shared = append(shared, "--"+f.Name)
			} else if f.Name != "help" {
				own.AddFlag(f)
			}
		})
		if usages := own.FlagUsages(); usages != "" {
			fmt.Fprintf(b, "\n```\n%s```\n", usages)
		}
		if len(shared) > 0 {
			fmt.Fprintf(b, "\nSettings: %s.\n", inCode(shared...))
		}
		describeCommands(b, command)
	}
}

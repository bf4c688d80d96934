package main

import (
	"annotator/curator"
	"annotator/policy"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// complete lets a shell offer what a flag takes, where that is one of a few words or a database.
func complete(cmd *cobra.Command) {
	for _, command := range cmd.Commands() {
		complete(command)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		var err error
		if f.Name == "db" || f.Name == "from-db" {
			err = cmd.MarkFlagFilename(f.Name, "db")
		} else if words := wordsOf(cmd.Name(), f.Name); words != nil {
			err = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
		if err != nil {
			panic(err) // the flag is there
		}
	})
}

// wordsOf are the words that a command's flag takes; nil where they are not few.
func wordsOf(command, flag string) []string {
	switch flag {
	case "format":
		return formatsOf(command)
	case "wire":
		return wireNames()
	case "governance":
		var levels []string
		for _, level := range policy.Levels() {
			levels = append(levels, string(level))
		}
		return levels
	case "compaction-preset":
		return []string{presetAuto, presetMarks}
	case "curator-prompt":
		return []string{string(curator.Shared), string(curator.Replaced)}
	case "accept":
		return acceptable[:]
	case "type":
		return snapshotTypes[:]
	case "status":
		return statusNames()
	}
	return nil
}

func formatsOf(command string) []string {
	switch command {
	case "export":
		return exporterNames()
	case "states":
		return stateFormats[:]
	}
	return formatNames()
}

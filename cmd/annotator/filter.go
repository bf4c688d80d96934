package main

import (
	"slices"
	"strings"

	"annotator"
	"annotator/codex"

	"github.com/spf13/pflag"
)

// filter says which entries a command takes.
type filter struct {
	flags    *pflag.FlagSet
	statuses []string
	tags     []string
}

// allStatuses stands for every status on the command line.
const allStatuses = "all"

func filterFlags(flags *pflag.FlagSet) *filter {
	f := &filter{flags: flags}
	flags.StringSliceVar(&f.statuses, "status", nil, "only entries of this `STATUS`: tentative, confirmed, retired, merged or all (default the live ones)")
	flags.StringSliceVar(&f.tags, "tag", nil, "only entries with this `TAG`; with all, if given again")
	return f
}

// resolve checks the values and gives them the form in which entries have them. No status means the live ones.
func (f *filter) resolve() (chosen []annotator.Status, tags []string, err error) {
	for flag, values := range map[string][]string{"status": f.statuses, "tag": f.tags} {
		if f.flags.Changed(flag) && len(values) == 0 { // as with a variable of the shell that is not set
			return nil, nil, annotator.Errorf(annotator.Misused, "--%s is given, and empty", flag).WithAdvice("leave it out, or say which")
		}
	}
	for _, name := range f.statuses {
		switch status := annotator.Status(name); {
		case name == allStatuses:
			chosen = append(chosen, statuses[:]...)
		case slices.Contains(statuses[:], status):
			chosen = append(chosen, status)
		default:
			return nil, nil, unknownStatus(name)
		}
	}
	tags, err = codex.Tags(f.tags)
	if err != nil {
		return nil, nil, annotator.Errorf(annotator.Misused, "--tag: %w", err)
	}
	return chosen, tags, nil
}

// statusNames are the values of --status.
func statusNames() []string {
	names := []string{allStatuses}
	for _, status := range statuses {
		names = append(names, string(status))
	}
	return names
}

func unknownStatus(name string) error {
	names := statusNames()
	err := annotator.Errorf(annotator.Misused, "there is no status %q", name)
	if near := nearest(name, names); near != "" {
		return err.WithAdvice("did you mean %s?", near)
	}
	return err.WithAdvice("the statuses are %s", strings.Join(names, ", "))
}

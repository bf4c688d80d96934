package main

import (
	"annotator"
	"annotator/codex"

	"github.com/spf13/pflag"
)

// filter selects entries by status and tags.
type filter struct {
	flags    *pflag.FlagSet
	statuses []string
	tags     []string
}

// statuses are all statuses of an entry.
var statuses = [...]annotator.Status{annotator.Tentative, annotator.Confirmed, annotator.Retired, annotator.Merged}

// allStatuses selects every status.
const allStatuses = "all"

func filterFlags(flags *pflag.FlagSet) *filter {
	f := &filter{flags: flags}
	names := append([]string{allStatuses}, texts(statuses[:])...)
	wordsFlag(flags, &f.statuses, "status", names, "only entries of this `STATUS`: tentative, confirmed, retired, merged or all (default: the live ones)")
	flags.StringSliceVar(&f.tags, "tag", nil, "only entries with this `TAG`; repeated: with all of them")
	return f
}

// resolve returns the statuses and the normalised tags. No status stands for the live ones.
func (f *filter) resolve() (chosen []annotator.Status, tags []string, err error) {
	for flag, values := range map[string][]string{"status": f.statuses, "tag": f.tags} {
		if f.flags.Changed(flag) && len(values) == 0 { // for example from an unset variable of the shell
			return nil, nil, annotator.Errorf(annotator.Misused, "--%s is empty", flag).WithAdvice("give a value, or leave it out")
		}
	}
	for _, name := range f.statuses {
		if name == allStatuses {
			chosen = append(chosen, statuses[:]...)
		} else {
			chosen = append(chosen, annotator.Status(name))
		}
	}
	tags, err = codex.Tags(f.tags)
	if err != nil {
		return nil, nil, annotator.Errorf(annotator.Misused, "--tag: %w", err)
	}
	return chosen, tags, nil
}

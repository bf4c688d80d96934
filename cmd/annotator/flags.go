package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"annotator"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// checked is a flag value that accepts only some values of its type.
type checked struct {
	pflag.Value
	accepts string   // for messages
	words   []string // that the flag accepts, for completion and suggestions; nil: not a list of words
	valid   func() bool
}

// Set sets the value, then checks it.
func (c *checked) Set(text string) error {
	err := c.Value.Set(text)
	if err == nil && !c.valid() {
		err = errors.New("not accepted")
	}
	return err
}

// restrict makes a declared flag refuse the values for which valid is false.
func restrict(flags *pflag.FlagSet, name, accepts string, words []string, valid func() bool) {
	flag := flags.Lookup(name)
	flag.Value = &checked{flag.Value, accepts, words, valid}
}

// atLeast gives a declared flag a lower bound.
func atLeast[N int | int64](flags *pflag.FlagSet, value *N, name string, least N) {
	restrict(flags, name, fmt.Sprintf("a whole number of at least %d", least), nil,
		func() bool { return *value >= least })
}

// countFlag declares a flag that takes a number with a lower bound.
func countFlag(flags *pflag.FlagSet, value *int, name string, initial, least int, usage string) {
	flags.IntVar(value, name, initial, usage)
	atLeast(flags, value, name, least)
}

// limitFlag declares --limit, the maximum number of items to read or print.
func limitFlag(flags *pflag.FlagSet, value *int, initial int, usage string) {
	countFlag(flags, value, "limit", initial, 0, usage)
}

// timeFlag declares a flag that takes a time with a lower bound.
func timeFlag(flags *pflag.FlagSet, value *time.Duration, name string, initial, least time.Duration, usage string) {
	flags.DurationVar(value, name, initial, usage)
	accepts := "a time such as 90s or 30m"
	if least > 0 {
		accepts = "a time above 0, such as 90s"
	}
	restrict(flags, name, accepts, nil, func() bool { return *value >= least })
}

// wordFlag declares a flag that takes one of some words.
func wordFlag(flags *pflag.FlagSet, value *string, name string, words []string, initial, usage string) {
	flags.StringVar(value, name, initial, usage)
	restrict(flags, name, alternatives(words), words, func() bool { return slices.Contains(words, *value) })
}

// wordsFlag declares a flag that takes a list of some words.
func wordsFlag(flags *pflag.FlagSet, values *[]string, name string, words []string, usage string) {
	flags.StringSliceVar(values, name, nil, usage)
	flags.Lookup(name).DefValue = "" // the help would show []
	restrict(flags, name, alternatives(words), words, func() bool { return len(without(*values, words)) == 0 })
}

// jsonFlag declares --json.
func jsonFlag(flags *pflag.FlagSet, value *bool) { flags.BoolVar(value, "json", false, "print JSON") }

// alternatives joins words: "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	return strings.TrimPrefix(strings.Join(words[:last], ", ")+" or "+words[last], " or ")
}

// without returns the items of a list that are not in another; never nil.
func without(list, other []string) []string {
	return slices.DeleteFunc(append([]string{}, list...),
		func(item string) bool { return slices.Contains(other, item) })
}

// texts converts typed words to strings.
func texts[S ~string](words []S) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = string(word)
	}
	return list
}

// invalidValue reports a value that its flag does not accept. The value came from where: a flag, a variable or a line
// of a file.
func invalidValue(where string, flag *pflag.Flag, value string) error {
	byType := map[string]string{
		"int": "a whole number", "int64": "a whole number", "int64Slice": "whole numbers with commas between them",
		"float64": "a number",
		"bool":    "true or false", "duration": "a time such as 90s or 30m",
	}
	accepts, near := cmp.Or(byType[flag.Value.Type()], "another value"), ""
	if c, ok := flag.Value.(*checked); ok {
		accepts, near = c.accepts, nearest(value, c.words)
	}
	err := annotator.Errorf(annotator.Misused, "%s takes %s, not %q", where, accepts, value)
	if near != "" {
		return err.WithAdvice("did you mean %s?", near)
	}
	return err
}

// invalidSetting reports a setting that is invalid by itself or together with another.
func invalidSetting(name, accepts string, value any) error {
	return annotator.Errorf(annotator.Misused, "--%s takes %s, not %v", name, accepts, value)
}

// flagError rewords the errors of pflag.
func flagError(cmd *cobra.Command, err error) error {
	if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
		return invalidValue("--"+invalid.GetFlag().Name, invalid.GetFlag(), invalid.GetValue())
	}
	help := fmt.Sprintf("see `%s --help`", cmd.CommandPath())
	unknown := (*pflag.NotExistError)(nil)
	if !errors.As(err, &unknown) {
		return annotator.Errorf(annotator.Misused, "%w", err).WithAdvice("%s", help)
	}
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		return annotator.Errorf(annotator.Misused, "there is no flag -%s", name).
			WithAdvice("%s; put an argument that begins with a dash after --", help)
	}
	if near := nearest(name, flagNames(cmd.Flags())); near != "" {
		help = "did you mean --" + near + "?"
	}
	return annotator.Errorf(annotator.Misused, "there is no flag --%s", name).WithAdvice("%s", help)
}

func flagNames(flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// nearest returns the name that is most like a mistyped one, or "" where more than a third of the letters differ.
func nearest(typed string, names []string) string {
	best, least := "", len(typed)/3+1
	for _, name := range names {
		if d := editDistance(typed, name); d < least || d == least && best == "" {
			best, least = name, d
		}
	}
	return best
}

// editDistance returns the Damerau-Levenshtein distance of two words, with adjacent transpositions only.
func editDistance(from, to string) int {
	a, b := []rune(from), []rune(to)
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range b {
			replaced := row[j]
			if a[i] != b[j] {
				replaced++
			}
			next[j+1] = min(replaced, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

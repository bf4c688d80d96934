package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"annotator"
)

// adviceFor is what a user can do, by the reason of an error, else by its kind. No package below this one names a command
// or a flag. %s is a value of the error; %q is one as a word of a command.
var adviceFor = map[annotator.Reason]string{
	annotator.ReasonOtherPath: "wait for that to end, and open the database by one path only: in a container, mount its folder and not the file alone",
	annotator.ReasonLinked:    "remove the other names, or copy it with `annotator backup --db %q COPY` and use the copy",
	annotator.ReasonNoLocks:   "put the database on a disk of this machine, and copy it with `annotator backup`",
	annotator.ReasonTakenOver: "see that one process at a time writes to it and that nothing removes its lock file; check it with `annotator verify`, then run again",
	annotator.ReasonTornCopy:  "copy the original again, with `annotator backup`: it copies a database as it is at one moment, also during a run",
	annotator.ReasonLogMissing: "put the log back beside the file, as %[1]q-wal; if it is lost, `annotator backup --db %[1]q COPY` saves what the " +
		"file itself has, and a run continues with --db COPY",
	annotator.ReasonEmptyDatabase: "put the database back in its place, or remove %[1]q to have a run begin anew there",
}

// advise returns an error with advice for the outermost reason, or kind, in its tree that has some. Advice that an error
// outside of that has is left.
func advise(err error) error {
	for e, rest := (*annotator.Error)(nil), err; errors.As(rest, &e); rest = e.Err {
		if e.Advice != "" {
			return err
		}
		text := advice(cmp.Or(e.Reason, annotator.Reason(e.Kind)), e.Args)
		if text == "" {
			continue
		}
		if annotator.KindOf(err) == annotator.Halted && !strings.Contains(text, "run again") {
			text += ", then run again to resume"
		}
		if top, ok := err.(*annotator.Error); ok { //nolint:errorlint // the outermost gets the advice
			return top.WithAdvice("%s", text)
		}
		return annotator.Errorf(kindOf(err), "%w", err).WithAdvice("%s", text)
	}
	return err
}

// advice returns the advice for a reason; "" where there is none.
func advice(reason annotator.Reason, values []any) string {
	format, known := adviceFor[reason]
	if !known {
		return ""
	}
	words := make([]any, len(values))
	for i, value := range values {
		words[i] = adviceValue(fmt.Sprint(value))
	}
	return fmt.Sprintf(format, words...)
}

// adviceValue is a value in advice: %q quotes it for a shell.
type adviceValue string

// Format implements fmt.Formatter.
func (v adviceValue) Format(s fmt.State, verb rune) {
	text := string(v)
	if verb == 'q' {
		text = quoted(text)
	}
	_, _ = io.WriteString(s, text)
}

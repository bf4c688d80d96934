package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"annotator"
)

// The exit statuses.
const (
	exitDone        = 0
	exitInternal    = 1
	exitMisused     = 2
	exitHalted      = 3
	exitViolation   = 4
	exitQuarantined = 5
	exitNoCalls     = 6
	exitInterrupted = 130
	exitAborted     = 134 // see abortOnFatalErrors; no error has it
)

// exitStatus maps an error to its exit status. It is the only place that does.
func exitStatus(err error) int {
	if err == nil {
		return exitDone
	}
	switch kindOf(err) {
	case annotator.Misused, annotator.NotFound:
		return exitMisused
	case annotator.Halted, annotator.Bounded, annotator.InUse, annotator.Storage,
		annotator.Transient, annotator.Overloaded, annotator.PromptTooLong, annotator.Malformed, annotator.Refused,
		annotator.Unreachable,
		annotator.Misconfigured, annotator.Unsafe:
		return exitHalted
	case annotator.Violation:
		return exitViolation
	case annotator.Quarantined:
		return exitQuarantined
	case annotator.NoCalls:
		return exitNoCalls
	case annotator.Interrupted:
		return exitInterrupted
	}
	return exitInternal
}

// systemFailure gives errors of the operating system the kind Storage: they do not depend on what the user named. It
// returns other errors unchanged.
func systemFailure(err error) error {
	advice := ""
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		advice = "this process may open too few files: raise the limit with `ulimit -n`, then run again"
	case errors.Is(err, syscall.EIO):
		advice = "check the disk and its mount, then run again"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		advice = "free space on the disk, then run again"
	}
	if advice == "" || exitStatus(err) == exitHalted && adviceIn(err) != "" {
		return err
	}
	what := err
	if e, ok := err.(*annotator.Error); ok { //nolint:errorlint // the text includes the advice of wrapped errors
		what = e.Err
	}
	return annotator.Errorf(annotator.Storage, "%w", what).WithAdvice("%s", advice)
}

// kindOf returns the kind of the outermost annotator.Error, else the bare kind that a fault of an endpoint wraps.
func kindOf(err error) annotator.Kind {
	if kind := annotator.KindOf(err); kind != "" {
		return kind
	}
	var kind annotator.Kind
	errors.As(err, &kind)
	return kind
}

// longHelp joins a command's description with its exit statuses.
func longHelp(text string, statuses ...int) string {
	meaning := map[int]string{
		exitDone:        "done",
		exitInternal:    "internal error",
		exitMisused:     "wrong use or configuration, or nothing found by that name",
		exitHalted:      "halted, or the database is in use or cannot be read; run again when the cause is fixed",
		exitViolation:   "a violation was found",
		exitQuarantined: "finished, but scenes were quarantined",
		exitNoCalls:     "finished, but the model never made a call, in any scene of the whole run",
		exitInterrupted: "interrupted",
		exitAborted: "aborted: no memory is left, a fault that the program cannot report, SIGQUIT or SIGABRT; run " +
			"again to resume",
	}
	var b strings.Builder
	b.WriteString(strings.TrimSpace(text) + "\n\nExit status:")
	for _, status := range append([]int{exitDone, exitInternal}, statuses...) {
		fmt.Fprintf(&b, "\n  %-4d %s", status, meaning[status])
	}
	return b.String()
}

// say prints a message on standard error.
func (a *app) say(text string) { fmt.Fprintln(a.err, wrapLines(oneLine(text), terminalWidth(a.err))) }

// printError prints what was tried and what happened, and on a second line what to do next.
func (a *app) printError(err error) {
	const head = "annotator: "
	err = advise(err)
	what, advice := oneLine(err.Error()), adviceIn(err)
	what, isLast := strings.CutSuffix(what, "; "+advice)
	printIndented(a.err, head, what)
	if isLast && advice != "" {
		printIndented(a.err, head, advice)
	}
}

// adviceIn returns the advice of the outermost error that has one; "" if none has.
func adviceIn(err error) string {
	for e := (*annotator.Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Advice != "" {
			return oneLine(e.Advice)
		}
	}
	return ""
}

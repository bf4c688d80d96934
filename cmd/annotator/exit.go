package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"

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
	exitInterrupted = 130
)

// exitStatus is the one place where an error becomes an exit status.
func exitStatus(err error) int {
	if err == nil {
		return exitDone
	}
	switch kindOf(err) {
	case annotator.Misused, annotator.NotFound:
		return exitMisused
	case annotator.Halted, annotator.InUse, annotator.Storage,
		annotator.Transient, annotator.Overloaded, annotator.PromptTooLong, annotator.Malformed, annotator.Refused, annotator.Unreachable,
		annotator.Misconfigured, annotator.Unsafe:
		return exitHalted
	case annotator.Violation:
		return exitViolation
	case annotator.Quarantined:
		return exitQuarantined
	case annotator.Interrupted:
		return exitInterrupted
	}
	return exitInternal
}

// kindOf finds the kind of an error: the outermost one's, or the bare kind that an endpoint's fault is made of.
func kindOf(err error) annotator.Kind {
	if kind := annotator.KindOf(err); kind != "" {
		return kind
	}
	var kind annotator.Kind
	errors.As(err, &kind)
	return kind
}

// statusHelp lists exit statuses for a command's help.
func statusHelp(statuses ...int) string {
	meaning := map[int]string{
		exitDone:        "done",
		exitInternal:    "internal error",
		exitMisused:     "wrong use or configuration, or nothing there by that name",
		exitHalted:      "halted, or the database is in use or cannot be read; run again when that is mended",
		exitViolation:   "a violation was found",
		exitQuarantined: "finished, but scenes were quarantined",
		exitInterrupted: "interrupted",
	}
	var b strings.Builder
	b.WriteString("Exit status:")
	for _, status := range append([]int{exitDone, exitInternal}, statuses...) {
		fmt.Fprintf(&b, "\n  %-4d %s", status, meaning[status])
	}
	return b.String()
}

// complain prints an error: what was tried and what happened, and on a second line what to do next.
func (a *app) complain(err error) {
	what, advice := err, ""
	if e, ok := err.(*annotator.Error); ok { //nolint:errorlint // advice deeper down is part of the text
		what, advice = e.Err, e.Advice
	}
	fmt.Fprintf(a.err, "annotator: %s\n", oneLine(what.Error()))
	if advice != "" {
		fmt.Fprintf(a.err, "annotator: %s\n", oneLine(advice))
	}
}

// untilSignal runs something that a signal ends. Whatever it left half done, it has to clear away when its context ends.
func untilSignal(ctx context.Context, body func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(ctx, interrupts()...)
	defer stop()
	err := body(ctx)
	if err != nil && ctx.Err() != nil {
		return annotator.Errorf(annotator.Interrupted, "interrupted")
	}
	return err
}

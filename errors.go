package annotator

import (
	"errors"
	"fmt"
)

// Kind classifies an error. A kind is itself an error, so errors.Is(err, annotator.Transient) tests for it. Only the
// retry policy and the exit status depend on the kind. Kinds are stored: their text is part of the database's contents.
type Kind string

// The kinds of failures of an endpoint.
const (
	Transient     Kind = "transient"       // the same request may succeed: retry
	Overloaded    Kind = "overloaded"      // the server is busy or loading its model: wait
	PromptTooLong Kind = "prompt too long" // the request is too long: make it shorter
	Malformed     Kind = "malformed"       // the reply cannot be used: ask again
	Refused       Kind = "refused"         // this request will never succeed: quarantine the scene
	Unreachable   Kind = "unreachable"     // no server answers: wait, then halt
	Misconfigured Kind = "misconfigured"   // credentials, model name or server flags: halt
	Unsafe        Kind = "unsafe"          // redirects, endless replies: halt
)

// The kinds of other failures.
const (
	Misused     Kind = "misused"     // wrong use or configuration
	NotFound    Kind = "not found"   // no such file, entry or post
	InUse       Kind = "held"        // another process runs on this database
	Halted      Kind = "halted"      // stopped before the end; run again to resume
	Violation   Kind = "violation"   // an invariant does not hold
	Quarantined Kind = "quarantined" // finished, but scenes were refused
	NoCalls     Kind = "no calls"    // finished, but the model never made a call
	Interrupted Kind = "interrupted" // stopped by a signal
	Bounded     Kind = "bounded"     // stopped before the end, because a bound of the run was reached
	Storage     Kind = "storage"     // a database failed; the last commit may or may not have taken effect
)

// Error makes a kind an error.
func (k Kind) Error() string { return string(k) }

// Error is a failure with its kind, and what to do about it, if known: advice or a reason. The program that knows its
// commands and flags makes advice from the reason.
type Error struct {
	Kind   Kind
	Err    error  // what was tried and what happened, in lower case; never nil
	Advice string // what to do next; names no command and no flag, unless the program wrote it; may be empty
	Reason Reason // may be empty
	Args   []any  // values that advice for the reason names
}

// Error returns the failure and the advice in one line.
func (e *Error) Error() string {
	if e.Advice == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + "; " + e.Advice
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error { return []error{e.Kind, e.Err} }

// Errorf returns an error of a kind. Text and cause are formatted as by fmt.Errorf.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// WithAdvice returns a copy of the error that says what to do next.
func (e *Error) WithAdvice(format string, args ...any) *Error {
	return &Error{Kind: e.Kind, Err: e.Err, Advice: fmt.Sprintf(format, args...)}
}

// WithReason returns a copy of the error with a reason, and the values that advice for it names.
func (e *Error) WithReason(reason Reason, args ...any) *Error {
	return &Error{Kind: e.Kind, Err: e.Err, Reason: reason, Args: args}
}

// KindOf returns the kind of the outermost Error in err's tree, or "" if there is none.
func KindOf(err error) Kind {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

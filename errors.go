package annotator

import (
	"errors"
	"fmt"
)

// Kind says what sort of failure an error is. A kind is itself an error, so that errors.Is(err, annotator.Transient) asks
// for it. Two switches read the kind of an error and nothing else does: the runner's retry policy and the exit status.
type Kind string

// What can be wrong with the answer of an endpoint.
const (
	Transient     Kind = "transient"     // the same request may succeed: retry
	Overloaded    Kind = "overloaded"    // the server says when, or is loading: wait
	PromptTooLong Kind = "shrink"        // the request is too long: make it shorter
	Malformed     Kind = "malformed"     // the reply cannot be used: ask again
	Refused       Kind = "refused"       // this request will never succeed: quarantine the scene
	Unreachable   Kind = "gone"          // nobody answers: wait, then halt
	Misconfigured Kind = "misconfigured" // credentials, model name or server flags: halt
	Unsafe        Kind = "hostile"       // redirects, endless replies: halt
)

// What can be wrong elsewhere.
const (
	Misused     Kind = "misused"     // wrong use or configuration
	NotFound    Kind = "not found"   // no such file, entry or post
	InUse       Kind = "held"        // somebody else runs on this database
	Halted      Kind = "halted"      // stopped before the end; run again to resume
	Violation   Kind = "violation"   // an invariant does not hold
	Quarantined Kind = "quarantined" // finished, but scenes were refused
	Interrupted Kind = "interrupted" // stopped by a signal
	Storage     Kind = "storage"     // a database failed; whether the last commit took place is for a new reading to tell
)

// Error makes a kind an error.
func (k Kind) Error() string { return string(k) }

// Error is a failure with its kind and, where there is one, what the user can do about it.
type Error struct {
	Kind   Kind
	Err    error  // what was tried and what happened, in lower case; never nil
	Advice string // what to do next; may be empty
}

// Error gives the whole in one line.
func (e *Error) Error() string {
	if e.Advice == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + "; " + e.Advice
}

// Unwrap gives errors.Is and errors.As the kind and the cause.
func (e *Error) Unwrap() []error { return []error{e.Kind, e.Err} }

// Errorf returns an error of a kind, its text and cause as with fmt.Errorf.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// WithAdvice returns the error with a word on what to do next.
func (e *Error) WithAdvice(format string, args ...any) *Error {
	return &Error{Kind: e.Kind, Err: e.Err, Advice: fmt.Sprintf(format, args...)}
}

// KindOf returns the kind of the outermost Error in err's tree, or "" where there is none.
func KindOf(err error) Kind {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

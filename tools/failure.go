package tools

import (
	"errors"
	"fmt"

	"annotator"
	"annotator/codex"
)

// The codes of a failed call. Others are those of codex.Refusal and of package policy.
const (
	InvalidJSON      = "INVALID_JSON"      // the arguments are not a JSON object
	InvalidArguments = "INVALID_ARGUMENTS" // the arguments do not fit the schema
	UnknownTool      = "UNKNOWN_TOOL"
	ExecutionError   = "EXECUTION_ERROR"
	NotFound         = "NOT_FOUND"
	Ambiguous        = "AMBIGUOUS"    // several live entries have that name
	AskLimit         = "ASK_LIMIT"    // the scene has asked a person often enough
	Duplicate        = "DUPLICATE"    // another live entry has that name
	OutOfScope       = "OUT_OF_SCOPE" // the run is limited to other kinds of entries
	Empty            = "EMPTY"        // an entry without facts
	UpdateFailed     = "UPDATE_FAILED"
	DeleteFailed     = "DELETE_FAILED"
	EmptyRange       = "EMPTY_RANGE"
	QuoteNotFound    = "QUOTE_NOT_FOUND" // the post does not contain the quotation
	TooLong          = "TOO_LONG"
	Unsettled        = "UNSETTLED"        // a fact does not bear on the one that it is to confirm or to end
	Truncated        = "TRUNCATED"        // the reply was truncated in this call, so it did not run
	RoundLimit       = "ROUND_LIMIT"      // the scene has used all its rounds of tool calls
	CallLimit        = "CALL_LIMIT"       // the reply contains more calls than may run
	Repeated         = "REPEATED"         // the same call was answered before and nothing has changed since
	NotMentioned     = "NOT_MENTIONED"    // a destructive edit of an entry that the scene does not name
	EditCap          = "EDIT_CAP"         // the scene has used all its destructive edits
	SummonActive     = "SUMMON_ACTIVE"    // a conversation with a snapshot is already open
	NoSummon         = "NO_SUMMON"        // no conversation with a snapshot is open
	SummonLimit      = "SUMMON_LIMIT"     // the scene has used all its questions to snapshots
	SummonReadOnly   = "SUMMON_READ_ONLY" // the model at the snapshot called a tool
	RestoreFailed    = "RESTORE_FAILED"   // the snapshot cannot be asked
)

// Failure is a mistake of the model in a call, as a handler's error. The model reads it as the call's answer.
type Failure struct { //nolint:errname // a failure is an answer first
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Errors  []string `json:"errors,omitempty"`  // all errors of the arguments
	Tools   []string `json:"tools,omitempty"`   // the existing tools
	Post    int64    `json:"post_id,omitempty"` // id of the requested post
	// NotTaken are the refused parts of an edit, if there are several.
	NotTaken []refusedPart    `json:"not_taken,omitempty"`
	Entry    *annotator.Entry `json:"-"` // the entry concerned
	// Suggests are what was refused because a person has locked it, as a person can do it.
	Suggests []annotator.Operation `json:"-"`
}

// failf returns a failure with a formatted message.
func failf(code, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error returns code and message.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// ErrorResult returns the answer to a call that does not run.
func ErrorResult(code, message string) Result {
	return (&Failure{Code: code, Message: message}).result(maxAnswer - frame)
}

// failureOf returns the *Failure or *codex.Refusal in an error's tree as a *Failure; nil if there is none.
func failureOf(err error) *Failure {
	if f := (*Failure)(nil); errors.As(err, &f) {
		return f
	}
	if r := (*codex.Refusal)(nil); errors.As(err, &r) {
		return &Failure{Code: r.Code, Message: r.Message}
	}
	return nil
}

// failureView is a failure as an answer shows it.
type failureView struct {
	Failure
	EntryID int64      `json:"entry_id,omitempty"`
	Entry   *entryView `json:"entry,omitempty"`
}

// result returns the answer, in at most room characters.
func (f *Failure) result(room int) Result {
	view := failureView{Failure: *f}
	view.Message = truncate(f.Message, room/2)
	result := Result{Error: f.Code, Suggests: f.Suggests}
	if f.Entry != nil {
		shown := viewEntry(f.Entry, room-jsonLength(view), "")
		view.EntryID, view.Entry = f.Entry.ID, &shown
		result.Shows = shownEntries(f.Entry, &shown)
	}
	result.Content = annotator.EncodeJSON(struct {
		OK    bool        `json:"ok"`
		Error failureView `json:"error"`
	}{Error: view})
	return result
}

package tools

import (
	"errors"

	"annotator"
	"annotator/codex"
)

// The codes of a failed call, beside those of codex.Refusal (EMPTY, TOO_LONG, LOCKED, NARROWER and RETIRED) and of package policy.
const (
	InvalidJSON      = "INVALID_JSON"      // the arguments are no JSON object
	InvalidArguments = "INVALID_ARGUMENTS" // they are one that does not fit the schema
	UnknownTool      = "UNKNOWN_TOOL"
	ExecutionError   = "EXECUTION_ERROR"
	NotFound         = "NOT_FOUND"
	Duplicate        = "DUPLICATE" // another live entry goes by that name
	UpdateFailed     = "UPDATE_FAILED"
	DeleteFailed     = "DELETE_FAILED"
	EmptyRange       = "EMPTY_RANGE"
	QuoteNotFound    = "QUOTE_NOT_FOUND" // the quotation does not stand where it is said to
	TooLong          = "TOO_LONG"
	Truncated        = "TRUNCATED"     // the reply was cut, and its calls were not run
	RoundLimit       = "ROUND_LIMIT"   // the scene has had its rounds of tools
	CallLimit        = "CALL_LIMIT"    // the reply holds more calls than are run
	Repeated         = "REPEATED"      // the same call was answered before, and nothing has changed since
	NotMentioned     = "NOT_MENTIONED" // the scene does not name the entry, and may take nothing away from it
	EditCap          = "EDIT_CAP"      // the scene has taken away as much as one may
	SummonActive     = "SUMMON_ACTIVE"
	NoSummon         = "NO_SUMMON"
	SummonLimit      = "SUMMON_LIMIT"     // the scene has asked its questions
	SummonReadOnly   = "SUMMON_READ_ONLY" // the summoned model wanted to run a tool
	RestoreFailed    = "RESTORE_FAILED"   // a snapshot cannot be asked
)

// Failure is what the model did wrong, in words that let it do better. A handler returns it as its error.
type Failure struct { //nolint:errname // a failure is an answer before it is an error
	Code    string
	Message string
	Errors  []string         // all that is wrong with the arguments
	Tools   []string         // the tools that exist
	Post    int64            // the post that was tried
	Entry   *annotator.Entry // the entry that stands in the way
}

// Error gives code and message.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// Refuse returns the answer to a call that is not to be run.
func ErrorResult(code, message string) Result {
	return (&Failure{Code: code, Message: message}).result()
}

func failureOf(err error) *Failure {
	if f := (*Failure)(nil); errors.As(err, &f) {
		return f
	}
	if r := (*codex.Refusal)(nil); errors.As(err, &r) {
		return &Failure{Code: r.Code, Message: r.Message}
	}
	return nil
}

type failureView struct {
	Code    string     `json:"code"`
	Message string     `json:"message"`
	Errors  []string   `json:"errors,omitempty"`
	Tools   []string   `json:"tools,omitempty"`
	PostID  int64      `json:"post_id,omitempty"`
	EntryID int64      `json:"entry_id,omitempty"`
	Entry   *entryView `json:"entry,omitempty"`
}

func (f *Failure) result() Result {
	view := failureView{
		Code: f.Code, Message: truncate(f.Message, maxContent/2), Errors: f.Errors, Tools: f.Tools, PostID: f.Post,
	}
	result := Result{Error: f.Code}
	if f.Entry != nil {
		shown := viewEntry(f.Entry, maxContent-jsonLength(view))
		view.EntryID, view.Entry = f.Entry.ID, &shown
		result.Shows = shownEntries(f.Entry, &shown)
	}
	result.Content = encode(struct {
		OK    bool        `json:"ok"`
		Error failureView `json:"error"`
	}{Error: view})
	return result
}

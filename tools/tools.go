// Package tools implements the tools of the model: search and edit the glossary, read posts again, ask snapshots.
//
// A tool is declared once. Its schema is derived from the struct of its arguments, and its description is the .md file
// next to it. Its handler is a thin layer over package codex. A Registry parses a call once, when its reply comes: it
// reads the arguments strictly and validates them. It runs what it has parsed. A mistake of the model becomes an answer
// with an error code. Other failures are Go errors.
//
// A model that cannot call tools writes its changes into its reply as a block of codex updates. ParseUpdates reads the
// elements of the block as calls, and Resolve finds the entry that one changes.
package tools

import (
	"context"

	"annotator"
	"annotator/codex"
)

// Permission says how a tool can change the codex.
type Permission string

// The permissions. Each includes the ones before it.
const (
	Declares Permission = "declares" // declares an intent
	Reads    Permission = "reads"
	Asks     Permission = "asks"    // asks a person, and changes no entry
	Summons  Permission = "summons" // asks the model at a snapshot; runs outside any transaction
	Writes   Permission = "writes"  // creates and changes entries
	Retires  Permission = "retires" // retires entries
)

// Glossary gives a call access to the codex.
type Glossary interface {
	// Entry returns the entry with an id, live or not, without its closed claims; annotator.NotFound if there is none.
	Entry(ctx context.Context, id int64) (*annotator.Entry, error)
	// WholeEntry is Entry with all claims.
	WholeEntry(ctx context.Context, id int64) (*annotator.Entry, error)
	// Named returns the live entry with the normalised full name, else those with the term or alias, the oldest first.
	Named(ctx context.Context, name string) ([]annotator.Entry, error)
	// Search returns the entries that match a query, best first.
	Search(ctx context.Context, query annotator.Query) ([]annotator.Entry, error)
	// Quoting returns the live entries with quotations of a post, by id, without their closed claims.
	Quoting(ctx context.Context, post int64) ([]annotator.Entry, error)
	// Revise writes revisions of one entry, of a new one for entry id 0, and returns the resulting entry.
	Revise(ctx context.Context, revisions []annotator.Revision) (*annotator.Entry, error)
	// Hidden returns the entries with a name that a person has taken out of the codex, by id.
	Hidden(ctx context.Context, name string) ([]annotator.Entry, error)
	// Questions returns the questions to people, by their numbers.
	Questions(ctx context.Context) ([]annotator.Question, error)
}

// Posts gives a call access to the corpus.
type Posts interface {
	// Post returns the post with an id; annotator.NotFound if there is none.
	Post(ctx context.Context, id int64) (*annotator.Post, error)
	// Around returns a post with up to n posts of its thread on either side, in order; annotator.NotFound if none.
	Around(ctx context.Context, id int64, n int) ([]annotator.Post, error)
	// Range returns at most limit posts of a thread, from one id through another, with a tag if there is one. An id of
	// 0 is the thread's start or end. annotator.NotFound if the thread lacks from or to.
	Range(ctx context.Context, thread, from, to int64, tag string, limit int) ([]annotator.Post, error)
}

// Env is the environment of a call.
type Env struct {
	Glossary  Glossary
	Posts     Posts
	Scene     *annotator.Scene // the current scene; its place dates the revisions; never nil
	Actor     annotator.Actor  // the author of the revisions
	Snapshots Summoner         // for the tools that ask snapshots; nil without them

	// Kinds are the tags of which an entry needs one. Nil allows all entries.
	Kinds []string

	// Fields are those that the user wants entries to have.
	Fields []codex.UserField

	// MaxAnswer is how many characters an answer may have. There is a limit without it, and a least length of an answer
	// that a model can use; 0: that limit.
	MaxAnswer int

	// CheckEdit checks an edit of an entry before it is written, and rejects it with a *Failure. Nil allows all edits.
	CheckEdit func(ctx context.Context, edit *CheckedEdit) error

	// Support returns the quotations of a fact of an entry as they are stored, and the words of the fact that they lack.
	// The posts are those of the quotations and around them. Nil: the quotations stay as they are, and lack nothing.
	Support func(ctx context.Context, f *codex.Fact, e *annotator.Entry, posts []annotator.Post) (
		quotes []annotator.Evidence, lacks []string, err error)

	// Settles reports whether a fact of an entry says anything of what a claim of an entry says. Nil: every fact does.
	Settles func(ctx context.Context, e *annotator.Entry, claim *annotator.Claim, of *annotator.Entry,
		fact *annotator.Claim) (bool, error)

	// Repeats reports whether a fact of another entry says what a fact of an entry says. It returns the former with a
	// link to the entry; empty if it does not say that. Nil takes all facts to differ.
	Repeats func(ctx context.Context, fact string, of *annotator.Entry, told string, by *annotator.Entry) (string, error)

	// General reports whether the story calls several people by a name. Nil takes all names to be of one.
	General func(ctx context.Context, name string) (bool, error)

	// Readable reports whether the model may read a post that is not in Scene: later posts are hidden. Nil allows all.
	Readable func(ctx context.Context, post *annotator.Post) (bool, error)
}

// CheckedEdit is a part of a call that changes an entry.
type CheckedEdit struct {
	Before    *annotator.Entry // as it is before the call
	Now       *annotator.Entry // with the parts of the call that were taken so far
	Into      *annotator.Entry // with which it becomes one; nil unless it is merged
	Told      *annotator.Claim // of another entry, by which a fact ends; nil for none
	Revisions []annotator.Revision
}

// Result is the answer of a call.
type Result struct {
	Content string            // JSON, for the model
	Error   string            // the error's code; empty if the call succeeded
	Shows   []annotator.Shown // the entries whose whole definition is in Content
	Changed []int64           // ids of the entries that the call changed

	Question *annotator.Question   // that the call asks a person; nil for none
	Suggests []annotator.Operation // what was refused because a person has locked it, as a person can do it
}

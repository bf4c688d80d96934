// Package tools holds what a model may do: look things up in the glossary, write to it, and read posts again.
//
// A tool is declared once. Its schema comes from the struct of its arguments, its text from the .md file beside it, its
// permission stands in the same line, and its handler is a thin layer over the rules of package codex. A Registry runs
// calls: the arguments are read strictly, checked with all errors named, and handed to the handler. What the model did
// wrong goes back to it as an answer with an error code; only what is not the model's fault is a Go error.
//
// A model that cannot call tools writes its changes into its reply as a block of codex updates. Updates reads them, and
// Update.Call makes each an ordinary call.
package tools

import (
	"context"

	"annotator"
)

// Permission says what a tool can do to the codex.
type Permission string

// The permissions, each more than the one before.
const (
	Declares Permission = "declares" // says what the model is about to do
	Reads    Permission = "reads"
	Summons  Permission = "summons" // asks the model as it was; runs outside of any transaction
	Writes   Permission = "writes"  // makes and changes entries
	Retires  Permission = "retires" // takes entries out of the codex
)

// Glossary is the codex that a call works on.
type Glossary interface {
	// Entry returns the entry with an id, live or not; annotator.NotFound if there is none.
	Entry(ctx context.Context, id int64) (*annotator.Entry, error)
	// Lookup returns the live entry of which the name is the full name or, failing that, the term or an alias, as
	// codex.Normalize compares them; annotator.NotFound if there is none.
	Lookup(ctx context.Context, name string) (*annotator.Entry, error)
	// Search returns the entries that a query finds, best first.
	Search(ctx context.Context, query annotator.Query) ([]annotator.Entry, error)
	// Revise writes the revisions of one entry, at least one, and returns the entry as it is then. An entry id of 0 in the
	// revisions means a new entry.
	Revise(ctx context.Context, revisions []annotator.Revision) (*annotator.Entry, error)
}

// Posts is the corpus as a call reads it.
type Posts interface {
	// Post returns the post with an id; annotator.NotFound if there is none.
	Post(ctx context.Context, id int64) (*annotator.Post, error)
	// Around returns a post with up to n posts of its thread on either side, in order; annotator.NotFound if there is no
	// such post.
	Around(ctx context.Context, id int64, n int) ([]annotator.Post, error)
	// Range returns the first posts of a thread, in order, at most limit: from the post with id from to the one with id
	// to, both included and each 0 for an open end; with a tag, only posts that carry it. annotator.NotFound if the thread
	// lacks one of the two.
	Range(ctx context.Context, thread, from, to int64, tag string, limit int) ([]annotator.Post, error)
}

// Env is what a call runs in.
type Env struct {
	Glossary  Glossary
	Posts     Posts
	Scene     *annotator.Scene // what is being read; its place dates the revisions. Never nil
	Actor     annotator.Actor  // who makes them
	Snapshots Summoner         // for the tools of Snapshots; nil where there are none

	// Guard is asked before an edit of an entry is written, and refuses it with a *Failure. Nil lets all pass.
	CheckEdit func(ctx context.Context, e *annotator.Entry, revisions []annotator.Revision) error

	// Known tells which posts may be shown: a reader must not know what the story tells later. Nil shows all. The posts of
	// Scene may always be shown.
	Readable func(ctx context.Context, post *annotator.Post) (bool, error)
}

// Result is what a call answers.
type Result struct {
	Content string            // the JSON that the model gets
	Error   string            // the error's code; empty where the call did what it was asked to
	Shows   []annotator.Shown // the entries whose definition Content holds in full
	Changed []int64           // ids of the entries that the call changed
	Coerced []string          // the arguments that came as a string and were read as what the schema asks for
}

// Package annotator defines the terms of a program that reads a very long story and keeps a codex of it.
//
// A story is stored in a corpus: a SQLite file of threads and posts, opened read-only. The program reads it scene by
// scene in story order. A Scene is a contiguous run of posts by the story's author. For each scene the model receives
// the text, calls tools that maintain the glossary, and ends with a line of text. That exchange is a turn.
//
// Everything a run learns is appended to a journal of Trace rows. Everything else is computed from the journal. A
// message is committed before it is sent, and the effect of a tool commits together with the row that records it. A
// run that was killed therefore resumes after the last row. The model's context is a fold over the journal: the
// system prompt, the turns that are still in the window, and the current scene. Its bytes only grow at the end until
// a compaction removes turns. A Snapshot is a position in the journal from which the same fold gives the same bytes.
//
// The glossary consists of entries: a term with its aliases, and a definition made of claims. A claim is a sentence
// with its kind, the Place in the story from which it holds, and the quotations that support it. Only revisions
// change an entry, and nothing is deleted. The tables are the sum of the revisions, so that the codex can be
// reconstructed as of any place in the story.
//
// The state machine of a run is one table, Transitions. The handler of a state returns an Event, and only the table
// names the next State. Observers subscribe to the Bus.
package annotator

// Package annotator holds the nouns of a program that reads a very long story and leaves a codex of it behind.
//
// A story is a corpus: a SQLite file of threads and posts, opened for reading only. It is read scene by scene, in the order
// in which it is told; a Scene is a contiguous run of posts by the one who tells the story. For each scene a model is shown
// the text, calls tools that keep the glossary, and ends with a line of text. That exchange is a turn.
//
// Everything a run learns is appended to a journal of Trace rows, and everything else is computed from it. A message is in
// the journal before it is sent; the effect of a tool commits together with the row that records it. So a run that is
// killed goes on at the row after the last one. What the model sees is a fold over the journal: the system prompt, the
// turns that have not left the window, and the scene at hand, as bytes that only grow at their end until a compaction makes
// room. A Snapshot is a position in the journal, from which the same fold gives the same bytes again.
//
// The glossary is made of entries: a term with its aliases, and a definition in claims, each a sentence with its kind, the
// Place in the story from which it holds, and the quotations it rests on. An entry changes by revisions and in no other
// way, nothing is ever deleted, and the tables are the sum of the revisions, so that the codex can be asked for as it stood
// anywhere in the story.
//
// The machine that does all this is one table: Transitions. A state's handler returns an Event; only the table names the
// State that follows. Whoever wants to watch subscribes to the Bus.
package annotator

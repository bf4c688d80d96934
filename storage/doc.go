// Package storage keeps annotator.db: the journal, the codex with its revisions, the calls, the scenes and where the run
// stands. It stores and finds; what is to be stored is decided elsewhere.
//
// There is one writer: a lock beside the file keeps a second one out, and a DB has one writing connection. A public method
// that writes is one transaction. What it wrote is on disk when it returns without an error; when it returns with one, only a
// new reading tells whether the transaction took place, because a disk may fail after the commit.
package storage

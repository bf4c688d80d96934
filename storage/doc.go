// Package storage keeps annotator.db: the journal, the glossary with its revisions, the calls, the scenes and the state
// of the run. Each noun has its service in DB. The package stores and finds; its callers decide what to store.
//
// There is one writer: a lock file beside the database keeps a second one out, and a DB has one connection that writes.
// A public method that writes is one transaction; the lower-case methods of tx work inside one. A transaction is on
// disk when the method returns without an error. After an error, only reading tells whether it took place, because a
// disk may fail after the commit.
package storage

// Package codex holds the rules of a codex entry: how names compare, how a definition falls into claims, when a quotation
// stands in a post, which revisions an edit makes, and what a row of revisions adds up to.
//
// All of it is pure. The tables of the database are the sum of the revisions for "now"; Apply is the sum for any place, so
// that the two can be held against each other.
package codex

// Package codex implements the rules of codex entries: how names compare, how a definition is split into claims,
// whether a post contains a quotation, which revisions an edit makes, and which entries a list of revisions adds up
// to.
//
// All functions are pure. The database stores the current entries, Apply computes them as of any place in the story,
// and tests compare the two.
package codex

// Package window owns the context that the model sees. A Window holds the request prefix, the history of the turns that
// have not been compacted away, and the count of their tokens. It says whether the next scene fits, compacts itself if
// not, and gives the next request.
//
// All of it is computed from rows of the journal, so that a resumed run and a snapshot get the same bytes and the same
// estimates as the undisturbed run.
package window

// Package offline is an embedded model that answers by rules: an http.RoundTripper that serves the wire of chat
// completions, so that a program that uses it runs the same code as with a server, from the encoder of requests to the
// reader of streams.
//
// It knows only what the messages of a request show: scenes, entries and results of tools. The last user message is the
// task.
//
//   - A scene is answered with calls of glossary_create for names that no entry has, and of glossary_update for further forms
//     of names that one has. Once the calls are answered, or where nothing is to be noted, a line of text ends the turn.
//   - A request for a summary is answered with sentences of the story.
//   - A request for a curator's decisions (CONFIRM, REJECT or MERGE) is answered with one on each candidate, as JSON.
//   - Anything else is a question, which is answered with the sentences that share most words with it.
//
// A name is a run of capitalised words. It differs from words that only begin a sentence by how the same words are
// written elsewhere in the scene, and by a list of common English words, counted in old novels. Statistical taggers
// were measured and left out: they cost ten times as much, found fewer names, and more false ones. The rules find no
// names in writing without capitals, no name that only its meaning shows, and not that two names are of one person: the
// model is a baseline.
package offline

// Package offline is a model without a network and without learning: an http.RoundTripper that speaks the wire of chat
// completions, so that a program whose endpoint it is runs its real path, from the encoder of requests to the reader of
// streams. What it answers, it finds by rules.
//
// It reads a request as any model would: the scenes, the entries and the results of tools that the messages show are all it
// knows. From the last user message it takes what is wanted.
//
//   - A scene is answered with calls of glossary_create for names that no entry has, and of glossary_update for further forms
//     of names that one has. Once the calls are answered, or where nothing is to be noted, a line of text ends the turn.
//   - A request for a summary is answered with sentences of the story.
//   - A request for a curator's decisions (CONFIRM, REJECT or MERGE) is answered with one on each candidate, as JSON.
//   - Anything else is a question, and answered with the sentences nearest to it.
//
// A name is a run of capitalised words, told from words that merely begin a sentence by how the same words are written
// elsewhere in the scene and by a list of common English words, counted in old novels. Statistical taggers were tried and left
// out: they cost ten times as much, found fewer names, and more that are none. Writing without capitals has no names here,
// and what only its sense shows to be a name, or one person under two names, is beyond it: it is a baseline, and says so.
package offline

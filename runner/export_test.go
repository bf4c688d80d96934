package runner

import "annotator"

// IsMechanical reports whether a text has nothing of a story.
func IsMechanical(text string) bool { return isMechanical(text) }

// Handles reports whether a state has a handler.
func Handles(state annotator.State) bool { return handlers()[state] != nil }

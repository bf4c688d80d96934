package runner

import "annotator"

// Handles reports whether a state has a handler.
func Handles(state annotator.State) bool { return handlers()[state] != nil }

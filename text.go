package annotator

import "strings"

// CountWords counts the words of a text, separated by white space.
func CountWords(text string) int {
	n := 0
	for range strings.FieldsSeq(text) {
		n++
	}
	return n
}

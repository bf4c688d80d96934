package annotator

import "unicode"

// CountWords counts the words of a text: runs of anything but white space.
func CountWords(text string) int {
	n, in := 0, false
	for _, r := range text {
		space := unicode.IsSpace(r)
		if !space && !in {
			n++
		}
		in = !space
	}
	return n
}

package offline

import "unicode"

// CanRead reports whether the model can find names in a text. It finds them by capital letters, which some scripts
// lack. A text without letters can be read.
func CanRead(text string) bool {
	cased, caseless := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsUpper(r), unicode.IsLower(r):
			cased++
		case unicode.IsLetter(r):
			caseless++
		}
	}
	return caseless <= cased
}

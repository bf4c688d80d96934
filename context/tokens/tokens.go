// Package tokens estimates how many tokens a text is, and learns from what the server reports.
package tokens

import "unicode"

// Overhead of a chat template, in tokens.
const (
	PerMessage = 4
	PerCall    = 10
)

// The kinds of characters, each of which has its own rate of tokens in every tokenizer.
const (
	ASCII   = iota // characters
	Letters        // characters of other alphabets
	Wide           // characters of the scripts that write no spaces
	Frame          // tokens of the chat template
	kinds
)

// Size is how many characters of each kind a part of a prompt has.
type Size [kinds]int

// Plus adds two parts.
func (s Size) Plus(t Size) Size {
	for kind := range s {
		s[kind] += t[kind]
	}
	return s
}

// Minus subtracts a part.
func (s Size) Minus(t Size) Size {
	for kind := range s {
		s[kind] -= t[kind]
	}
	return s
}

// Framed adds what the template needs for a text, in tokens.
func (s Size) Framed(tokens int) Size {
	s[Frame] += tokens
	return s
}

// Tokens estimates the part before anything is learned.
func (s Size) Tokens() int { return new(Counter).Count(s) }

// MinTokens is the fewest tokens that any known tokenizer makes of a part, less a third. A server that counts fewer has
// not seen all of it.
func (s Size) MinTokens() int {
	return s[ASCII]/7 + s[Letters]/7 + s[Wide]/5 + s[Frame]/4
}

// Measure returns the size of a text.
func Measure(text string) Size {
	var s Size
	for _, r := range text {
		switch {
		case r <= unicode.MaxASCII:
			s[ASCII]++
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
			s[Wide]++
		default:
			s[Letters]++
		}
	}
	return s
}

// EstimateMessage estimates the tokens of a message with its frame, before anything is learned.
func EstimateMessage(text string) int { return Estimate(text) + PerMessage }

// Estimate estimates the tokens of a text before anything is learned. A token is four characters of ASCII, two letters
// of other alphabets, or one character of the scripts that write no spaces.
func Estimate(text string) int { return Measure(text).Tokens() }

// Package tokens estimates how many tokens a text is, and corrects itself by what the server reports.
package tokens

import "unicode"

// Overhead of a chat template, in tokens.
const (
	PerMessage = 4
	PerCall    = 10
)

// Estimate guesses the tokens of a text before any correction: four bytes of ASCII a token, two letters of other
// alphabets, one sign of the scripts that write no spaces.
func Estimate(text string) int {
	quarters := 0
	for _, r := range text {
		switch {
		case r < unicode.MaxASCII:
			quarters++
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
			quarters += 4
		default:
			quarters += 2
		}
	}
	return (quarters + 3) / 4
}

// Counter scales estimates by how the last one compared with what the server reported.
type Counter struct {
	ratio float64
}

// bounds of the correction: a report outside them is taken for an error of the server, or for a prompt it cut.
const least, most = 0.25, 4

// Observe takes in that a prompt estimated at so many tokens was reported to have so many.
func (c *Counter) Observe(estimated, reported int) {
	if estimated <= 0 || reported <= 0 {
		return
	}
	c.ratio = min(max(float64(reported)/float64(estimated), least), most)
}

// Scale corrects an estimate.
func (c *Counter) Scale(estimate int) int {
	if c.ratio == 0 {
		return estimate
	}
	return int(float64(estimate)*c.ratio + 0.5)
}

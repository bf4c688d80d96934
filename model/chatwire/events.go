package chatwire

import (
	"bytes"
	"unicode/utf8"

	"annotator"
)

// BytesPerToken is how many bytes both servers count as a token. A shorter rest is one token.
const BytesPerToken = 4

// Tokens returns the number of tokens in a text of the given length in bytes.
func Tokens(bytes int) int { return (bytes + BytesPerToken - 1) / BytesPerToken }

// Events is a stream of server-sent events.
type Events struct{ bytes.Buffer }

// Add appends an event with a value as JSON. The name is empty on a wire whose events have none.
func (e *Events) Add(name string, value any) {
	if name != "" {
		e.WriteString("event: " + name + "\n")
	}
	e.WriteString("data: ")
	e.Write(JSON(value))
	e.WriteString("\n\n")
}

// JSON encodes a value and does not escape <, > and &. It panics if the value cannot be encoded.
func JSON(value any) []byte {
	return []byte(annotator.EncodeJSON(value))
}

// pieceBytes is the size limit of the text, or of a call's arguments, in one event of a stream.
const pieceBytes = 32

// Pieces cuts a text into pieces of whole runes.
func Pieces(text string) []string {
	var pieces []string
	for len(text) > pieceBytes {
		n := RuneStart(text, pieceBytes)
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	if text != "" {
		pieces = append(pieces, text)
	}
	return pieces
}

// RuneStart returns the nearest offset at or before n, but above 0, at which a rune of the text begins.
func RuneStart(text string, n int) int {
	for n > 1 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

package textcalls

import (
	"errors"
	"fmt"
	"regexp"

	"annotator/internal/laxjson"
)

// updatesTag begins or ends a block of codex updates. Models write it in any case.
var updatesTag = regexp.MustCompile(`(?i)(?:<|&lt;)(/?)codex_updates\b[^<>&]{0,60}(?:>|&gt;)`)

// HasUpdates reports whether a text may have a codex_updates block.
func HasUpdates(text string) bool { return updatesTag.MatchString(text) }

// Updates returns the JSON of the codex_updates blocks that are not quoted, in order. A block ends where its JSON ends, so
// a tag in a string has no effect. The JSON may be in a code fence, and one element may stand without its list. An error
// says what is wrong with a block, in words for the model that wrote it.
func Updates(text string, quoted func(array string) bool) (arrays []string, err error) {
	for {
		tag := updatesTag.FindStringSubmatchIndex(text)
		if tag == nil {
			return arrays, nil
		}
		opens := tag[2] == tag[3]
		begins := text[tag[0]:]
		text = text[tag[1]:]
		if !opens {
			continue
		}
		var block string
		if block, text, err = readBlock(text); err != nil {
			return nil, fmt.Errorf("%w\nIt begins: %s", err, quote(begins))
		}
		if !quoted(block) {
			arrays = append(arrays, block)
		}
	}
}

// readBlock reads the JSON after an opening tag. It returns the JSON and the text after the closing tag.
func readBlock(text string) (array, rest string, err error) {
	n := len(openingFence.FindString(text))
	array, size, err := laxjson.Prefix(text[n:])
	if n += size; err != nil {
		return "", text, fmt.Errorf("the codex_updates block is no JSON array: %w", err)
	}
	switch array[0] {
	case '{':
		array = "[" + array + "]"
	case '[':
	default:
		return "", text, errors.New("the codex_updates block is no JSON array")
	}
	end := blockEnd.FindString(text[n:])
	if end == "" {
		return "", text, errors.New("the codex_updates block does not end with </codex_updates> after its array")
	}
	return array, text[n+len(end):], nil
}

var (
	openingFence = regexp.MustCompile("^\\s*(?:```\\w*)?")
	blockEnd     = regexp.MustCompile("^[\\s`]*(?i:(?:<|&lt;)/codex_updates\\s*(?:>|&gt;))")
)

package textcalls

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// updatesTag begins or ends a block of codex updates. Models write it in any case.
var updatesTag = regexp.MustCompile(`(?i)<(/?)codex_updates>`)

// HasUpdates reports whether a text may have a codex_updates block.
func HasUpdates(text string) bool { return updatesTag.MatchString(text) }

// Updates returns the JSON of the last codex_updates block that is not quoted. A block ends where its JSON ends, so a
// tag in a string has no effect. The JSON may be in a code fence. found is false where there is no block. An error says
// what is wrong with a block, in words for the model that wrote it.
func Updates(text string, quoted func(array string) bool) (array string, found bool, err error) {
	for {
		tag := updatesTag.FindStringSubmatchIndex(text)
		if tag == nil {
			return array, found, err
		}
		opens := tag[2] == tag[3]
		text = text[tag[1]:]
		if !opens {
			continue
		}
		if err != nil {
			return "", true, err
		}
		var block string
		if block, text, err = readBlock(text); err != nil || !quoted(block) {
			array, found = block, true
		}
	}
}

// readBlock reads the JSON after an opening tag. It returns the JSON and the text after the closing tag.
func readBlock(text string) (array, rest string, err error) {
	body := strings.TrimSpace(text)
	fenced := strings.HasPrefix(body, fence)
	if fenced {
		body = strings.TrimPrefix(strings.TrimLeft(body, "`"), "json")
	}
	decoder := json.NewDecoder(strings.NewReader(body))
	var raw json.RawMessage
	if err := decoder.Decode(&raw); err != nil {
		return "", text, fmt.Errorf("the codex_updates block is no JSON array: %w", err)
	}
	rest = strings.TrimSpace(body[decoder.InputOffset():])
	if fenced {
		rest = strings.TrimSpace(strings.TrimLeft(rest, "`"))
	}
	if len(rest) < len(updatesEnd) || !strings.EqualFold(rest[:len(updatesEnd)], updatesEnd) {
		return "", text, errors.New("the codex_updates block does not end with </codex_updates> after its array")
	}
	return string(raw), rest[len(updatesEnd):], nil
}

package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// markup matches the tags that matter in a text reply. Servers write reasoning tags in lower case; models vary.
var markup = regexp.MustCompile(`(?i)<(/?)(codex_updates|thinking|think|analysis)>`)

// lastBlock returns the JSON of the last codex_updates block that is neither in reasoning nor quoted. A block ends
// where its JSON ends, so a tag in a string has no effect. Unclosed reasoning extends to the end of the text. A
// closing reasoning tag without an opening one (a server's template may contain it) makes everything before it
// reasoning.
func lastBlock(text string, quoted func(array string) bool) (array string, found bool, err error) {
	for {
		tag := markup.FindStringSubmatch(text)
		if tag == nil {
			return array, found, err
		}
		_, rest, _ := strings.Cut(text, tag[0])
		name, closing := strings.ToLower(tag[2]), tag[1] != ""
		switch {
		case name == "codex_updates" && !closing:
			if err != nil {
				return "", true, err
			}
			var block string
			if block, rest, err = readBlock(rest); err != nil || !quoted(block) {
				array, found = block, true
			}
		case name != "codex_updates" && closing:
			array, found, err = "", false, nil
		case name != "codex_updates":
			rest = skipReasoning(rest, name)
		}
		text = rest
	}
}

// skipReasoning returns the text after the closing tag with the given name, or "" if there is none.
func skipReasoning(text, name string) string {
	for {
		at := markup.FindStringSubmatchIndex(text)
		if at == nil {
			return ""
		}
		closing, found := at[2] < at[3], strings.ToLower(text[at[4]:at[5]])
		text = text[at[1]:]
		if closing && found == name {
			return text
		}
	}
}

const fence = "```"

// readBlock reads the JSON after an opening tag. It returns the JSON and the text after the closing tag.
func readBlock(text string) (array, rest string, err error) {
	body := strings.TrimSpace(text)
	fenced := strings.HasPrefix(body, fence)
	if fenced {
		body = strings.TrimLeft(body, "`")
		body = strings.TrimPrefix(body, "json")
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
	at := markup.FindStringSubmatchIndex(rest)
	if at == nil || at[0] != 0 || !strings.EqualFold(rest[:at[1]], "</codex_updates>") {
		return "", text, errors.New("the codex_updates block does not end with </codex_updates> after its array")
	}
	return string(raw), rest[at[1]:], nil
}

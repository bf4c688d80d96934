package textcalls

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"annotator/internal/laxjson"
)

// updatesTag begins or ends a block of codex updates. Models write it in any case.
var updatesTag = regexp.MustCompile(`(?i)(?:<|&lt;)(/?)codex_update(s?)\b[^<>&]{0,60}(?:>|&gt;)`)

// HasUpdates reports whether a text may have codex updates.
func HasUpdates(text string) bool { return updatesTag.MatchString(text) || len(bareUpdates(text)) > 0 }

// Updates returns the JSON of the codex_updates blocks that are not quoted, in order. A block ends where its JSON ends,
// so a tag in a string has no effect. The JSON may be in a code fence, and a single element may lack its list. Blocks
// that follow each other with a tag in the singular are one. In a text without a tag, a list that has the shape of
// updates is a block. fit reports whether an array can be a block: if a text with slips has several readings, the one
// that fits counts. An error describes for the model what is wrong with a block.
func Updates(text string, quoted, fit func(array string) bool) (arrays []string, err error) {
	if !updatesTag.MatchString(text) {
		return slices.DeleteFunc(bareUpdates(text), quoted), nil
	}
	before := false // a block with its tag in the singular is right before
	for {
		tag := updatesTag.FindStringSubmatchIndex(text)
		if tag == nil {
			return arrays, nil
		}
		opens, single := tag[2] == tag[3], tag[4] == tag[5]
		joins := before && single && strings.TrimSpace(text[:tag[0]]) == ""
		begins := text[tag[0]:]
		text = text[tag[1]:]
		if !opens {
			continue
		}
		var block string
		if block, text, err = readBlock(text, fit); err != nil {
			return nil, fmt.Errorf("%w\nIt begins: %s", err, quote(begins))
		}
		if before = single && !quoted(block); quoted(block) {
			continue
		}
		if last := len(arrays) - 1; joins && arrays[last] != "[]" && block != "[]" {
			arrays[last] = strings.TrimSuffix(arrays[last], "]") + "," + strings.TrimPrefix(block, "[")
			continue
		}
		arrays = append(arrays, block)
	}
}

// readBlock reads the JSON after an opening tag. It returns the JSON and the text after the closing tag.
func readBlock(text string, fit func(array string) bool) (array, rest string, err error) {
	n := len(openingFence.FindString(text))
	strict, size, err := laxjson.Prefix(text[n:])
	if err == nil {
		if array, rest, err = blockOf(strict, text[n+size:]); err == nil {
			return array, rest, nil
		}
	} else {
		err = fmt.Errorf("the codex_updates block is no JSON array: %w", err)
	}
	array = ""
	for _, r := range laxjson.Readings(text[n:]) {
		block, behind, err := blockOf(r.Strict, text[n+r.Size:])
		switch {
		case err != nil || !fit(block):
		case array == "":
			array, rest = block, behind
		case !sameJSON(array, block):
			return "", text,
				errors.New("the codex_updates block has a bracket too many or a comma too few, and may mean several " +
					"things")
		}
	}
	if array != "" {
		return array, rest, nil
	}
	return "", text, err
}

// blockOf returns the array of a block and the text after its closing tag, by its JSON and the text after that.
func blockOf(strict, behind string) (array, rest string, err error) {
	switch strict[0] {
	case '{':
		strict = "[" + strict + "]"
	case '[':
	default:
		return "", "", errors.New("the codex_updates block is no JSON array")
	}
	end := blockEnd.FindString(behind)
	if end == "" {
		return "", "", errors.New("the codex_updates block does not end with </codex_updates> after its array")
	}
	return strict, behind[len(end):], nil
}

var (
	openingFence = regexp.MustCompile("^\\s*(?:```\\w*)?")
	blockEnd     = regexp.MustCompile("^[\\s`]*(?i:(?:<|&lt;)/codex_updates?\\s*(?:>|&gt;))")

	bareFence = regexp.MustCompile("(?m:^[ \t]*```(?:json)?[ \t]*\n)\\s*\\[\\s*\\{")
	bareList  = regexp.MustCompile(`^\s*\[\s*\{`)
	fenceEnd  = regexp.MustCompile("^\\s*```[ \t\r]*(?:\n|$)")
)

// bareUpdates returns the lists that have the shape of updates, in JSON fences or as the whole text. Each element has a
// term and an action. Lists in a long text are examples.
func bareUpdates(text string) (arrays []string) {
	if list := strings.TrimSpace(text); bareList.MatchString(text) {
		if strict, n, err := laxjson.Prefix(list); err == nil && n == len(list) && areUpdates(strict) {
			return []string{strict}
		}
		return nil
	}
	around := len(text)
	for at, found := 0, bareFence.FindStringIndex(text); found != nil; found = bareFence.FindStringIndex(text[at:]) {
		start := at + found[0] + strings.IndexByte(text[at+found[0]:], '[')
		strict, n, err := laxjson.Prefix(text[start:])
		if err != nil {
			return nil
		}
		end := fenceEnd.FindString(text[start+n:])
		if at = start + n + len(end); end != "" && areUpdates(strict) {
			arrays, around = append(arrays, strict), around-n
		}
	}
	if around > maxBehind {
		return nil
	}
	return arrays
}

// areUpdates reports whether each element of a list has the keys of an update, with values that they may have.
func areUpdates(strict string) bool {
	var list []struct{ Term, Status string }
	return json.Unmarshal([]byte(strict), &list) == nil && len(list) > 0 &&
		!slices.ContainsFunc(list, func(u struct{ Term, Status string }) bool {
			return u.Term == "" || !slices.Contains([]string{"new", "update", "skip"}, u.Status)
		})
}

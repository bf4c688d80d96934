package textcalls

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"annotator"
	"annotator/internal/laxjson"
)

var (
	pythonName = regexp.MustCompile(`^(print\(\s*)?((?:[\w\\]+\.)*[\w\\]+)\(`)
	keyword    = regexp.MustCompile(`^([\pL_][\pL\pN_\\]*)\s*[=:]`) // a colon in Swift and Ruby
)

// python reads calls as Python writes them, with keyword arguments: one after another, or in a list.
func (s *scanner) python(text string) (calls []writtenCall, n int, err error) {
	list := strings.HasPrefix(text, "[")
	if list {
		n = 1
	}
	for {
		at := n + laxjson.Space(text[n:])
		if list && strings.HasPrefix(text[at:], "]") {
			return calls, at + 1, nil
		}
		call, size, err := s.pythonCall(text[at:])
		switch {
		case err == nil:
			calls, n = append(calls, call), at+size
		case errors.Is(err, errNoCall) && len(calls) > 0 && !list:
			return calls, n, nil
		case errors.Is(err, errNoCall) && len(calls) > 0:
			return nil, at, errors.New("something that is no call of a tool stands in the list of calls")
		default:
			return nil, at + size, err
		}
		rest := strings.TrimLeft(text[n:], space)
		switch {
		case strings.HasPrefix(rest, ",") || strings.HasPrefix(rest, ";"):
			n = len(text) - len(rest) + 1
		case list && rest == "":
			return nil, len(text), errors.New("the list of calls does not end")
		case list && rest[0] != ']' && rest[0] != '#':
			return nil, n, errors.New("a comma is missing in the list of calls")
		}
	}
}

// pythonCall reads one call of a known tool.
func (s *scanner) pythonCall(text string) (call writtenCall, n int, err error) {
	found := pythonName.FindStringSubmatch(text)
	if found == nil || !s.tools.Known(CleanName(found[2])) {
		return call, 0, errNoCall
	}
	n = len(found[0])
	arguments, size, err := s.inBrackets(text[n:], found[2])
	if n += size; err != nil {
		return call, n, err
	}
	if found[1] != "" {
		if n = skipSpace(text, n); !strings.HasPrefix(text[n:], ")") {
			return call, n, errors.New("the bracket of print does not end")
		}
		n++
	}
	return writtenCall{annotator.ToolCall{Name: CleanName(found[2]), Arguments: arguments}, text[:n]}, n, nil
}

// inBrackets reads the arguments of a call up to its closing bracket: keywords with values, or one object, as in
// JavaScript.
func (s *scanner) inBrackets(text, name string) (arguments string, n int, err error) {
	if n = laxjson.Space(text); strings.HasPrefix(text[n:], "{") {
		arguments, n, err := s.arguments(name, text, n)
		if err != nil {
			return "", n, err
		}
		if n += laxjson.Space(text[n:]); !strings.HasPrefix(text[n:], ")") {
			return "", n, fmt.Errorf("the arguments of %s: ) does not follow the object", name)
		}
		return arguments, n + 1, nil
	}
	var o object
	for {
		n += laxjson.Space(text[n:])
		if strings.HasPrefix(text[n:], ")") {
			return o.json(), n + 1, nil
		}
		key := keyword.FindStringSubmatch(text[n:])
		if key == nil {
			return "", n, fmt.Errorf("the arguments of %s: each needs its name and =, and the call its closing bracket",
				name)
		}
		n += len(key[0])
		strict, size, err := laxjson.Prefix(text[n:])
		if err != nil {
			return "", n + size, fmt.Errorf("the argument %s: %w", key[1], err)
		}
		if err := o.add(key[1], strict); err != nil {
			return "", n, err
		}
		n += size
		n += laxjson.Space(text[n:])
		if strings.HasPrefix(text[n:], ",") {
			n++
		} else if !strings.HasPrefix(text[n:], ")") {
			return "", n,
				fmt.Errorf("the argument %s does not end with a comma or a bracket: it is cut off, an expression, "+
					"or has a quote that is not escaped", key[1])
		}
	}
}

// object is a JSON object under construction.
type object struct {
	members []string
	keys    map[string]bool
}

// add adds a JSON value under a key. Models may escape underscores in the key.
func (o *object) add(key, value string) error {
	key = strings.ReplaceAll(strings.TrimSpace(key), `\`, "")
	if o.keys[key] {
		return fmt.Errorf("the argument %.100q stands twice", key)
	}
	if o.keys == nil {
		o.keys = map[string]bool{}
	}
	o.keys[key] = true
	o.members = append(o.members, annotator.EncodeJSON(key)+":"+value)
	return nil
}

func (o *object) json() string { return "{" + strings.Join(o.members, ",") + "}" }

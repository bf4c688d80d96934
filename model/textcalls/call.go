package textcalls

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"annotator"
	"annotator/internal/laxjson"
)

// writtenCall is a call and its source in the text.
type writtenCall struct {
	annotator.ToolCall
	source string // without the tags around it
}

// oneCall returns a list of one call.
func oneCall(name, arguments, source string) []writtenCall {
	return []writtenCall{{annotator.ToolCall{Name: CleanName(name), Arguments: arguments}, source}}
}

// errNoCall is the error of a text that does not have the shape of a call.
var errNoCall = errors.New("no call follows: it needs a JSON object with name and arguments")

// bracketed matches marks such as [TOOL_CALLS].
var bracketed = regexp.MustCompile(`^\[[A-Z_]+\]`)

// values reads the calls at the beginning of a text: JSON objects, or lists of them. If the first value is neither, the
// error is errNoCall. With an error, n is its offset.
func (s *scanner) values(text string) (calls []writtenCall, n int, err error) {
	read := false
	for {
		rest := strings.TrimLeft(text[n:], space+";,")
		if rest == "" || rest[0] != '{' && (rest[0] != '[' || bracketed.MatchString(rest)) {
			break
		}
		at := len(text) - len(rest)
		more, size, err := s.value(rest, s.callsIn)
		switch {
		case err == nil:
			calls, n, read = append(calls, withSource(more, rest[:size])...), at+size, true
		case read && errors.Is(err, errNoCall):
			return nil, at + size, errors.New("JSON that is no call follows")
		default:
			return nil, at + size, err
		}
	}
	if !read {
		return nil, n, errNoCall
	}
	return calls, n, nil
}

// surplus matches the rest of a value that a surplus bracket has ended.
var surplus = regexp.MustCompile(`^\s*(?:[}\]]|,\s*")`)

// value reads the JSON value at the beginning of a text, and the calls in it. If it is invalid, slips are corrected:
// the calls are those of the only reading that fits the tools.
func (s *scanner) value(text string, read func(strict string) ([]writtenCall, error)) (calls []writtenCall, n int,
	err error,
) {
	strict, n, err := jsonValue(text)
	if err == nil {
		if calls, err = read(strict); !surplus.MatchString(text[n:]) {
			return calls, n, err
		}
	}
	fitting, size := s.fitting(text, read)
	if fitting == nil {
		return calls, n, err
	}
	return fitting, size, nil
}

// fitting returns the calls of those readings of a text that fit the tools, if all of these are the same.
func (s *scanner) fitting(text string, read func(strict string) ([]writtenCall, error)) (calls []writtenCall, n int) {
	if s.correcting {
		return nil, 0 // no corrections of a text inside a corrected one
	}
	s.correcting = true
	defer func() { s.correcting = false }()
	for _, r := range laxjson.Readings(text) {
		found, err := read(r.Strict)
		switch {
		case err != nil || len(found) == 0 || !s.tools.fit(found):
		case calls == nil:
			calls, n = found, r.Size
		case !slices.EqualFunc(calls, found, sameCall):
			return nil, 0
		}
	}
	return calls, n
}

// sameCall reports whether two calls do the same.
func sameCall(a, b writtenCall) bool { return a.Name == b.Name && sameJSON(a.Arguments, b.Arguments) }

// sameJSON reports whether two texts are the same JSON.
func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// callOfObject reads the arguments of a tool.
func callOfObject(name string) func(strict string) ([]writtenCall, error) {
	return func(strict string) ([]writtenCall, error) {
		if strict[0] != '{' {
			return nil, errors.New("not a JSON object")
		}
		return oneCall(name, strict, ""), nil
	}
}

// arguments reads the arguments of a tool, a JSON object at text[from:].
func (s *scanner) arguments(name, text string, from int) (arguments string, n int, err error) {
	calls, size, err := s.value(text[from:], callOfObject(name))
	if n = from + size; err != nil {
		return "", n, fmt.Errorf("the arguments of %s: %w", name, err)
	}
	return calls[0].Arguments, n, nil
}

// Arguments reads a text that is the arguments of a tool and nothing else, as strict JSON. A tool that requires none
// may be given null, or nothing. The error is that of laxjson.Object.
func (t *Tools) Arguments(name, text string) (strict string, err error) {
	s := scanner{tools: t}
	return s.argumentsIn(name, text)
}

func (s *scanner) argumentsIn(name, text string) (strict string, err error) {
	strict, err = laxjson.Object(text)
	if err == nil {
		return strict, nil
	}
	if slices.Contains([]string{"", `""`, "null", `"null"`}, strings.TrimSpace(text)) {
		if s.tools.fit(oneCall(name, "{}", "")) {
			return "{}", nil
		}
		return "", err
	}
	calls, n := s.fitting(text, callOfObject(name))
	if calls == nil || strings.TrimSpace(text[n:]) != "" {
		return "", err
	}
	return calls[0].Arguments, nil
}

// unnamed returns the call of the one tool that takes an object of arguments.
func (s *scanner) unnamed(strict string) ([]writtenCall, error) {
	var fit []string
	for _, name := range s.tools.Names {
		if strict[0] == '{' && strict != "{}" && s.tools.fit(oneCall(name, strict, "")) {
			fit = append(fit, name)
		}
	}
	switch len(fit) {
	case 0:
		return nil, errors.New("it names no tool, and no tool takes these arguments")
	case 1:
		return oneCall(fit[0], strict, ""), nil
	}
	return nil, fmt.Errorf("it names no tool, and these arguments may be for %s", strings.Join(fit, " or "))
}

// jsonValue reads a JSON value. Its outer braces may be doubled, as in a template that some models imitate.
func jsonValue(text string) (strict string, n int, err error) {
	if !strings.HasPrefix(text, "{{") {
		return laxjson.Prefix(text)
	}
	if strict, n, err = laxjson.Prefix(text[1:]); err == nil && !strings.HasPrefix(text[1+n:], "}") {
		err = errors.New("its braces are doubled and do not end so")
	}
	return strict, n + 2, err
}

// withSource sets the source of calls. All calls of a list have the list as their source.
func withSource(calls []writtenCall, source string) []writtenCall {
	for i := range calls {
		if len(calls) == 1 || calls[i].source == "" {
			calls[i].source = source
		}
	}
	return calls
}

// wrappers are the keys of objects that hold calls.
var wrappers = []string{
	"tool_calls", "tool_call", "function_call", "function_calls", "function", "functionCall",
	"tool_uses", "calls", "tools",
}

// callsIn returns the calls in a JSON value; none for an empty list.
func (s *scanner) callsIn(strict string) (calls []writtenCall, err error) {
	if strict[0] != '[' {
		return s.callsOf(strict)
	}
	var list []json.RawMessage
	if json.Unmarshal([]byte(strict), &list) != nil {
		return nil, errNoCall
	}
	for _, element := range list {
		more, err := s.callsOf(string(element))
		if err != nil {
			return nil, err
		}
		calls = append(calls, withSource(more, string(element))...)
	}
	return calls, nil
}

// callsOf returns the calls in an object: one, or those in a wrapper, or those under the names of tools.
func (s *scanner) callsOf(strict string) ([]writtenCall, error) {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(strict), &o) != nil || len(o) == 0 {
		return nil, errNoCall
	}
	for _, key := range wrappers {
		if inner := o[key]; len(inner) > 0 && (inner[0] == '{' || inner[0] == '[') && onlyLabels(o, key) {
			return s.callsIn(string(inner))
		}
	}
	if len(o) == 1 {
		for key, arguments := range o {
			if name := CleanName(key); s.tools.Known(name) && arguments[0] == '{' {
				return []writtenCall{{ToolCall: annotator.ToolCall{Name: name, Arguments: string(arguments)}}}, nil
			}
		}
	}
	call, err := s.callOf(o)
	return []writtenCall{{ToolCall: call}}, err
}

// labels are the keys that a call may have in addition to name and arguments.
var labels = []string{"id", "type", "index", "tool_call_id"}

func onlyLabels(o map[string]json.RawMessage, but ...string) bool {
	for key := range o {
		if !slices.Contains(labels, key) && !slices.Contains(but, key) {
			return false
		}
	}
	return true
}

var (
	nameKeys     = []string{"name", "tool_name", "function", "tool", "function_name", "recipient_name", "action"}
	argumentKeys = []string{"arguments", "parameters", "params", "args", "input", "tool_input", "action_input"}
)

// keysIn returns those of the keys that an object has.
func keysIn(o map[string]json.RawMessage, keys []string) (of []string) {
	for _, key := range keys {
		if _, ok := o[key]; ok {
			of = append(of, key)
		}
	}
	return of
}

// callOf returns the call in an object. Its arguments may be a string with JSON, as they are in the API.
func (s *scanner) callOf(o map[string]json.RawMessage) (call annotator.ToolCall, err error) {
	names, arguments := keysIn(o, nameKeys), keysIn(o, argumentKeys)
	switch {
	case len(names) != 1 || json.Unmarshal(o[names[0]], &call.Name) != nil || call.Name == "" || len(arguments) == 0:
		return call, errNoCall
	case len(arguments) > 1:
		return call, fmt.Errorf("the call of %.100q has both %s and %s", call.Name, arguments[0], arguments[1])
	case !onlyLabels(o, names[0], arguments[0]):
		return call, fmt.Errorf("the call of %.100q has more than a name and arguments", call.Name)
	}
	call.Name = CleanName(call.Name)
	text, inText := string(o[arguments[0]]), ""
	if json.Unmarshal(o[arguments[0]], &inText) == nil {
		text = inText
	}
	if call.Arguments, err = s.argumentsIn(call.Name, text); err != nil {
		return call, fmt.Errorf("the arguments of %.100q: %w", call.Name, err)
	}
	return call, nil
}

// CleanName returns the name of a tool without additions of models and servers: a namespace, a number of the call,
// tokens of the chat template.
func CleanName(name string) string {
	if found := nameParts.FindStringSubmatch(strings.ReplaceAll(name, `\`, "")); found != nil {
		return found[1]
	}
	return name
}

var nameParts = regexp.MustCompile(`^\s*(?:(?:functions?|tools?|` +
	`default_api)\.)*([\w-]+)(?:\.call)?(?::\d+)?\s*(?:</?[^<>]*>.*)?$`)

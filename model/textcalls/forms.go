package textcalls

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"annotator"
)

// form reads the calls after a mark, and returns where they end; with an error, how far they could be read.
type form func(text string) (calls []writtenCall, n int, err error)

// errForm is the error of a form of calls that is recognised and not read.
var errForm = errors.New("calls in this form are not read")

// forms are those that are read, by the mark that they begin with; plain JSON has none.
var forms = map[string]form{
	"<tool_call>":    tagged,
	"<function=":     function,
	"[TOOL_CALLS]":   listed,
	"<|python_tag|>": values,
	fence:            fenced,
	"":               values,
}

func formOf(mark string) form {
	if f, ok := forms[mark]; ok {
		return f
	}
	return func(string) ([]writtenCall, int, error) { return nil, 0, errForm }
}

// tagged reads JSON or a function up to </tool_call>.
func tagged(text string) (calls []writtenCall, n int, err error) {
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, space), "<function="); ok {
		calls, n, err = function(rest)
		n += len(text) - len(rest)
	} else {
		calls, n, err = values(text)
	}
	if err != nil {
		return nil, n, err
	}
	n, err = closed(text, n, "</tool_call>")
	return calls, n, err
}

// closed returns the position after an end tag, which must come next.
func closed(text string, n int, tag string) (int, error) {
	n = skipSpace(text, n)
	if !strings.HasPrefix(text[n:], tag) {
		return n, fmt.Errorf("%s does not follow where it ends", tag)
	}
	return n + len(tag), nil
}

const space = " \t\r\n"

func skipSpace(text string, n int) int { return len(text) - len(strings.TrimLeft(text[n:], space)) }

// named matches the name in Mistral's newer form, up to the arguments.
var named = regexp.MustCompile(`^\s*([\w.-]+)(?:\[CALL_ID\][\w-]+)?(?:\[ARGS\])?\s*\{`)

// listed reads Mistral's forms: a list of calls, or a name with its arguments.
func listed(text string) ([]writtenCall, int, error) {
	found := named.FindStringSubmatchIndex(text)
	if found == nil {
		return values(text)
	}
	brace := found[1] - 1
	size, err := skipValue(text[brace:])
	n := brace + size
	if err != nil {
		return nil, n, err
	}
	call := annotator.ToolCall{Name: text[found[2]:found[3]], Arguments: text[brace:n]}
	return []writtenCall{{call, text[:n]}}, n, nil
}

const fence = "```"

// info matches what may follow an opening fence.
var info = regexp.MustCompile(`^[\w-]*[ \t]*\n?`)

// fenced reads calls up to the end of a fence.
func fenced(text string) ([]writtenCall, int, error) {
	start := len(info.FindString(text))
	if strings.HasPrefix(text, "tool_code") {
		return nil, start, errForm
	}
	calls, n, err := values(text[start:])
	if n += start; err != nil {
		return nil, n, err
	}
	n, err = closed(text, n, fence)
	return calls, n, err
}

var (
	functionName = regexp.MustCompile(`^([\w.-]+)>`)
	parameter    = regexp.MustCompile(`^<parameter=([\w.-]+)>`)
	inParameter  = regexp.MustCompile(`</?(?:parameter|function|tool_call)\b`)
)

// function reads what follows <function=: a name, its arguments as JSON or one by one, and </function>.
func function(text string) ([]writtenCall, int, error) {
	found := functionName.FindStringSubmatch(text)
	if found == nil {
		return nil, 0, errors.New("<function= is not followed by a name and >")
	}
	arguments, n, err := argumentsOf(text, skipSpace(text, len(found[0])))
	if err != nil {
		return nil, n, err
	}
	n, err = closed(text, n, "</function>")
	return []writtenCall{{annotator.ToolCall{Name: found[1], Arguments: arguments}, text[:n]}}, n, err
}

// argumentsOf returns the arguments at a position, and where they end.
func argumentsOf(text string, at int) (arguments string, end int, err error) {
	if !strings.HasPrefix(text[at:], "{") {
		return parameters(text, at)
	}
	size, err := skipValue(text[at:])
	return text[at : at+size], at + size, err
}

// parameters reads any number of <parameter=KEY>VALUE</parameter> as an object of strings. The tool's schema converts
// the strings.
func parameters(text string, n int) (arguments string, end int, err error) {
	var object strings.Builder
	keys := map[string]bool{}
	for {
		n = skipSpace(text, n)
		found := parameter.FindStringSubmatch(text[n:])
		if found == nil {
			return "{" + object.String() + "}", n, nil
		}
		if keys[found[1]] {
			return "", n, fmt.Errorf("the parameter %.100q stands twice", found[1])
		}
		keys[found[1]] = true
		n += len(found[0])
		tag := inParameter.FindStringIndex(text[n:])
		if tag == nil || !strings.HasPrefix(text[n+tag[0]:], "</parameter>") {
			return "", n, fmt.Errorf("the parameter %.100q does not end with </parameter>", found[1])
		}
		value := strings.TrimSuffix(strings.TrimPrefix(text[n:n+tag[0]], "\n"), "\n")
		if object.Len() > 0 {
			object.WriteByte(',')
		}
		object.WriteString(annotator.EncodeJSON(found[1]) + ":" + annotator.EncodeJSON(value))
		n += tag[0] + len("</parameter>")
	}
}

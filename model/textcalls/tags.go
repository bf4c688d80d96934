package textcalls

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"annotator"
	"annotator/internal/laxjson"
)

// namespace is what stands before the name in the tags of some families, such as ｜DSML｜ and steptml:.
const namespace = `\s*(?:[|｜]\s*\w+\s*[|｜]\s*|\w+:)?`

var (
	functionTag = regexp.MustCompile(`^<` + namespace + `(?:(?:function|invoke|tool_call|tool)(?:=|\s+name\s*=\s*)["']?([\w.\\-]+)["']?\s*(>?)|` +
		`function>\s*(\w+)\s*(</function>))`)
	parameterTag = regexp.MustCompile(`^<` + namespace + `param(?:eter)?(?:(?:=|\s+name\s*=\s*)["']?([\w.\\-]+)["']?[^<>\n]{0,40}>|>\s*(\w+)\s*</param(?:eter)?>)`)
	inParameter  = regexp.MustCompile(`<(/?)` + namespace + `(param(?:eter)?|function|invoke|tool|(?:\w+:)?tool_call)\b[^<>\n]{0,60}>`)
	functionEnd  = regexp.MustCompile(`^\s*(?:</` + namespace + `(?:function|invoke|tool_call|tool)\s*>|<function>)`)
)

// function reads a tag with the name of a tool, its arguments as JSON or one by one, and its end tag. JSON needs none. Some models
// write a name as the text of a tag.
func function(text string) ([]writtenCall, int, error) {
	found := functionTag.FindStringSubmatch(text)
	if found == nil {
		return nil, 0, errors.New("the tag does not name a tool")
	}
	n := skipSpace(text, len(found[0]))
	isJSON := strings.HasPrefix(text[n:], "{")
	name := found[1] + found[3]
	if found[2]+found[4] == "" && !isJSON && !strings.HasPrefix(text[n:], "<") {
		return nil, n, errors.New("the name of the tool is not followed by >")
	}
	var arguments string
	var err error
	if isJSON {
		var size int
		arguments, size, err = laxjson.Prefix(text[n:])
		n += size
	} else {
		arguments, n, err = parameters(text, n)
	}
	if err != nil {
		return nil, n, fmt.Errorf("the arguments of %s: %w", name, err)
	}
	end := functionEnd.FindString(text[n:])
	if end == "" && (!isJSON || strings.TrimSpace(text[n:]) != "") {
		return nil, n, errors.New("</function> does not follow where its arguments end")
	}
	n += len(end)
	return written(name, arguments, text[:n]), n, nil
}

// parameters reads any number of parameters, each in its tag, as an object of strings. The tool's schema converts the
// strings. The end tag of a parameter may be missing where another tag of the call follows.
func parameters(text string, n int) (arguments string, end int, err error) {
	var o object
	for {
		n = skipSpace(text, n)
		found := parameterTag.FindStringSubmatch(text[n:])
		if found == nil {
			return o.json(), n, nil
		}
		name := found[1] + found[2]
		n += len(found[0])
		tag := inParameter.FindStringSubmatchIndex(text[n:])
		if tag == nil {
			return "", n, fmt.Errorf("the parameter %.100q does not end with </parameter>", name)
		}
		value, isEnd := text[n:n+tag[0]], tag[2] < tag[3]
		ofParameter := strings.HasPrefix(text[n+tag[4]:], "param")
		switch {
		case !isEnd && !ofParameter:
			return "", n, fmt.Errorf("the parameter %.100q does not end with </parameter>", name)
		case isEnd && ofParameter:
			value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
			n += tag[1]
		default:
			value = strings.TrimSpace(value)
			n += tag[0]
		}
		if value == "" && found[2] != "" {
			return "", n, fmt.Errorf("the parameter %.100q has no value, or no name", name)
		}
		if err := o.add(name, annotator.EncodeJSON(value)); err != nil {
			return "", n, err
		}
	}
}

var (
	pairsName = regexp.MustCompile(`^([\w.\\:-]+)\s*(?:<tool_sep>\s*)?(?:<(?:longcat_)?arg_key>|</tool_call>)`)
	argKey    = regexp.MustCompile(`^<(?:longcat_)?arg_key>\s*([\w.\\-]+)\s*(?:</(?:longcat_)?arg_key>\s*)+<(?:longcat_)?arg_value>`)
	argValue  = regexp.MustCompile(`</?(?:longcat_)?arg_(?:key|value)>|</(?:longcat_)?tool_call>`)
	valueEnd  = regexp.MustCompile(`^</(?:longcat_)?arg_value>`)
	pairsEnd  = regexp.MustCompile(`^\s*</(?:longcat_)?tool_call>`)
)

// pairs reads the name of a tool, and keys and values each in its tag, up to </tool_call>.
func pairs(text string) ([]writtenCall, int, error) {
	found := pairsName.FindStringSubmatch(text)
	n := len(found[0]) - len(found[0][strings.LastIndex(found[0], "<"):])
	var o object
	for {
		n = skipSpace(text, n)
		key := argKey.FindStringSubmatch(text[n:])
		if key == nil {
			break
		}
		n += len(key[0])
		end := argValue.FindStringIndex(text[n:])
		if end == nil || !valueEnd.MatchString(text[n+end[0]:n+end[1]]) {
			return nil, n, fmt.Errorf("the value of %.100q does not end with </arg_value>", key[1])
		}
		if err := o.add(key[1], annotator.EncodeJSON(text[n:n+end[0]])); err != nil {
			return nil, n, err
		}
		n += end[1]
	}
	end := pairsEnd.FindString(text[n:])
	if end == "" {
		return nil, n, errors.New("</tool_call> does not follow where it ends")
	}
	n += len(end)
	return written(found[1], o.json(), text[:n]), n, nil
}

var keyTag = regexp.MustCompile(`^<(\w+)>`)

// keyTags reads any number of values in tags that are named as the arguments.
func keyTags(text string, n int) (arguments string, end int, err error) {
	var o object
	for {
		n = skipSpace(text, n)
		tag := keyTag.FindStringSubmatch(text[n:])
		if tag == nil {
			return o.json(), n, nil
		}
		n += len(tag[0])
		size := strings.Index(text[n:], "</"+tag[1]+">")
		if size < 0 {
			return "", n, fmt.Errorf("<%s> does not end", tag[1])
		}
		if err := o.add(tag[1], annotator.EncodeJSON(strings.Trim(text[n:n+size], "\n"))); err != nil {
			return "", n, err
		}
		n += size + len(tag[0]) + 1
	}
}

var (
	ownTag  = regexp.MustCompile(`^(?:<(\w+)\s*(/?)>|([\w.\\:-]+)\s*(<\w+>))`)
	keyLine = regexp.MustCompile(`^(\w+):[ \t]+([^\s|>&*!%@#].*)\n`)
)

// own reads a tag that is named as the tool, or the name before other tags: its arguments as JSON, each in a tag or each in a line, and
// the end tag of the tool or of the call.
func own(text string) (calls []writtenCall, n int, err error) {
	tag := ownTag.FindStringSubmatch(text)
	name, arguments, n := tag[1]+tag[3], "{}", len(tag[0])-len(tag[4])
	if tag[2] == "" {
		n = skipSpace(text, n)
		switch rest := text[n:]; {
		case strings.HasPrefix(rest, "{"):
			var size int
			arguments, size, err = laxjson.Prefix(rest)
			n = skipSpace(text, n+size)
		case keyLine.MatchString(rest):
			arguments, n, err = keyLines(text, n)
		default:
			arguments, n, err = keyTags(text, n)
		}
		end := ""
		for _, may := range []string{"</" + name + ">", "</tool_call>"} {
			if strings.HasPrefix(text[n:], may) {
				end = may
			}
		}
		if err == nil && end == "" {
			err = fmt.Errorf("</%s> does not follow where its arguments end", name)
		}
		if err != nil {
			return nil, n, err
		}
		n += len(end)
	}
	return written(name, arguments, text[:n]), n, nil
}

// keyLines reads any number of lines, each with a name of an argument and its value, as in YAML. A value that begins as
// JSON must be JSON. Nothing that goes on in another line is read.
func keyLines(text string, n int) (arguments string, end int, err error) {
	var o object
	for {
		n = skipSpace(text, n)
		line := keyLine.FindStringSubmatch(text[n:])
		if line == nil {
			return o.json(), n, nil
		}
		value := annotator.EncodeJSON(strings.TrimSpace(line[2]))
		if strings.ContainsAny(line[2][:1], `"'[{`) {
			if value, err = laxjson.Value(line[2]); err != nil {
				return "", n, fmt.Errorf("the argument %s: %w", line[1], err)
			}
		}
		if err := o.add(line[1], value); err != nil {
			return "", n, err
		}
		n += len(line[0])
	}
}

const space = " \t\r\n"

func skipSpace(text string, n int) int { return len(text) - len(strings.TrimLeft(text[n:], space)) }

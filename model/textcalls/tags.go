package textcalls

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"annotator"
)

// namespace matches the prefix of names in the tags of some families, such as ｜DSML｜ and steptml:.
const namespace = `\s*(?:[|｜]{1,2}\s*\w+\s*[|｜]{1,2}\s*|\w+:)?`

var (
	functionTag = regexp.MustCompile(`^<` + namespace +
		`(?:(?:function|invoke|tool_call|tool)(?:=|\s+name\s*=|\s*\()\s*["']?([\w.\\-]+)["']?\s*(?:\)\s*)?(>?)|` +
		`function>\s*(\w+)\s*(</function>))`)
	parameterTag = regexp.MustCompile(`^<` + namespace +
		`param(?:eter)?(?:(?:=|\s+name\s*=\s*)["']?([\w.\\-]+)["']?[^<>\n]{0,40}>|>\s*(\w+)\s*</param(?:eter)?>)`)
	inParameter = regexp.MustCompile(`<(/?)` + namespace +
		`(param(?:eter)?|function|invoke|tool|(?:\w+:)?tool_call)\b[^<>\n]{0,60}>`)
	functionEnd = regexp.MustCompile(`^\s*[)>]?\s*(?:</` + namespace +
		`(?:function|invoke|tool_call|tool)\s*>|<function>)`)
)

// function reads a tag with the name of a tool, its arguments as JSON or one by one, and its end tag. After JSON, the
// end tag is optional. Some models write a name as the text of a tag, or JSON in brackets within it.
func (s *scanner) function(text string) ([]writtenCall, int, error) {
	found := functionTag.FindStringSubmatch(text)
	if found == nil {
		return nil, 0, errors.New("the tag does not name a tool")
	}
	n := skipSpace(text, len(found[0]))
	if strings.HasPrefix(text[n:], "({") {
		n++
	}
	isJSON := strings.HasPrefix(text[n:], "{")
	name := found[1] + found[3]
	if found[2]+found[4] == "" && !isJSON && !strings.HasPrefix(text[n:], "<") {
		return nil, n, errors.New("the name of the tool is not followed by >")
	}
	arguments, n, err := s.within(name, text, n, "</")
	if err != nil {
		return nil, n, err
	}
	end := functionEnd.FindString(text[n:])
	if end == "" && (!isJSON || strings.TrimSpace(text[n:]) != "") {
		return nil, n, errors.New("</function> does not follow where its arguments end")
	}
	n += len(end)
	return oneCall(name, arguments, text[:n]), n, nil
}

var argumentsTag = regexp.MustCompile(`^<(arguments|parameters|params|args|input|tool_input)>\s*`)

// within reads the arguments between the marks of a call: as JSON, in lines, or each in a tag. A tag may enclose all of
// them. end is the beginning of the closing mark.
func (s *scanner) within(name, text string, n int, end string) (arguments string, size int, err error) {
	n = skipSpace(text, n)
	around := argumentsTag.FindStringSubmatch(text[n:])
	if around != nil {
		n += len(around[0])
	}
	switch rest := text[n:]; {
	case strings.HasPrefix(rest, "{"):
		arguments, n, err = s.arguments(CleanName(name), text, n)
	case parameterTag.MatchString(rest):
		arguments, n, err = parameters(text, n)
	case keyBegins.MatchString(rest):
		arguments, n, err = lines(text, n, end)
	default:
		arguments, n, err = keyTags(text, n)
	}
	if err != nil {
		return "", n, err
	}
	n = skipSpace(text, n)
	if around != nil {
		tag := "</" + around[1] + ">"
		if !strings.HasPrefix(text[n:], tag) {
			return "", n, fmt.Errorf("%s does not follow where the arguments of %s end", tag, name)
		}
		n = skipSpace(text, n+len(tag))
	}
	return arguments, n, nil
}

// nameTag matches the name of a tool in a tag for it.
var nameTag = regexp.MustCompile(`^(?:(?:<(?:invoke|function|tool)>|` +
	`<server_name>[\w.-]*</server_name>)\s*)*<(?:tool_|function_)?name>\s*([\w.\\:-]+)\s*</(?:tool_|function_)?name>`)

// nameInTag reads the name of a tool in a tag for it, and its arguments in one for them.
func (s *scanner) nameInTag(text string) ([]writtenCall, int, error) {
	found := nameTag.FindStringSubmatch(text)
	n := skipSpace(text, len(found[0]))
	if !argumentsTag.MatchString(text[n:]) && !strings.HasPrefix(text[n:], "</") {
		return nil, n, fmt.Errorf("<arguments> does not follow the name %.100q", found[1])
	}
	arguments, n, err := s.within(found[1], text, n, "</")
	if err != nil {
		return nil, n, err
	}
	return oneCall(found[1], arguments, text[:n]), n, nil
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
	argKey    = regexp.MustCompile(`^<(?:longcat_)?arg_key>\s*([\w.\\-]+)\s*(?:</(?:longcat_)?arg_key>\s*)+` +
		`<(?:longcat_)?arg_value>`)
	argValue = regexp.MustCompile(`</?(?:longcat_)?arg_(?:key|value)>|</(?:longcat_)?tool_call>`)
	valueEnd = regexp.MustCompile(`^</(?:longcat_)?arg_value>`)
	pairsEnd = regexp.MustCompile(`^\s*</(?:longcat_)?tool_call>`)
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
	return oneCall(found[1], o.json(), text[:n]), n, nil
}

var keyTag = regexp.MustCompile(`^<(\w+)>`)

// keyTags reads any number of values, each in a tag with the name of the argument.
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

var ownTag = regexp.MustCompile(`^(?:<(\w+)\s*(/?)>|([\w.\\:-]+)\s*(<\w+>))`)

// own reads a tag with the tool's name, or the name before other tags. It reads the arguments, and the end tag of the
// tool or of the call.
func (s *scanner) own(text string) (calls []writtenCall, n int, err error) {
	tag := ownTag.FindStringSubmatch(text)
	name, arguments, n := tag[1]+tag[3], "{}", len(tag[0])-len(tag[4])
	if tag[2] == "" {
		if arguments, n, err = s.within(name, text, n, "</"); err != nil {
			return nil, n, err
		}
		end := ""
		for _, may := range []string{"</" + name + ">", "</tool_call>"} {
			if strings.HasPrefix(text[n:], may) {
				end = may
			}
		}
		if end == "" {
			return nil, n, fmt.Errorf("</%s> does not follow where its arguments end", name)
		}
		n += len(end)
	}
	return oneCall(name, arguments, text[:n]), n, nil
}

const space = " \t\r\n"

func skipSpace(text string, n int) int { return len(text) - len(strings.TrimLeft(text[n:], space)) }

package textcalls

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"annotator"
	"annotator/internal/laxjson"
)

var (
	keyBegins = regexp.MustCompile(`^\w+:[ \t\n]`)
	keyLine   = regexp.MustCompile(`^(\w+):[ \t]+([^\s|>&*!%@#].*)\n`)
)

// lines reads arguments up to the mark that ends them: one per line with its name, or as YAML. A value on one line may
// be invalid in YAML.
func lines(text string, n int, end string) (arguments string, size int, err error) {
	if arguments, size, err = keyLines(text, n); err == nil && strings.HasPrefix(text[size:], end) {
		return arguments, size, nil
	}
	length := strings.Index(text[n:], "\n"+end)
	if length < 0 {
		return "", len(text), fmt.Errorf("%s does not follow where the lines of arguments end", end)
	}
	if arguments, err = yamlObject(text[n : n+length+1]); err != nil {
		return "", n, fmt.Errorf("the lines of arguments are no YAML: %w", err)
	}
	return arguments, n + length + 1, nil
}

// keyLines reads any number of lines, each with a name of an argument and its value. A value that begins as JSON must
// be JSON. A value that continues on another line is not read.
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

// yamlObject reads a mapping of YAML as a JSON object. A value without quotes is a string, which the tool's schema
// converts. Anchors, tags and comments are errors: a # may be a part of the value.
func yamlObject(text string) (strict string, err error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return "", err
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return "", errors.New("they are not names with values")
	}
	return yamlValue(document.Content[0], 0)
}

func yamlValue(node *yaml.Node, depth int) (strict string, err error) {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch {
	case depth > laxjson.MaxDepth:
		return "", fmt.Errorf("more than %d levels deep", laxjson.MaxDepth)
	case node.Anchor != "" || node.Style&yaml.TaggedStyle != 0 || node.Kind == yaml.AliasNode:
		return "", errors.New("anchors and tags are not read")
	case node.HeadComment+node.LineComment+node.FootComment != "":
		return "", errors.New("a value with # needs quotes")
	case node.Kind == yaml.MappingNode:
		return yamlMapping(node, depth)
	case node.Kind == yaml.SequenceNode:
		items := make([]string, len(node.Content))
		for i, item := range node.Content {
			if items[i], err = yamlValue(item, depth+1); err != nil {
				return "", err
			}
		}
		return "[" + strings.Join(items, ",") + "]", nil
	case node.Style&quoted == 0 && node.Tag == "!!null":
		return "null", nil
	}
	return annotator.EncodeJSON(node.Value), nil
}

func yamlMapping(node *yaml.Node, depth int) (string, error) {
	var o object
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.Kind != yaml.ScalarNode {
			return "", errors.New("a name of an argument is no word")
		}
		if _, err := yamlValue(key, depth+1); err != nil {
			return "", err
		}
		value, err := yamlValue(node.Content[i+1], depth+1)
		if err != nil {
			return "", err
		}
		if err := o.add(key.Value, value); err != nil {
			return "", err
		}
	}
	return o.json(), nil
}

package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"annotator"
)

// Limits of external JSON.
const (
	maxBytes = 1 << 20
	maxDepth = 16
)

// parseJSON parses exactly one JSON value. Duplicate keys, invalid UTF-8, and too many bytes or levels are errors.
// Whole numbers become int64, so that 1.0 is 1 and a long id keeps all digits; other numbers become float64.
func parseJSON(text string) (any, error) {
	if len(text) > maxBytes {
		return nil, fmt.Errorf("%d bytes; at most %d are read", len(text), maxBytes)
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("not valid UTF-8")
	}
	if err := wellFormed(text); err != nil {
		return nil, err
	}
	p := parser{json.NewDecoder(strings.NewReader(text))}
	p.UseNumber()
	return p.value(0)
}

// wellFormed checks the syntax of the whole text. Reading token by token would stop after the first value.
func wellFormed(text string) error {
	err := json.Unmarshal([]byte(text), new(json.RawMessage))
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("%w at byte %d of %d", err, syntax.Offset, len(text))
	}
	return err
}

type parser struct{ *json.Decoder }

func (p parser) value(depth int) (any, error) {
	token, err := p.Token()
	if err != nil {
		return nil, err
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("more than %d levels deep", maxDepth)
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return p.object(depth + 1)
		}
		return p.array(depth + 1)
	case json.Number:
		return parseNumber(t)
	}
	return token, nil
}

func (p parser) object(depth int) (any, error) {
	object := map[string]any{}
	for p.More() {
		token, err := p.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string) // a string, since the syntax is valid
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("the key %.100q stands twice", key)
		}
		if object[key], err = p.value(depth); err != nil {
			return nil, err
		}
	}
	_, err := p.Token()
	return object, err
}

func (p parser) array(depth int) (any, error) {
	array := []any{}
	for p.More() {
		item, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		array = append(array, item)
	}
	_, err := p.Token()
	return array, err
}

// maxExactInteger is the limit below which float64 represents every whole number exactly.
const maxExactInteger = 1 << 53

func parseNumber(n json.Number) (any, error) {
	if whole, err := n.Int64(); err == nil {
		return whole, nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("the number %.40s is out of range", n)
	}
	if f == math.Trunc(f) && math.Abs(f) < maxExactInteger {
		return int64(f), nil
	}
	return f, nil
}

// jsonType names the JSON type of a parsed value.
func jsonType(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// unescapeAll unescapes all texts of a value but quotations, which are looked for as they are first.
func unescapeAll(value any) any {
	switch v := value.(type) {
	case string:
		return annotator.Unescape(v)
	case []any:
		for i := range v {
			v[i] = unescapeAll(v[i])
		}
	case map[string]any:
		for name := range v {
			if name != "quote" {
				v[name] = unescapeAll(v[name])
			}
		}
	}
	return value
}

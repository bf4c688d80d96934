package spoken

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxDepth is how many levels of arrays and objects are read, as package tools reads them.
const maxDepth = 18

// skipValue returns the length of the one JSON value that text begins with. It is stricter than encoding/json: a key that stands
// twice in an object is an error.
func skipValue(text string) (int, error) {
	d := json.NewDecoder(strings.NewReader(text))
	if err := skip(d, 0); err != nil {
		return 0, err
	}
	n := int(d.InputOffset())
	if !json.Valid([]byte(text[:n])) {
		return 0, errors.New("it is no JSON")
	}
	return n, nil
}

func skip(d *json.Decoder, depth int) error {
	token, err := d.Token()
	if err != nil {
		return fmt.Errorf("its JSON is not whole: %w", err)
	}
	open, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	if depth == maxDepth {
		return fmt.Errorf("it is more than %d levels deep", maxDepth)
	}
	keys := map[string]bool{}
	for d.More() {
		if open == '{' {
			if err := key(d, keys); err != nil {
				return err
			}
		}
		if err := skip(d, depth+1); err != nil {
			return err
		}
	}
	if _, err = d.Token(); err != nil {
		return fmt.Errorf("its JSON is not whole: %w", err)
	}
	return nil
}

// key reads an object's next key, which must be a new one.
func key(d *json.Decoder, keys map[string]bool) error {
	token, err := d.Token()
	if err != nil {
		return fmt.Errorf("its JSON is not whole: %w", err)
	}
	name, _ := token.(string)
	if keys[name] {
		return fmt.Errorf("the key %.100q stands twice in it", name)
	}
	keys[name] = true
	return nil
}

// fields returns the fields of an object; nil where raw is none. Raw is one valid value.
func fields(raw string) map[string]json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &o) != nil {
		return nil
	}
	return o
}

package textcalls

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxDepth is how many levels of arrays and objects are read: a few more than the arguments of any tool have.
const maxDepth = 18

// skipValue returns the length of the one JSON value at the beginning of a text; with an error, of what of it could be
// read. It is stricter than encoding/json: a key twice in an object is an error.
func skipValue(text string) (int, error) {
	d := json.NewDecoder(strings.NewReader(text))
	err := skip(d, 0)
	n := int(d.InputOffset())
	if err == nil && !json.Valid([]byte(text[:n])) {
		err = errors.New("it is no JSON")
	}
	return n, err
}

func skip(d *json.Decoder, depth int) error {
	token, err := next(d)
	open, ok := token.(json.Delim)
	switch {
	case err != nil || !ok:
		return err
	case depth == maxDepth:
		return fmt.Errorf("it is more than %d levels deep", maxDepth)
	}
	keys := map[json.Token]bool{}
	for d.More() {
		if open == '{' {
			key, err := next(d)
			if err != nil {
				return err
			}
			if keys[key] {
				return fmt.Errorf("the key %.100q stands twice in it", key)
			}
			keys[key] = true
		}
		if err := skip(d, depth+1); err != nil {
			return err
		}
	}
	_, err = next(d)
	return err
}

func next(d *json.Decoder) (json.Token, error) {
	token, err := d.Token()
	if err != nil {
		err = fmt.Errorf("its JSON is not whole: %w", err)
	}
	return token, err
}

package endpoint

import (
	"bytes"
	"errors"
	"strings"

	"annotator/model"
)

// secret is a key, which must not leave in any other way than in the header of a request. Servers quote keys in their
// errors, so all that is kept of an answer is masked here, and nowhere else.
type secret string

// shortestSecret is the length in bytes from which a key is taken for one: local servers are given words like "none" or
// "EMPTY", and to mask those would garble every message.
const shortestSecret = 8

const maskText = "[key]"

func (s secret) mask(text string) string {
	if len(s) < shortestSecret {
		return text
	}
	return strings.ReplaceAll(text, string(s), maskText)
}

func (s secret) maskBytes(b []byte) []byte {
	if len(s) < shortestSecret || !bytes.Contains(b, []byte(s)) {
		return b
	}
	return bytes.ReplaceAll(b, []byte(s), []byte(maskText))
}

// conceal masks all that a fault shows.
func (s secret) conceal(f *model.Fault) *model.Fault {
	f.Message, f.Code, f.Param = s.mask(f.Message), s.mask(f.Code), s.mask(f.Param)
	f.Raw = s.maskBytes(f.Raw)
	for _, values := range f.Header {
		for i := range values {
			values[i] = s.mask(values[i])
		}
	}
	if f.Err != nil {
		if shown := f.Err.Error(); s.mask(shown) != shown {
			f.Err = concealed{text: s.mask(shown), err: f.Err}
		}
	}
	return f
}

// concealed is an error whose own text holds the key. It can be asked for its causes, but does not hand them out to print.
type concealed struct {
	text string
	err  error
}

func (c concealed) Error() string        { return c.text }
func (c concealed) Is(target error) bool { return errors.Is(c.err, target) }

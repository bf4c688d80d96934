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

// longSecret is the length in bytes from which a key is no word that could stand in a story.
const longSecret = 16

// redact masks what a reply shows. Its words stay as they are where the key could be one of them.
func (s secret) redact(r *model.Reply) *model.Reply {
	r.Raw = s.maskBytes(r.Raw)
	if len(s) < longSecret {
		return r
	}
	r.Text, r.Reasoning, r.Finish, r.Model = s.mask(r.Text), s.mask(r.Reasoning), s.mask(r.Finish), s.mask(r.Model)
	for i := range r.Calls {
		c := &r.Calls[i]
		c.ID, c.Name, c.Arguments = s.mask(c.ID), s.mask(c.Name), s.mask(c.Arguments)
	}
	return r
}

// concealed is an error whose own text holds the key. It can be asked for its causes, but does not hand them out to print.
type concealed struct {
	text string
	err  error
}

func (c concealed) Error() string        { return c.text }
func (c concealed) Is(target error) bool { return errors.Is(c.err, target) }

package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"annotator/model"
)

// secret is a key, which is sent only in the header of a request. Servers quote keys in their errors, so this type
// masks the key in everything that is kept of a response. The zero secret masks nothing.
type secret struct {
	forms *regexp.Regexp // the key as it is, or escaped by JSON or a URL, however often
	key   string
	long  bool // so long that it cannot be a word of a story
}

// The lengths in bytes from which a key is masked in errors, and in replies, too. Local servers are given words like
// "none" or "EMPTY", and masking these would garble every message.
const (
	shortestSecret = 8
	longSecret     = 16
)

const maskText = "[key]"

func newSecret(key string) secret {
	if len(key) < shortestSecret {
		return secret{}
	}
	var forms strings.Builder
	for _, sign := range key {
		fmt.Fprintf(&forms, `(?:\\{0,3}(?:%s|(?i:u%04x))|%%(?:25){0,3}(?i:%02x))`, regexp.QuoteMeta(string(sign)), sign,
			sign)
	}
	return secret{forms: regexp.MustCompile(forms.String()), key: key, long: len(key) >= longSecret}
}

func (s secret) mask(text string) string { return string(s.maskBytes([]byte(text))) }

func (s secret) maskBytes(b []byte) []byte {
	if s.forms == nil {
		return b
	}
	return s.maskCut(s.forms.ReplaceAllLiteral(b, []byte(maskText)))
}

// maskCut masks the beginning of the key at the end of a text that was cut.
func (s secret) maskCut(b []byte) []byte {
	for n := len(s.key) - 1; n >= shortestSecret; n-- {
		if whole, ok := bytes.CutSuffix(b, []byte(s.key[:n])); ok {
			return append(slices.Clip(whole), maskText...)
		}
	}
	return b
}

// maskFault masks all texts of a fault.
func (s secret) maskFault(f *model.Fault) *model.Fault {
	f.Message, f.Code, f.Param = s.mask(f.Message), s.mask(f.Code), s.mask(f.Param)
	f.Raw = s.maskBytes(f.Raw)
	for _, values := range f.Header {
		for i := range values {
			values[i] = s.mask(values[i])
		}
	}
	if f.Err != nil {
		if shown := f.Err.Error(); s.mask(shown) != shown {
			f.Err = maskedError{text: s.mask(shown), err: f.Err}
		}
	}
	return f
}

// maskReply masks the texts of a reply, unless the key could be a word of the story. If the model wrote the key, the
// raw response is dropped: a stream may contain the key in pieces.
func (s secret) maskReply(r *model.Reply) *model.Reply {
	r.Raw = s.maskBytes(r.Raw)
	if !s.long {
		return r
	}
	shown := []*string{&r.Text, &r.Reasoning, &r.Finish, &r.Model}
	for i := range r.Calls {
		shown = append(shown, &r.Calls[i].ID, &r.Calls[i].Name, &r.Calls[i].Arguments)
	}
	for _, text := range shown {
		if masked := s.mask(*text); masked != *text {
			*text, r.Raw = masked, nil
		}
	}
	return r
}

// maskedError is an error whose own text contains the key. errors.Is finds its causes, but nothing can print them.
type maskedError struct {
	text string
	err  error
}

func (c maskedError) Error() string        { return c.text }
func (c maskedError) Is(target error) bool { return errors.Is(c.err, target) }

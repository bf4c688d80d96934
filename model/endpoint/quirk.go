package endpoint

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"

	"annotator"
	"annotator/model"
)

// Quirk is something that a server wants otherwise than most do: a bit that its wire gives a meaning.
type Quirk uint32

// Quirks are those of one server. They are learned of its faults and never forgotten, for a server does not change its API in
// the middle of a run. The zero value is a server without any.
type Quirks struct{ known atomic.Uint32 }

// Lesson is how a server says that it has a quirk.
type Lesson struct {
	Quirk
	Said *regexp.Regexp // of the fault's parameter and message, in lower case
	Does string         // what is done about it from now on, in a few words
}

// Has reports whether a quirk was learned.
func (q *Quirks) Has(one Quirk) bool { return Quirk(q.known.Load())&one != 0 }

// Learn looks for the first lesson that a fault holds and that was not learned before, and returns what it does. See
// model.Adapter.
func (q *Quirks) Learn(f *model.Fault, lessons []Lesson) string {
	if !mayTeach(f) {
		return ""
	}
	said := strings.ToLower(cmp.Or(f.Param, "-") + " " + f.Message)
	for i := range lessons {
		l := &lessons[i]
		if l.Said.MatchString(said) && Quirk(q.known.Or(uint32(l.Quirk)))&l.Quirk == 0 {
			return l.Does
		}
	}
	return ""
}

// Refuses finds the name of a setting together with a word that says it is not wanted.
func Refuses(setting string) *regexp.Regexp {
	const word = `(unsupported|not support|deprecated|unknown|unrecognized|unexpected|extra inputs|extra_forbidden|not permitted|not allowed)`
	setting = `\b` + setting + `\b`
	return regexp.MustCompile(`(?s)` + word + `.*` + setting + `|` + setting + `.*` + word)
}

// mayTeach tells a complaint about the form of a request from what can befall any request. A template that fails is a 500 to
// some servers, and a frame of a stream to others.
func mayTeach(f *model.Fault) bool {
	switch f.Kind {
	case annotator.Misconfigured, annotator.Refused, annotator.Transient, annotator.Malformed:
	default:
		return false
	}
	switch f.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusOK:
		return true
	}
	return false
}

package openai

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"

	"annotator"
	"annotator/model"
)

// quirk is something that a server wants otherwise than most do.
type quirk uint32

// The quirks.
const (
	noSystem      quirk = 1 << iota // there is no system role: its prompt begins the first message of the user
	oneOfARole                      // two messages of one role must not follow each other: they are sent as one
	newLimit                        // max_tokens is max_completion_tokens
	noTemperature                   // this and those below are left out
	noUsage
	noSeed
	noNamedTool // a tool cannot be chosen by name: any is demanded instead
	noChoice
)

// quirks are those of one server. They are learned, never forgotten: a server does not change its API in the middle of a run.
type quirks struct{ known atomic.Uint32 }

func (q *quirks) has(one quirk) bool { return quirk(q.known.Load())&one != 0 }

// learn reports whether a quirk was not known before.
func (q *quirks) learn(one quirk) bool { return quirk(q.known.Or(uint32(one)))&one == 0 }

// lessons are what a server says for whom a quirk is needed, the most exact first.
var lessons = [...]struct {
	quirk
	said *regexp.Regexp // of the message in lower case
	says string         // what is done about it
}{
	{noSystem, regexp.MustCompile(`system role (is )?not supported|role'? does not support 'system'|only user and assistant roles`), "the system prompt goes into the first message of the user"},
	{oneOfARole, regexp.MustCompile(`roles must alternate`), "neighbouring messages of one role go as one"},
	{newLimit, refuses(`max_tokens`), "the limit on a reply goes as max_completion_tokens"},
	{noTemperature, refuses(`temperature`), "the temperature is left to the server"},
	{noUsage, refuses(`stream_options`), "no account of tokens is asked for in streams"},
	{noSeed, refuses(`seed`), "no seed is sent"},
	{noNamedTool, regexp.MustCompile(`tool_choice.*\bobject\b`), "a tool is not chosen by name"},
	{noChoice, refuses(`tool_choice`), "no choice of tools is sent"},
}

// refuses finds the name of a setting together with a word that says it is not wanted.
func refuses(setting string) *regexp.Regexp {
	const word = `(unsupported|not support|unknown|unrecognized|unexpected|extra inputs|extra_forbidden|not permitted|not allowed)`
	setting = `\b` + setting + `\b`
	return regexp.MustCompile(`(?s)` + word + `.*` + setting + `|` + setting + `.*` + word)
}

// Adapt learns what a server wants otherwise. See model.Adapter.
func (c *Client) Adapt(f *model.Fault) string {
	if !mayTeach(f) {
		return ""
	}
	said := strings.ToLower(cmp.Or(f.Param, "-") + " " + f.Message)
	for i := range lessons {
		if lessons[i].said.MatchString(said) && c.quirks.learn(lessons[i].quirk) {
			return lessons[i].says
		}
	}
	return ""
}

// mayTeach tells a complaint about the form of a request from what can befall any request. A template that fails is a 500 to
// some servers.
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

package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// errorBody is the error in a response body. Servers use many forms: {"error":{…}}, {"error":"…"},
// {"object":"error",…}, {"detail":…}, [{"error":…}], plain text, nothing.
type errorBody struct {
	isError  bool // by its structure, whatever the status
	isObject bool // it is JSON, unlike the page of a proxy
	message  string
	text     string   // that is searched for phrases: the message and its metadata, in lower case
	codes    []string // for programs, in lower case, the most specific first
	param    string   // the field of the request that is at fault
	status   int      // HTTP status that the body names; 0 for none
	context  int      // tokens of context that the server has; 0 where it does not say
	retry    string   // how long to wait, as in a Retry-After header
}

// textLimit is how many bytes of a body are searched for phrases: after that a server may quote the request.
const textLimit = 2000

func readErrorBody(body []byte) errorBody {
	o, isError := findError(bytes.TrimPrefix(body, []byte("\ufeff")))
	if o == nil {
		return errorBody{message: plain(body), text: searchable(string(body))}
	}
	said := cmp.Or(text(o["message"]), text(o["msg"]))
	c := errorBody{isError: isError, isObject: true, message: clip(said), param: text(o["param"])}
	c.text = searchable(said + " " + text(o["metadata"]))
	c.takeDetails(o["details"])
	for _, name := range []string{"code", "type", "status", "error_type"} {
		c.take(text(o[name]))
	}
	if c.context = number(o["n_ctx"]); c.context == 0 {
		c.context = contextIn(c.text)
	}
	return c
}

// takeDetails reads the details of Google's APIs: a reason for programs, and how long to wait.
func (c *errorBody) takeDetails(raw json.RawMessage) {
	var details []struct {
		Reason string `json:"reason"`
		Retry  string `json:"retryDelay"`
	}
	_ = json.Unmarshal(raw, &details) // on other servers it is something else
	for _, d := range details {
		c.take(d.Reason)
		c.retry = cmp.Or(c.retry, d.Retry)
	}
}

// take adds a code to the names, or to the status.
func (c *errorBody) take(code string) {
	n, err := strconv.Atoi(code)
	switch {
	case err != nil && code != "":
		c.codes = append(c.codes, strings.ToLower(clip(code)))
	case n >= 400 && n < 600 && c.status == 0:
		c.status = n
	}
}

// code returns the most specific name of the error, or "".
func (c *errorBody) code() string {
	if len(c.codes) == 0 {
		return ""
	}
	return c.codes[0]
}

// fields are those of a JSON object.
type fields = map[string]json.RawMessage

// findError returns the object that describes the error; nil where the body is no object. isError reports whether its
// place alone shows that it is an error. Of several errors it returns the first.
func findError(body []byte) (o fields, isError bool) {
	top := object(body)
	if inner := top["error"]; present(inner) {
		if o = object(inner); o != nil {
			return o, true
		}
		return withMessage(top, text(inner)+" "+text(top["message"])), true
	}
	if inner := object(top["errors"]); inner != nil && !present(top["choices"]) {
		return inner, true
	}
	if present(top["detail"]) && !present(top["choices"]) {
		return withMessage(top, text(top["detail"])), true
	}
	return top, text(top["object"]) == "error" || text(top["type"]) == "error"
}

func withMessage(top fields, message string) fields {
	quoted, _ := json.Marshal(strings.TrimSpace(message))
	top["message"] = quoted
	return top
}

// object returns the fields of an object, or of the first one in an array; nil where raw is neither.
func object(raw []byte) fields {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	var o fields
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

func present(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "false", `""`:
		return false
	}
	return true
}

// text returns a string as it is, null as nothing, and any other value as its JSON.
func text(raw json.RawMessage) string {
	var s *string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	if s == nil {
		return ""
	}
	return *s
}

func number(raw json.RawMessage) int {
	var n int
	if json.Unmarshal(raw, &n) != nil {
		return 0
	}
	return max(n, 0)
}

// contextLength matches the server's limit in messages of vLLM, SGLang, LM Studio, OpenAI and Gemini.
var contextLength = regexp.MustCompile(`(?:context length\D{0,20}|maximum number of tokens allowed \()(\d{1,9})`)

func contextIn(s string) int {
	found := contextLength.FindStringSubmatch(s)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// plain returns the message of a body that is no JSON object. A web page has none, and neither has a body that only
// names its status.
func plain(body []byte) string {
	said := clip(string(body))
	if isPage(body) || said == "null" || said == http.StatusText(http.StatusBadRequest) {
		return ""
	}
	return said
}

func firstBytes(body []byte) []byte {
	return bytes.TrimLeft(body[:min(len(body), 512)], " \t\r\n\ufeff")
}

func searchable(s string) string { return strings.ToLower(s[:min(len(s), textLimit)]) }

// messageLimit is the length of a message in bytes.
const messageLimit = 400

// clip makes one short printable line of a text from a server.
func clip(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), 4*messageLimit)], "")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }), " ")
	if len(s) <= messageLimit {
		return s
	}
	return strings.ToValidUTF8(s[:messageLimit], "") + "..."
}

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
	text     string   // to be searched for phrases: the message and its metadata, in lower case
	codes    []string // for programs, in lower case, the most specific first
	param    string   // the field of the request that is at fault
	status   int      // HTTP status that the body names; 0 for none
	context  int      // the server's context in tokens; 0 if not given
	retry    string   // how long to wait, as in a Retry-After header
}

// textLimit is how many bytes of a body are searched for phrases. After these, a server may quote the request.
const textLimit = 2000

func readErrorBody(body []byte) errorBody {
	o, isError := findError(bytes.TrimPrefix(body, []byte("\ufeff")))
	if o == nil {
		return errorBody{message: plain(body), text: searchable(string(body))}
	}
	said := string(cmp.Or(o.Message, o.Msg))
	c := errorBody{isError: isError, isObject: true, message: clip(said), param: string(o.Param)}
	c.text = searchable(said + " " + string(o.Metadata))
	var details []struct { // of Google's APIs
		Reason string `json:"reason"`
		Retry  string `json:"retryDelay"`
	}
	_ = json.Unmarshal([]byte(o.Details), &details) // on other servers it is something else
	for _, d := range details {
		c.addCode(d.Reason)
		c.retry = cmp.Or(c.retry, d.Retry)
	}
	for _, code := range []value{o.Code, o.Type, o.Status, o.ErrorType} {
		c.addCode(string(code))
	}
	if n, err := strconv.Atoi(string(o.Context)); err == nil && n > 0 {
		c.context = n
	} else if found := contextLength.FindStringSubmatch(c.text); found != nil {
		c.context, _ = strconv.Atoi(found[1])
	}
	return c
}

// addCode adds a code to the codes, or sets the status if it is a number.
func (c *errorBody) addCode(code string) {
	n, err := strconv.Atoi(code)
	switch {
	case err != nil && code != "":
		c.codes = append(c.codes, strings.ToLower(clip(code)))
	case n >= 400 && n < 600 && c.status == 0:
		c.status = n
	}
}

// errorFields are the fields with which servers describe an error, and the fields that contain such an object.
type errorFields struct {
	Message, Msg, Param, Metadata, Details value
	Code, Type, Status                     value
	ErrorType                              value `json:"error_type"`
	Context                                value `json:"n_ctx"`

	Error, Errors, Detail, Object, Choices value
}

// value is a string; empty for null and false. Any other value is its JSON.
type value string

// UnmarshalJSON reads any value.
func (v *value) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil && string(raw) != "false" {
		s = string(raw)
	}
	*v = value(s)
	return nil
}

// findError returns the first object that describes an error; nil if the body is no object. isError reports whether the
// position of the object shows that it is an error.
func findError(body []byte) (o *errorFields, isError bool) {
	top := readFields(body)
	switch {
	case top == nil:
		return nil, false
	case top.Error != "":
		if o := readFields([]byte(top.Error)); o != nil {
			return o, true
		}
		top.Message = value(strings.TrimSpace(string(top.Error + " " + top.Message)))
		return top, true
	case top.Choices == "" && strings.ContainsAny(string(top.Errors), "{"):
		return readFields([]byte(top.Errors)), true
	case top.Choices == "" && top.Detail != "":
		top.Message = top.Detail
		return top, true
	}
	return top, top.Object == "error" || top.Type == "error"
}

// readFields reads an object, or the first one in an array; nil if raw is neither.
func readFields(raw []byte) *errorFields {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	var o *errorFields
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

// contextLength matches the server's limit in messages of vLLM, SGLang, LM Studio, OpenAI and Gemini.
var contextLength = regexp.MustCompile(`(?:context length\D{0,20}|maximum number of tokens allowed \(|` +
	`max_model_len=)(\d{1,9})`)

// plain returns the message of a body that is no JSON object. It is empty for a web page, and for a body that only
// names its status.
func plain(body []byte) string {
	said := clip(string(body))
	if isPage(body) || said == "null" || said == http.StatusText(http.StatusBadRequest) {
		return ""
	}
	return said
}

func searchable(s string) string { return strings.ToLower(s[:min(len(s), textLimit)]) }

// messageLimit is the maximum length of a message in bytes.
const messageLimit = 400

// clip returns a text of a server as one short printable line.
func clip(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), 4*messageLimit)], "")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsGraphic(r)
	}), " ")
	if len(s) <= messageLimit {
		return s
	}
	return strings.ToValidUTF8(s[:messageLimit], "") + "..."
}

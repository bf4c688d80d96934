package faults_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"annotator/internal/scripted"
)

// form is one form of a fault: the wrongs of the first affected request, of the second, and so on. The last one applies
// to all further requests.
type form []wrong

// wrong is a fault of a request. The zero value is none.
type wrong struct {
	// the destination of the request instead of the server
	way   wrongWay
	fault func(r *scripted.Request) *scripted.Fault                       // replaces the answer, unless it is nil
	reply func(r *scripted.Request, honest scripted.Reply) scripted.Reply // what the model says
	// changes the answer, which is sent in one piece or as one event
	shape func(answer map[string]any)
	edit  func(body string) string // changes its bytes
	// the number of bytes that are sent at a time; 0: all
	pace int
}

// trouble is a form of a fault at a place of a run.
type trouble struct {
	form  form
	aim   func(body []byte) bool // the requests at which it is aimed
	place int                    // the first affected of these, from 1
	times int                    // how many requests it strikes
	alone bool                   // it affects no other requests

	passed, struck int // requests so far
}

// calm is no trouble.
func calm() *trouble { return &trouble{} }

// troubleMark is the header that selects the wrong of a form for a request.
const troubleMark = "X-Trouble"

// strikes counts a request and marks it, if it is affected.
func (t *trouble) strikes(header http.Header, body []byte) {
	if t.times == 0 {
		return
	}
	aimed := t.aim(body)
	if aimed {
		t.passed++
	}
	if t.passed >= t.place && t.struck < t.times && (aimed || !t.alone) {
		header.Set(troubleMark, strconv.Itoa(min(t.struck, len(t.form)-1)))
		t.struck++
	}
}

// showsScene is a question about a scene of the story. Other questions are asked between these.
func showsScene(body []byte) bool { return bytes.Contains(body, []byte("scene number=")) }

// marked returns the wrong of a request.
func (t *trouble) marked(header http.Header) *wrong {
	n, err := strconv.Atoi(header.Get(troubleMark))
	if err != nil {
		return &wrong{}
	}
	return &t.form[n]
}

// server returns a server that works except for marked requests.
func (t *trouble) server() http.Handler {
	sound := scripted.New(scripted.Options{
		Strict: true,
		Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if w := t.marked(r.Header); w.fault != nil {
				return w.fault(&r)
			}
			return nil
		},
		Script: func(r scripted.Request) scripted.Reply {
			if w := t.marked(r.Header); w.reply != nil {
				return w.reply(&r, keepsGlossary(r))
			}
			return keepsGlossary(r)
		},
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wrong := t.marked(r.Header)
		if wrong.shape == nil && wrong.edit == nil {
			sound.ServeHTTP(w, r)
			return
		}
		wrong.serve(w, r, sound)
	})
}

// serve changes the answer of the working server.
func (w *wrong) serve(to http.ResponseWriter, r *http.Request, sound http.Handler) {
	asked, _ := io.ReadAll(r.Body)
	stream := bytes.Contains(asked, []byte(`"stream":true`))
	if w.shape != nil {
		asked = bytes.Replace(asked, []byte(`"stream":true`), []byte(`"stream":false`), 1)
		asked = bytes.Replace(asked, []byte(`,"stream_options":{"include_usage":true}`), nil, 1)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(asked)), int64(len(asked))
	answer := httptest.NewRecorder()
	sound.ServeHTTP(answer, r)
	body := answer.Body.String()
	maps.Copy(to.Header(), answer.Header())
	if w.shape != nil {
		body = reshape(body, stream, w.shape)
		if stream {
			to.Header().Set("Content-Type", "text/event-stream")
		}
	}
	if w.edit != nil {
		body = w.edit(body)
	}
	to.WriteHeader(answer.Code)
	for piece := range pieces(body, w.pace) {
		_, _ = io.WriteString(to, piece)
		_ = http.NewResponseController(to).Flush()
	}
}

func pieces(body string, size int) func(yield func(string) bool) {
	if size == 0 {
		size = max(len(body), 1)
	}
	return func(yield func(string) bool) {
		for len(body) > size && yield(body[:size]) {
			body = body[size:]
		}
		yield(body)
	}
}

// reshape changes an answer. As a stream it is a single event.
func reshape(body string, stream bool, shape func(map[string]any)) string {
	var answer map[string]any
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&answer); err != nil {
		return body
	}
	if shape(answer); !stream {
		return encoded(answer)
	}
	choices, _ := answer["choices"].([]any)
	for _, choice := range choices {
		choice := choice.(map[string]any)
		choice["delta"] = choice["message"]
		delete(choice, "message")
	}
	return "data: " + encoded(answer) + "\n\ndata: [DONE]\n\n"
}

func encoded(value any) string {
	text, _ := json.Marshal(value) // it was JSON
	return string(text)
}

// message returns the message of an answer.
func message(answer map[string]any) map[string]any {
	return answer["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)
}

// calls returns the calls in the message of an answer.
func calls(answer map[string]any) (all []map[string]any) {
	for _, call := range message(answer)["tool_calls"].([]any) {
		all = append(all, call.(map[string]any))
	}
	return all
}

// The makers of forms.

// answers replaces an answer with an error or another text. A header is written as "Name: value".
func answers(status int, body string, headers ...string) form {
	f := scripted.Fault{Status: status, Body: body, Header: http.Header{}}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		f.Header.Set(name, value)
	}
	return form{{fault: func(*scripted.Request) *scripted.Fault { return &f }}}
}

// breaks has the connection misbehave.
func breaks(f scripted.Fault) form {
	return form{{fault: func(*scripted.Request) *scripted.Fault { return &f }}}
}

// drips sends the answer in pieces, with a pause after each, and never ends.
func drips(piece string, pause time.Duration) form {
	return breaks(scripted.Fault{Serve: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
			}
		}
	})})
}

// says changes the text of the model.
func says(reply func(r *scripted.Request, honest scripted.Reply) scripted.Reply) form {
	return form{{reply: reply}}
}

// shaped changes the encoded answer.
func shaped(shape func(answer map[string]any)) form { return form{{shape: shape}} }

// edited changes the bytes of the answer.
func edited(edit func(body string) string) form { return form{{edit: edit}} }

// takes sends the request to another destination.
func takes(way wrongWay) form { return form{{way: way}} }

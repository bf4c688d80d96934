package endpoint_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

// listener is an assembler that keeps what it is given.
type listener struct {
	endpoint.Builder
	events []event
}

type event struct{ name, data string }

// Whole keeps a reply that came as one object.
func (l *listener) Whole(body []byte) error {
	l.events = append(l.events, event{data: string(body)})
	return nil
}

// Event keeps an event.
func (l *listener) Event(name string, data []byte) (bool, error) {
	l.events = append(l.events, event{name, string(data)})
	return false, nil
}

// Growing returns the newest event.
func (l *listener) Growing() string { return l.events[len(l.events)-1].data }

// Reply returns an empty reply.
func (*listener) Reply() (*model.Reply, error) { return &model.Reply{}, nil }

// FuzzEvents: how an answer is split into reads makes no difference, and every event is a part of it.
func FuzzEvents(f *testing.F) {
	f.Add("text/event-stream", []byte(": ping\r\n\r\nevent: a\r\ndata: {\"b\":\r\ndata: 1}\r\n\r\ndata: {}\n\ndata: "+
		"[DONE]\n\n"))
	f.Add("text/event-stream", []byte("\ufeffdata: [1]\ndata\ndata:\nid: 3\nevent: error\ndata: {\"error\":\"x\"}"))
	f.Add("application/json", []byte(" {\"a\":\n1}"))
	f.Add("", []byte("{\"a\":1}\n{\"b\":2}\ndata: torn"))
	f.Add("text/plain", []byte("<html>"))
	f.Fuzz(func(t *testing.T, media string, body []byte) {
		read := func(r io.Reader) (*listener, string) {
			c := newClient(t, endpoint.Options{HTTP: wiretest.Network(func(*http.Request) (*http.Response, error) {
				return wiretest.Response(200, media, r), nil
			})})
			var l listener
			if _, err := c.Complete(t.Context(), &endpoint.Call{URL: c.BaseURL(), Stream: true}, &l); err != nil {
				return &l, err.Error()
			}
			return &l, ""
		}
		whole, said := read(bytes.NewReader(body))
		broken, saidBroken := read(iotest.OneByteReader(bytes.NewReader(body)))
		if !slices.Equal(whole.events, broken.events) || said != saidBroken {
			t.Errorf("byte by byte it reads otherwise: %q %q, %q %q", whole.events, said, broken.events, saidBroken)
		}
		for _, e := range whole.events {
			if !strings.Contains(e.data, "\n") && !bytes.Contains(body, []byte(e.data)) ||
				!bytes.Contains(body, []byte(e.name)) {
				t.Errorf("%q does not stand in the answer", e)
			}
		}
	})
}

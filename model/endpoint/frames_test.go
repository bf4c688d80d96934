package endpoint_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
)

// heard returns what events an assembler was told of, or the fault in their place.
func heard(tb testing.TB, media string, body io.Reader) string {
	tb.Helper()
	c := newClient(tb, endpoint.Options{HTTP: tripper(func(*http.Request) (*http.Response, error) { return response(200, media, body), nil })})
	reply, err := ask(tb.Context(), c)
	if err != nil {
		return "fault: " + string(fault(tb, reply, err).Kind)
	}
	return reply.Text
}

// TestEvents holds how servers write their streams.
func TestEvents(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ give, want string }{
		"ordinary":          {events(`{"a":1}`, `{"b":2}`), `|{"a":1}` + "\n" + `|{"b":2}`},
		"named":             {"event: x\ndata: {}\n\nevent:y\ndata:{}\n\n", "x|{}\ny|{}"},
		"a name holds once": {"event: x\ndata: {}\n\ndata: {}\n\n", "x|{}\n|{}"},
		"no blank lines":    {"data:{\"a\":1}\ndata:{\"b\":2}\ndata:[DONE]\ndata:{}\n", `|{"a":1}` + "\n" + `|{"b":2}`},
		"several lines":     {"event: x\ndata: {\"a\":\ndata:  1,\ndata:\ndata: \"b\":2}\n\ndata: {}\n\n", "x|{\"a\":\n1,\n\"b\":2}\n|{}"},
		"broken off":        {"data: {}\n\ndata: {\"a\":\n", "fault: malformed"},
		"no last line end":  {"data: {}\n\ndata: {\"a\":1}", "|{}\n" + `|{"a":1}`},
		"bare object":       {"{\"a\":1}\n\n", `|{"a":1}`},
		"keep-alives":       {": ping\n\ndata:\n\ndata: \n\nid: 7\nretry: 5\nnonsense\n\nevent: ping\n\ndata: {}\n\n", "|{}"},
		"CR LF and BOM":     {"\ufeffevent: x\r\ndata: {}\r\n\r\n", "x|{}"},
		"[DONE] is the end": {events("{}", "[DONE]", `{"late":1}`), "|{}"},
		"its own end":       {"event: end\ndata: {}\n\ndata: {\"late\":1}\n\n", "end|{}"},
		"an error":          {"event: error\ndata: {\"error\":{\"code\":503}}\n\n", "fault: overloaded"},
		"an error in lines": {"event: error\ndata: context length\ndata: of 9 tokens\n\n", "fault: shrink"},
		"no JSON":           {events("{}", "x"), "fault: malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, body := range []io.Reader{strings.NewReader(test.give), iotest.OneByteReader(strings.NewReader(test.give))} {
				if diff := cmp.Diff(test.want, heard(t, "text/event-stream", body)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestOneObject: what came decides, whatever type it claims to have.
func TestOneObject(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ media, give, want string }{
		"object":                {"application/json", "\ufeff \n{\"a\":1}", `{"a":1}`},
		"list":                  {"application/json", "[1]", "[1]"},
		"object without a type": {"", `{"a":1}`, `{"a":1}`},
		"stream of a type":      {"text/plain", "data: {}\n\n", "|{}"},
		"refused":               {"application/json", "[]", "fault: malformed"},
		"an error":              {"application/json", `{"error":{"code":"insufficient_quota"}}`, "fault: misconfigured"},
		"nothing":               {"application/json", " \r\n", "fault: malformed"},
		"page":                  {"", " <html>", "fault: transient"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, heard(t, test.media, strings.NewReader(test.give))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEventsInAnyForm writes events in the forms that the standard allows, and reads them back.
func TestEventsInAnyForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var stream, want []string
		for range rapid.IntRange(1, 5).Draw(rt, "events") {
			name := rapid.SampledFrom([]string{"", "a", "response.output_text.delta"}).Draw(rt, "name")
			value := fmt.Sprintf(`{"text":%q}`, rapid.StringMatching(`[a-z :{}\[\]é字]{0,40}`).Draw(rt, "text"))
			end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "line end")
			if rapid.Bool().Draw(rt, "keep-alive") {
				stream = append(stream, ": ping", end, end)
			}
			if name != "" {
				stream = append(stream, "event: ", name, end)
			}
			want = append(want, name+"|"+value)
			stream = append(stream, "data:", rapid.SampledFrom([]string{"", " "}).Draw(rt, "space"), value, end, end)
		}
		text := strings.Join(stream, "")
		if diff := cmp.Diff(strings.Join(want, "\n"), heard(t, "text/event-stream", strings.NewReader(text))); diff != "" {
			rt.Fatalf("%q: %s", text, diff)
		}
	})
}

// TestLimits: nothing is read without end, and what is too long is not tried again.
func TestLimits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		media string
		body  io.Reader
	}{
		"line":       {"text/event-stream", io.MultiReader(strings.NewReader("data: "), endless("x"))},
		"event":      {"text/event-stream", endless("data: {" + strings.Repeat("x", 1<<20) + "\n")},
		"answer":     {"application/json", io.MultiReader(strings.NewReader("{"), endless(" "))},
		"keep-alive": {"text/event-stream", endless(": ping" + strings.Repeat(" ", 1<<10) + "\n\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, endpoint.Options{HTTP: tripper(func(*http.Request) (*http.Response, error) { return response(200, test.media, test.body), nil })})
			reply, err := ask(t.Context(), c)
			if f := fault(t, reply, err); f.Kind != annotator.Refused || len(f.Raw) > model.RawLimit {
				t.Errorf("%v is %q", f, f.Kind)
			}
		})
	}
}

// endless is a body that never ends.
type endless string

func (e endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

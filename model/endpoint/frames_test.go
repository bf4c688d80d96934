package endpoint_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

// received returns the events that an assembler received, or the fault in their place.
func received(tb testing.TB, media string, body io.Reader) string {
	tb.Helper()
	c := newClient(tb, endpoint.Options{HTTP: wiretest.Network(func(*http.Request) (*http.Response, error) {
		return wiretest.Response(200, media, body), nil
	})})
	return told(tb, c)
}

func told(tb testing.TB, c *endpoint.Client) string {
	tb.Helper()
	reply, err := ask(tb.Context(), c)
	if err != nil {
		return "fault: " + string(wiretest.Fault(tb, reply, err).Kind)
	}
	return reply.Text
}

// TestStreamsOfServersAreRead covers the forms in which servers write streams.
func TestStreamsOfServersAreRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ give, want string }{
		"ordinary":          {wiretest.Events(`{"a":1}`, `{"b":2}`), `|{"a":1}` + "\n" + `|{"b":2}`},
		"named":             {"event: x\ndata: {}\n\nevent:y\ndata:{}\n\n", "x|{}\ny|{}"},
		"a name holds once": {"event: x\ndata: {}\n\ndata: {}\n\n", "x|{}\n|{}"},
		"no blank lines":    {"data:{\"a\":1}\ndata:{\"b\":2}\ndata:[DONE]\ndata:{}\n", `|{"a":1}` + "\n" + `|{"b":2}`},
		"several lines": {
			"event: x\ndata: {\"a\":\ndata:  1,\ndata:\ndata: \"b\":2}\n\ndata: {}\n\n",
			"x|{\"a\":\n1,\n\"b\":2}\n|{}",
		},
		"broken off":       {"data: {}\n\ndata: {\"a\":\n", "fault: malformed"},
		"no last line end": {"data: {}\n\ndata: {\"a\":1}", "|{}\n" + `|{"a":1}`},
		"bare object":      {"{\"a\":1}\n\n", `{"a":1}`},
		"keep-alives": {
			": ping\n\ndata:\n\ndata: \n\nid: 7\nretry: 5\nnonsense\n\nevent: ping\n\ndata: {}\n\n",
			"|{}",
		},
		"CR LF and BOM": {"\ufeffevent: x\r\ndata: {}\r\n\r\n", "x|{}"},
		"CR alone": {
			"event: x\rdata: {\"a\":1}\r\revent: y\rdata: {\rdata: }\r\rdata: {}",
			"x|{\"a\":1}\ny|{\n}\n|{}",
		},
		"ends of all kinds": {
			"event: x\rdata: [\ndata: 1\r\ndata: ]\n\r\ndata: {}\r\n\rdata: {}\n\n",
			"x|[\n1\n]\n|{}\n|{}",
		},
		"object in lines":   {"{\n  \"a\": 1,\n  \"b\": []\n}\n", "{\n\"a\": 1,\n\"b\": []\n}"},
		"[DONE] is the end": {wiretest.Events("{}", "[DONE]", `{"late":1}`), "|{}"},
		"its own end":       {"event: end\ndata: {}\n\ndata: {\"late\":1}\n\n", "end|{}"},
		"an error":          {"event: error\ndata: {\"error\":{\"code\":503}}\n\n", "fault: overloaded"},
		"an error in lines": {"event: error\ndata: context length\ndata: of 9 tokens\n\n", "fault: prompt too long"},
		"no JSON":           {wiretest.Events("{}", "x"), "fault: malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, body := range []io.Reader{
				strings.NewReader(test.give),
				iotest.OneByteReader(strings.NewReader(test.give)),
			} {
				if diff := cmp.Diff(test.want, received(t, "text/event-stream", body)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestContentDecidesNotItsType: the body decides about its form, not the Content-Type.
func TestContentDecidesNotItsType(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ media, give, want string }{
		"object":                {"application/json", "\ufeff \n{\"a\":1}", `{"a":1}`},
		"list":                  {"application/json", "[1]", "[1]"},
		"object without a type": {"", `{"a":1}`, `{"a":1}`},
		"stream of a type":      {"text/plain", "data: {}\n\n", "|{}"},
		"refused":               {"application/json", "[]", "fault: malformed"},
		"an error": {
			"application/json", `{"error":{"code":"insufficient_quota"}}`,
			"fault: misconfigured",
		},
		"nothing": {"application/json", " \r\n", "fault: malformed"},
		"page":    {"", " <html>", "fault: transient"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, received(t, test.media, strings.NewReader(test.give))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCompressed: no request accepts compression, but a compressed answer is read, within the same limits.
func TestCompressed(t *testing.T) {
	t.Parallel()
	zip := func(text string) string {
		var b strings.Builder
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		return b.String()
	}
	packed := zip("data: {}\n\n")
	for name, test := range map[string]struct {
		status             int
		coding, body, want string
	}{
		"gzip":       {200, "gzip", packed, "|{}"},
		"x-gzip":     {200, " X-GZip", packed, "|{}"},
		"identity":   {200, "identity", "data: {}\n\n", "|{}"},
		"an error":   {400, "gzip", zip(`{"error":{"code":"context_length_exceeded"}}`), "fault: prompt too long"},
		"cut":        {200, "gzip", packed[:len(packed)-1], "fault: transient"},
		"not packed": {200, "gzip", "data: {}\n\n", "fault: transient"},
		"nothing":    {200, "gzip", "", "fault: malformed"},
		"a bomb": {
			200, "gzip", zip(strings.Repeat(strings.Repeat(" ", 1<<10)+"\n", 33<<10)),
			"fault: refused",
		},
		"unknown":         {200, "br", "\x0b\x02", "fault: misconfigured"},
		"an unread error": {503, "br", "\x0b\x02", "fault: overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, endpoint.Options{HTTP: wiretest.Network(func(r *http.Request) (*http.Response, error) {
				if r.Header.Get("Accept-Encoding") != "identity" {
					t.Errorf("compression is asked for: %v", r.Header)
				}
				answer := wiretest.Response(test.status, "text/event-stream", strings.NewReader(test.body))
				answer.Header.Set("Content-Encoding", test.coding)
				return answer, nil
			})})
			if got := told(t, c); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestEventsInAnyForm: events are read in every form that the standard allows.
func TestEventsInAnyForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var stream, want []string
		for range rapid.IntRange(1, 5).Draw(rt, "events") {
			name := rapid.SampledFrom([]string{"", "a", "response.output_text.delta"}).Draw(rt, "name")
			value := fmt.Sprintf(`{"text":%q}`, rapid.StringMatching(`[a-z :{}\[\]é字]{0,40}`).Draw(rt, "text"))
			end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(rt, "line end")
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
		if diff := cmp.Diff(strings.Join(want, "\n"),
			received(t, "text/event-stream", strings.NewReader(text))); diff != "" {
			rt.Fatalf("%q: %s", text, diff)
		}
	})
}

// TestNothingIsReadWithoutEnd: every part of an answer has a limit, and an answer beyond it is not retried.
func TestNothingIsReadWithoutEnd(t *testing.T) {
	t.Parallel()
	const object, stream = "application/json", "text/event-stream"
	values := "[" + strings.Repeat("{},", 1<<18) + "{}]"
	for name, test := range map[string]struct {
		media string
		body  io.Reader
		says  string
	}{
		"line": {
			stream, io.MultiReader(strings.NewReader("data: "), endless(strings.Repeat("x", 1<<12))),
			"a line of the answer is longer than 16 MiB",
		},
		"event": {
			stream, endless("data: {" + strings.Repeat("x", 1<<10) + "\n"),
			"an event of the answer is longer than 16 MiB",
		},
		"answer": {
			object, io.MultiReader(strings.NewReader("{"), endless(strings.Repeat(" ", 1<<12))),
			"an answer in one piece is longer than 16 MiB",
		},
		"keep-alive": {
			stream, endless(": ping" + strings.Repeat(" ", 1<<10) + "\n\n"),
			"an answer is longer than 32 MiB",
		},
		"values": {object, strings.NewReader(values), "a piece of the answer has more than 262144 values"},
		"values in event": {
			stream, strings.NewReader("data: " + values + "\n\n"),
			"a piece of the answer has more than 262144 values",
		},
		"reply": {
			object, strings.NewReader(`{"a":"` + strings.Repeat("x", 4<<20) + `"}`),
			"the reply is longer than 4 MiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, endpoint.Options{HTTP: wiretest.Network(func(*http.Request) (*http.Response, error) {
				return wiretest.Response(200, test.media, test.body), nil
			})})
			reply, err := ask(t.Context(), c)
			if f := wiretest.Fault(t, reply, err); f.Kind != annotator.Refused || f.Message != test.says ||
				len(f.Raw) > model.RawLimit {
				t.Errorf("%v is %q, want %q", f, f.Kind, test.says)
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

// Package wiretest has shared helpers for the tests of the wires: simulated networks, streams and golden files.
package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
)

// Open returns a client that is closed when the test ends.
func Open[C interface{ Close() }](tb testing.TB, open func(endpoint.Options) (C, error), o endpoint.Options) C {
	tb.Helper()
	c, err := open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// Network answers requests without a network.
type Network func(*http.Request) (*http.Response, error)

// RoundTrip answers.
func (n Network) RoundTrip(r *http.Request) (*http.Response, error) { return n(r) }

// Response is an answer of a media type.
func Response(status int, media string, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(body)}
}

// Always is a network that gives every request the same answer.
func Always(status int, media, body string) Network {
	return func(*http.Request) (*http.Response, error) {
		return Response(status, media, strings.NewReader(body)), nil
	}
}

// Recorder is a network that gives every request the same answer, and stores the newest request.
type Recorder struct {
	Answer string // JSON, or a stream

	Request *http.Request
	Body    []byte
}

// RoundTrip answers.
func (r *Recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.Request, r.Body = request, nil
	if request.Body != nil {
		r.Body, _ = io.ReadAll(request.Body)
	}
	return Response(http.StatusOK, "", strings.NewReader(r.Answer)), nil
}

// Events renders a stream of events without names.
func Events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		fmt.Fprintf(&b, "data: %s\n\n", d)
	}
	return b.String()
}

// JSON renders a value without escapes of <, > and &, like model servers.
func JSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // tests only render what can be
	}
	return strings.TrimSpace(b.String())
}

// Fault returns the fault of a call, which must have no reply.
func Fault(tb testing.TB, reply *model.Reply, err error) *model.Fault {
	tb.Helper()
	var f *model.Fault
	if !errors.As(err, &f) || reply != nil {
		tb.Fatalf("no fault alone, but %+v, %v", reply, err)
	}
	return f
}

// Reread decodes an answer in one piece and byte by byte, and fails if the results differ. It returns the reply, or nil
// if there is none.
func Reread(tb testing.TB, media string, body []byte, complete func(Network) (*model.Reply, error)) *model.Reply {
	tb.Helper()
	read := func(r io.Reader) (*model.Reply, string) {
		reply, err := complete(func(*http.Request) (*http.Response, error) {
			return Response(http.StatusOK, media, r),
				nil
		})
		if err != nil {
			return nil, Fault(tb, reply, err).Error()
		}
		return reply, ""
	}
	whole, said := read(bytes.NewReader(body))
	broken, saidBroken := read(iotest.OneByteReader(bytes.NewReader(body)))
	if diff := cmp.Diff(whole, broken, Unmeasured()); diff != "" || said != saidBroken {
		tb.Errorf("byte by byte it is another reply: %s %q %q", diff, said, saidBroken)
	}
	return whole
}

// History encodes groups of messages in sequence, like a run.
func History(tb testing.TB, wire model.Encoder, groups ...[]annotator.Message) []byte {
	tb.Helper()
	encoded := make([][]byte, len(groups))
	for i, group := range groups {
		var err error
		if encoded[i], err = wire.Encode(group); err != nil {
			tb.Fatal(err)
		}
	}
	return bytes.Join(encoded, []byte(","))
}

// Tools encodes tools.
func Tools(tb testing.TB, wire model.Encoder, tools []annotator.ToolDefinition) []byte {
	tb.Helper()
	encoded, err := wire.EncodeTools(tools)
	if err != nil {
		tb.Fatal(err)
	}
	return encoded
}

// Unmeasured compares replies without their raw bytes and timings.
func Unmeasured() cmp.Option {
	return cmpopts.IgnoreFields(model.Reply{}, "Raw", "FirstByte", "Duration")
}

// Golden compares a request's body with a file of testdata, which has a line for each message. With update, it rewrites
// the file.
func Golden(tb testing.TB, update bool, name string, body []byte) {
	tb.Helper()
	if !json.Valid(body) {
		tb.Fatalf("no JSON: %s", body)
	}
	got := strings.ReplaceAll(string(body), `,{"role"`, ",\n"+`{"role"`) + "\n"
	path := filepath.Join("testdata", name+".json")
	if update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		tb.Errorf("%s, which -update writes anew (-want +got):\n%s", path, diff)
	}
}

// newWire is the constructor of a wire in a package below model.
var newWire = regexp.MustCompile(`(?m)^func New\(\w+ endpoint\.Options\)`)

// Packages returns the import paths of all wires, sorted. Root is the module's folder.
func Packages(tb testing.TB, root string) []string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(root, "model", "*", "*.go"))
	if err != nil {
		tb.Fatal(err)
	}
	var found []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		if newWire.Match(text) {
			found = append(found, "annotator/model/"+filepath.Base(filepath.Dir(file)))
		}
	}
	if len(found) == 0 {
		tb.Fatal("no package below model declares a wire")
	}
	return found
}

// PackageOf returns the import path of a wire's client.
func PackageOf(client any) string { return reflect.TypeOf(client).Elem().PkgPath() }

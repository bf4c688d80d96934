package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"annotator/internal/longtest"
	"annotator/internal/scripted"
)

// peakLimit is what the process may take at most while a reply comes in that is far too long, in KiB.
const peakLimit = 256 << 10

// tellPeak writes the most memory that this process has taken, in KiB; nothing where the system does not report it.
func tellPeak(w io.Writer) {
	status, _ := os.ReadFile("/proc/self/status")
	if _, rest, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		fmt.Fprintln(w, strings.TrimSuffix(strings.TrimSpace(string(line)), " kB"))
	}
}

// flood answers with a number of bytes, most of them one piece over and over. A piece may have a place for its number:
// a reply that only repeats itself is cut long before.
type flood struct {
	status                int
	media                 string
	header, piece, footer string
	size                  int
}

// ServeHTTP answers.
func (f flood) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", f.media)
	w.WriteHeader(f.status)
	_, _ = io.WriteString(w, f.header)
	var pieces strings.Builder
	for sent, number := 0, 0; sent < f.size; sent += pieces.Len() {
		for pieces.Reset(); pieces.Len() < 64<<10; number++ {
			pieces.WriteString(strings.Replace(f.piece, placeOfNumber, strconv.Itoa(number), 1))
		}
		if _, err := io.WriteString(w, pieces.String()); err != nil {
			return
		}
	}
	_, _ = io.WriteString(w, f.footer)
}

// endlessHeaders answers with header lines and never comes to the body.
func endlessHeaders(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = connection.Close() }()
	_, _ = io.WriteString(connection, "HTTP/1.1 200 OK\r\n")
	line := strings.Repeat("X-Padding: "+strings.Repeat("a", 1000)+"\r\n", 100)
	for range 1000 {
		if _, err := io.WriteString(connection, line); err != nil {
			return
		}
	}
}

// placeOfNumber is where a piece of a flood has its number.
const placeOfNumber = "#"

const (
	streamed  = "text/event-stream"
	oneObject = "application/json"
	begins    = `{"choices":[{"index":0,"finish_reason":"stop","message":{`
	ends      = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
)

// delta is an event that adds a piece to a reply.
func delta(piece string) string {
	return `data: {"choices":[{"index":0,"delta":{` + piece + `}}]}` + "\n\n"
}

// floods are replies of 100 MB in all the ways in which one may come.
func floods() map[string]http.Handler {
	const size = 100 << 20
	prose := placeOfNumber + numbered(" It was night over the roofs of the town, and lamp %d burned. ", 900)
	argument := `"tool_calls":[{"index":0,"id":"c","function":{"name":"read_post","arguments":"` + prose + `"}}]`
	return map[string]http.Handler{
		"one line": flood{
			200, streamed, `data: ` + begins + `"content":"`, prose,
			`"}}]}` + "\n\n" + ends, size,
		},
		"one line of another kind": flood{200, streamed, ": ", prose, "", size},
		"large deltas":             flood{200, streamed, "", delta(`"content":"` + prose + `"`), ends, size},
		"small deltas":             flood{200, streamed, "", delta(`"content":" #lamp"`), ends, size},
		"reasoning":                flood{200, streamed, "", delta(`"reasoning":"` + prose + `"`), ends, size},
		"arguments":                flood{200, streamed, "", delta(argument), ends, size},
		"calls": flood{
			200, streamed, "",
			delta(`"tool_calls":[{"id":"c","function":{"name":"f"}}]`), ends, size,
		},
		"blank lines":            flood{200, streamed, "", "\n: ping\n", ends, size},
		"an error in a stream":   flood{200, streamed, `data: {"error":{"message":"`, prose, `"}}` + "\n\n", size},
		"an object of text":      flood{200, oneObject, begins + `"content":"`, prose, `"}}]}`, size},
		"an object of reasoning": flood{200, oneObject, begins + `"reasoning":"`, prose, `"}}]}`, size},
		"an object of arguments": flood{200, oneObject, begins +
			`"tool_calls":[{"function":{"name":"f","arguments":"`, prose, `"}}]}}]}`, size},
		"an object of calls": flood{
			200, oneObject, begins + `"tool_calls":[{}`, `,{"function":{"name":"f"}}`,
			`]}}]}`, size,
		},
		"an object of parts":         flood{200, oneObject, begins + `"content":[{}`, `,{}`, `]}}]}`, size},
		"an object of choices":       flood{200, oneObject, `{"choices":[{}`, `,{}`, `]}`, size},
		"an object of arrays":        flood{200, oneObject, `{"choices":`, `[`, ``, size},
		"an object that is an error": flood{200, oneObject, `{"error":{"message":"`, prose, `"}}`, size},
		"an error":                   flood{500, oneObject, `{"error":{"message":"`, prose, `"}}`, size},
		"a page":                     flood{502, "text/html", "<html>", prose, "", size},
		"header lines":               http.HandlerFunc(endlessHeaders),
	}
}

// swells are replies that the limits just let through, as a whole or to be put together.
func swells() map[string]http.Handler {
	const once, object, all = 1, 15 << 20, 31 << 20
	prose := placeOfNumber + numbered(" It was night over the roofs of the town, and lamp %d burned. ", 900)
	// just under what a reply may say
	book := numbered("It was night over the roofs of the town, and lamp %d burned. ", 60_000)
	return map[string]http.Handler{
		"a large delta":     flood{200, streamed, "", delta(`"content":"` + book + `"`), ends, once},
		"many large deltas": flood{200, streamed, "", delta(`"content":"` + prose + `"`), ends, all},
		"small deltas":      flood{200, streamed, "", delta(`"content":" #lamp"`), ends, all},
		"reasoning": flood{
			200, streamed, delta(`"content":"Done."`), delta(`"reasoning":"` + book + `"`),
			ends, once,
		},
		"calls": flood{
			200, streamed, "", delta(`"tool_calls":[{"id":"c","function":{"name":"f"}}]`), ends,
			all,
		},
		"many calls": flood{
			200, streamed, "",
			delta(`"tool_calls":[{}` + strings.Repeat(`,{"function":{"name":"f"}}`, 20_000) + `]`), ends, all,
		},
		"an object of text":  flood{200, oneObject, begins + `"content":"`, book, `"}}]}`, once},
		"a larger object":    flood{200, oneObject, begins + `"content":"`, prose, `"}}]}`, object},
		"an object of parts": flood{200, oneObject, begins + `"content":[{}`, `,{}`, `]}}]}`, 4 * 260_000},
		"an object of calls": flood{
			200, oneObject, begins + `"tool_calls":[{}`, `,{"function":{"name":"f"}}`, `]}}]}`,
			26 * 260_000,
		},
	}
}

func numbered(format string, times int) string {
	var b strings.Builder
	for n := range times {
		fmt.Fprintf(&b, format, n)
	}
	return b.String()
}

// TestFloods: a reply that is far too long ends in quarantine with its reason, and takes little memory. Each is read by
// a process of its own.
func TestFloods(t *testing.T) {
	t.Parallel()
	for name, handler := range floods() {
		t.Run(name, func(t *testing.T) {
			s := flooded(t, handler, !strings.Contains(name, "object"), 4)
			refused, err := s.open("flooded").Scenes.Quarantined(context.Background())
			if err != nil || len(refused) != 1 || refused[0].Reason == "" {
				t.Errorf("quarantined: %+v, %v", refused, err)
			}
		})
	}
}

// TestSwells: what the limits let through is done with, one way or another, in as little memory.
func TestSwells(t *testing.T) {
	t.Parallel()
	for name, handler := range swells() {
		t.Run(name, func(t *testing.T) {
			s := flooded(t, handler, !strings.Contains(name, "object"), 1)
			if run := s.state("flooded"); run.Recorded+run.Quarantined != 1 {
				t.Errorf("the scene is not done with: %+v", run)
			}
		})
	}
}

// flooded reads a scene to which a handler answers.
func flooded(t *testing.T, handler http.Handler, stream bool, attempts int) *stage {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells the most memory that a process has taken")
	}
	longtest.Only(t, "it takes its time, and with the race detector another amount of memory")
	s := newStage(t, story{threads: 1, scenes: 1},
		scripted.Options{Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if !bytes.Contains(r.Body, []byte("scene number=")) {
				return nil
			}
			return &scripted.Fault{Serve: handler}
		}})
	s.config.Stream, s.config.Retry.Attempts = stream, attempts
	peak := s.peak("flooded")
	t.Logf("%d MiB", peak>>10)
	if peak > peakLimit {
		t.Errorf("%d MiB were taken", peak>>10)
	}
	s.verify("flooded")
	return s
}

// peak runs the story in a process of its own and returns the most memory that it took, in KiB.
func (s *stage) peak(name string) int {
	s.t.Helper()
	encoded, err := json.Marshal(job{Corpus: s.corpus, DB: s.db(name), Base: s.base, Config: s.config})
	if err != nil {
		s.t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+string(encoded))
	child.ExtraFiles = []*os.File{null}
	told, failure := child.Output() // a scene is refused, so the status is not 0
	peak, err := strconv.Atoi(strings.TrimSpace(string(told)))
	if err != nil {
		s.t.Fatalf("the child told %q", told)
	}
	if e := (*exec.ExitError)(nil); errors.As(failure, &e) {
		s.t.Logf("%s", e.Stderr)
	}
	return peak
}

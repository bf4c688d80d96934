package main

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
)

// canary is an API key that must not occur in any output. Encodings change its characters.
const canary = "sk-canary/7Qm4+Xv2&Nd8==K"

// encodings returns encodings of the key.
func encodings() map[string]string {
	quoted, _ := json.Marshal(canary)
	return map[string]string{
		"as it is": canary, "in a query": url.QueryEscape(canary), "in a path": url.PathEscape(canary),
		"in JSON":                 strings.Trim(string(quoted), `"`),
		"in base64":               base64.StdEncoding.EncodeToString([]byte(canary))[:30],
		"in hex":                  hex.EncodeToString([]byte(canary)),
		"in JSON of another kind": strings.ReplaceAll(canary, "/", `\/`),
	}
}

// echoes returns servers that send the key back, each in its own way.
func echoes() map[string]http.HandlerFunc {
	answer := func(status int, media, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "KEY", sentKey(r.Header)))
		}
	}
	const object, stream = "application/json", "text/event-stream"
	return map[string]http.HandlerFunc{
		"denied": answer(401, object, `{"error":{"message":"no such key: KEY","code":"KEY","type":"KEY",`+
			`"param":"KEY"}}`),
		"denied plain": answer(403, "text/plain", "Bearer KEY"),
		"no model": answer(404, object, `{"error":{"message":"The model KEY does not exist",`+
			`"code":"model_not_found"}}`),
		"too long": answer(400, object, `{"error":{"message":"KEY","code":"context_length_exceeded",`+
			`"param":"KEY"}}`),
		"filtered": answer(400, object, `{"error":{"message":"KEY","code":"content_filter"}}`),
		"broken":   answer(500, "text/html", "<html>KEY</html>"),
		"busy": answer(503, object, `{"error":{"message":"Loading model KEY","type":"unavailable_error",`+
			`"code":503}}`),
		"error in 200": answer(200, object, `{"error":{"message":"KEY","code":422}}`),
		"page":         answer(200, "text/html", "<html>KEY</html>"),
		"no reply":     answer(200, object, `{"KEY":["KEY"]}`),
		"no JSON":      answer(200, object, `{KEY`),
		"error frame":  answer(200, stream, "event: error\ndata: {\"error\":{\"message\":\"KEY\",\"code\":422}}\n\n"),
		"torn stream": answer(200, stream,
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"KEY\"}}]}\n\nKEY"),
		"no finish": answer(200, stream,
			"data: {\"model\":\"KEY\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},"+
				"\"finish_reason\":\"KEY\"}]}\n\ndata: [DONE]\n\n"),
		"other model": answer(200, object, `{"model":"KEY","choices":[{"index":0,"message":{"content":"KEY `+
			`<codex_updates>[{\"term\":\"KEY\",\"definition\":\"KEY KEY.\",\"status\":\"new\"}]</codex_updates>",`+
			`"reasoning":"KEY"},"finish_reason":"stop"}]}`),
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+url.PathEscape(sentKey(r.Header))+".test/?api_key="+
				url.QueryEscape(sentKey(r.Header)), http.StatusTemporaryRedirect)
		},
		"bad header": func(w http.ResponseWriter, r *http.Request) {
			connection, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(connection, "HTTP/1.1 200 OK\r\n"+sentKey(r.Header)+"\r\n\r\n")
				_ = connection.Close()
			}
		},
	}
}

// sentKey returns the key that a request carries, on any wire.
func sentKey(header http.Header) string {
	return cmp.Or(header.Get("X-Api-Key"), header.Get("X-Goog-Api-Key"),
		strings.TrimPrefix(header.Get("Authorization"), "Bearer "))
}

// workspace is a folder in which the program runs with the canary as its key, with the program's output.
type workspace struct {
	t      *testing.T
	dir    string
	output bytes.Buffer
}

func newWorkspace(t *testing.T) *workspace {
	h := &workspace{t: t, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(h.dir, "quay.jsonl"), []byte(twoScenes), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// annotator runs a command and ignores its exit status.
func (h *workspace) annotator(args ...string) {
	h.t.Helper()
	fmt.Fprintf(&h.output, "$ annotator %s\n", strings.Join(args, " "))
	command := h.command(args...)
	_ = command.Run() // most fail because of the server
	if status := command.ProcessState.ExitCode(); status < 0 || status == exitInternal {
		h.t.Errorf("annotator %s: status %d: %s", strings.Join(args, " "), status, h.output.Bytes())
	}
}

func (h *workspace) command(args ...string) *exec.Cmd {
	command := exec.Command("annotator", args...)
	command.Dir = h.dir
	command.Env = append(os.Environ(), "ANNOTATOR_API_KEY="+canary)
	command.Stdout, command.Stderr = &h.output, &h.output
	return command
}

// search looks for the key in the output and in all files.
func (h *workspace) search() {
	h.t.Helper()
	found := map[string][]byte{"output": h.output.Bytes()}
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range entries {
		if found[e.Name()], err = os.ReadFile(filepath.Join(h.dir, e.Name())); err != nil {
			h.t.Fatal(err)
		}
	}
	for name, content := range found {
		for how, form := range encodings() {
			if at := bytes.Index(content, []byte(form)); at >= 0 {
				h.t.Errorf("%s holds the key %s: %q", name, how, content[max(0, at-80):min(len(content), at+80)])
			}
		}
	}
}

// TestKeyStaysSecret: no output and no file contains the key, even if the server sends it back.
func TestKeyStaysSecret(t *testing.T) {
	t.Parallel()
	for name, echo := range echoes() {
		// for seconds
		triedAgain := slices.Contains([]string{"broken", "page", "bad header", "no JSON", "no reply", "torn stream"},
			name)
		if !longtest.Enabled() && triedAgain {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told atomic.Bool
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				told.Store(told.Load() || sentKey(r.Header) == canary)
				w.Header().Set("Retry-After", sentKey(r.Header))
				w.Header().Set("X-Request-Id", sentKey(r.Header))
				if r.Method == http.MethodPost || name == "redirect" {
					echo(w, r)
					return
				}
				_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
			}))
			t.Cleanup(server.Close)
			h := newWorkspace(t)
			run := []string{
				"run", "quay.jsonl", "--endpoint", server.URL + "/v1", "--model", "m", "--patience", "0s",
				"--limit", "1",
			}
			h.annotator(append(run, "--events", "events.jsonl", "--log-file", "log.jsonl")...)
			if !triedAgain {
				h.annotator(append(run, "--db", "plain.annotator.db", "--stream=false", "--quiet")...)
				h.annotator("retry", "--db", "plain.annotator.db", "--endpoint", server.URL+"/v1", "--limit", "1",
					"--patience", "0s")
			}
			if name == "denied" || name == "filtered" || name == "redirect" {
				for _, wire := range []string{"responses", "anthropic", "gemini"} {
					h.annotator(append(run, "--db", wire+".annotator.db", "--wire", wire)...)
				}
			}
			for _, command := range []string{"status", "status --json", "verify", "audit"} {
				h.annotator(append(strings.Fields(command), "--db", "quay.annotator.db")...)
			}
			h.annotator("doctor", "--endpoint", server.URL+"/v1", "--model", "m", "--timeout", "10s")
			if !told.Load() || strings.Contains(h.output.String(), "--help`") {
				t.Errorf("the server was never told the key, or a command not understood: %s", h.output.Bytes())
			}
			h.search()
		})
	}
}

// TestModelThatRepeatsTheKey: a server may show request headers to the model, and the model may repeat them.
func TestModelThatRepeatsTheKey(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	server := httptest.NewServer(scripted.New(scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		key := sentKey(r.Header)
		last := r.Messages[len(r.Messages)-1]
		if strings.Contains(last.Content, `scene number="2"`) {
			<-hang
		}
		reply := scripted.Reply{Text: "The key is " + key + ".", Reasoning: "Bearer " + key}
		if last.Role != annotator.RoleTool && r.MayCall() {
			encoded, _ := json.Marshal(map[string]any{
				"term": "Key " + key, "definition": "It is " + key + ".",
				"tags": []string{"object"},
			})
			reply.ToolCalls = []annotator.ToolCall{{Name: "glossary_create", Arguments: string(encoded)}}
		}
		return reply
	}}))
	t.Cleanup(server.Close)
	h := newWorkspace(t)
	run := []string{
		"run", "quay.jsonl", "--endpoint", server.URL + "/v1", "--events", "events.jsonl", "--log-file",
		"log.jsonl",
	}

	// Killed in the second scene, it leaves its write-ahead log.
	killed := h.command(run...)
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	err := awaitText(filepath.Join(h.dir, "events.jsonl"), `"scene":2`)
	_ = killed.Process.Kill()
	_ = killed.Wait()
	close(hang)
	if err != nil {
		t.Fatalf("%v: %s", err, h.output.Bytes())
	}
	if _, err := os.Stat(filepath.Join(h.dir, "quay.annotator.db-wal")); err != nil {
		t.Error("there is no write-ahead log to look into")
	}
	h.search()

	h.annotator(run...)
	for _, command := range []string{
		"status", "status --json", "verify", "export --format json -o codex.json", "export --format yaml -o codex.yaml",
		"export --format json",
		"search key", "show 1", "audit", "memory raw", "memory tools", "snapshot list",
		"snapshot ask 1 Key? --endpoint " + server.URL + "/v1",
		"curate --endpoint " + server.URL + "/v1", "backup copy.db",
	} {
		h.annotator(append(strings.Fields(command), "--db", "quay.annotator.db")...)
	}
	h.annotator("doctor", "--endpoint", server.URL+"/v1")
	if strings.Contains(h.output.String(), "--help`") {
		t.Errorf("a command was not understood: %s", h.output.Bytes())
	}
	if codex, err := os.ReadFile(filepath.Join(h.dir, "codex.json")); err != nil ||
		!bytes.Contains(codex, []byte("It is [key].")) {
		t.Errorf("the codex does not hold what the model wrote: %v: %.500s", err, codex)
	}
	h.search()
}

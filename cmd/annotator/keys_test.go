package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"annotator/internal/scripted"
)

// TestKeyIsSentToNamedEndpointsOnly: the key of the environment is sent only to an endpoint that the user named.
func TestKeyIsSentToNamedEndpointsOnly(t *testing.T) {
	t.Parallel()
	const found, own, named = "annotator.yaml", "home/annotator/config.yaml", "other.yaml"
	for _, test := range []struct {
		name, file string // that names the endpoint; "flag" and "environment" for none
		args       string
		sent       bool
		says       string
	}{
		{"a flag", "flag", "", true, ""},
		{"the environment", "environment", "", true, ""},
		{"the user's own file", own, "", true, "configuration: "},
		{"a named file", named, "--config other.yaml", true, "configuration: other.yaml"},
		{"a found file that is named", found, "--config annotator.yaml", true, "configuration: annotator.yaml"},
		{
			"a found file", found, "", false,
			"only annotator.yaml in this folder names it; --config annotator.yaml allows it",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var sent, asked atomic.Bool
			model := scripted.New(scripted.Options{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Store(true)
				sent.Store(sent.Load() || sentKey(r.Header) != "")
				model.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			h := newWorkspace(t)
			command := h.command(append([]string{"run", "quay.jsonl"}, strings.Fields(test.args)...)...)
			command.Env = append(command.Env, "XDG_CONFIG_HOME="+filepath.Join(h.dir, "home"),
				"AppData="+filepath.Join(h.dir, "home"), "HOME="+h.dir)
			switch address := server.URL + "/v1"; test.file {
			case "flag":
				command.Args = append(command.Args, "--endpoint", address)
			case "environment":
				command.Env = append(command.Env, "ANNOTATOR_ENDPOINT="+address)
			default:
				h.write(test.file, "endpoint: "+address+"\n")
			}
			if err := command.Run(); err != nil {
				t.Fatalf("%v: %s", err, h.output.Bytes())
			}
			if !asked.Load() || sent.Load() != test.sent {
				t.Errorf("the key was sent: %t, want %t\n%s", sent.Load(), test.sent, h.output.Bytes())
			}
			if says := h.output.String(); !strings.Contains(says, test.says) ||
				!strings.Contains(says, " at "+server.URL+"/v1\n") {
				t.Errorf("the run does not say %q, or which endpoint it uses:\n%s", test.says, says)
			}
		})
	}
}

func (h *workspace) write(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// TestRetryWithholdsTheKey: the endpoint of a retry may come from a database that another person made.
func TestRetryWithholdsTheKey(t *testing.T) {
	t.Parallel()
	var sent atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sentKey(r.Header) != "" {
			sent.Add(1)
		}
		echoes()["filtered"](w, r)
	}))
	t.Cleanup(server.Close)
	h := newWorkspace(t)
	h.annotator("run", "quay.jsonl", "--endpoint", server.URL+"/v1", "--model", "m")
	before := sent.Swap(0)
	h.annotator("retry", "--db", "quay.annotator.db")
	if before == 0 || sent.Load() != 0 || !strings.Contains(h.output.String(),
		"only the database names it; --endpoint allows it") {
		t.Errorf("the key was sent %d times, then %d times\n%s", before, sent.Load(), h.output.Bytes())
	}
}

func TestUnencryptedKey(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"http://localhost:8000/v1": false, "http://127.0.0.2/v1": false, "http://[::1]:1/v1": false,
		"https://model.test/v1": false,
		"http://model.test/v1":  true, "http://192.168.1.7:8000/v1": true, "http://localhost.model.test/v1": true,
		"://": false,
	} {
		if got := unencrypted(address); (got != "") != want {
			t.Errorf("the warning about %s is %q", address, got)
		}
	}
}

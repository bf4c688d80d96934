package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"annotator/internal/scripted"

	"github.com/google/go-cmp/cmp"
)

// scriptedServers replaces findLocalServers, so that no test depends on the servers of this machine.
func scriptedServers(context.Context) []localServer {
	if address := os.Getenv("LOCAL_SERVER"); address != "" {
		return []localServer{{address, []string{"small", "large"}}}
	}
	return nil
}

// TestLocalServersAreListed: servers that list models are found without a key, within one timeout for all.
func TestLocalServersAreListed(t *testing.T) {
	t.Parallel()
	model := scripted.New(scripted.Options{Model: "small"})
	start := func(answer http.HandlerFunc) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if sentKey(r.Header) != "" {
				t.Error("a key is sent")
			}
			answer(w, r)
		}))
		t.Cleanup(server.Close)
		return server.URL + "/v1"
	}
	addresses := []string{
		start(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		start(model.ServeHTTP),
		start(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>no models here</html>")) }),
		"http://127.0.0.1:1/v1",
	}
	began := time.Now()
	got := serversAt(t.Context(), addresses)
	if took := time.Since(began); took > 10*localTimeout { // a busy machine is slower
		t.Errorf("the search takes %v", took)
	}
	if diff := cmp.Diff([]localServer{{addresses[1], []string{"small"}}}, got); diff != "" {
		t.Error(diff)
	}
}

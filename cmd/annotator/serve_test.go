package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"annotator/internal/longtest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestServe serves a database under a limit of the server, which an address does not raise. After its file is deleted,
// pages and agents get an error.
func TestServe(t *testing.T) {
	t.Parallel()
	longtest.Unix(t, "an open file cannot be deleted elsewhere")
	a, _, path := lanternsRun(t)
	session := agent(t, a, path, "")
	said, out := io.Pipe()
	a.out = out
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- a.run(ctx, []string{"serve", "--db", path, "--as-of", "scene:9", "--listen", "127.0.0.1:0"})
		_ = out.Close()
	}()
	defer func() { stop(); <-ended }()
	first, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.Fields(first)[1]
	page := func(path string) string {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = got.Body.Close() }()
		body, err := io.ReadAll(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if got := page("?as-of=all"); !strings.Contains(got, "This is the limit of this server.") {
		t.Errorf("the first page: %s", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	const says = "was deleted, moved or replaced"
	if got := page(""); !strings.Contains(got, says) {
		t.Errorf("of a deleted database: %s", got)
	}
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "search", Arguments: map[string]any{}}); err == nil ||
		!strings.Contains(err.Error(), says) {
		t.Errorf("an agent is told %v", err)
	}
	if _, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "codex://scene/1"}); err == nil ||
		!strings.Contains(err.Error(), says) {
		t.Errorf("an agent is told %v", err)
	}
}

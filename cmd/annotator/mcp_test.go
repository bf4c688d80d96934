package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"annotator/exporters"
	"annotator/mcpserver"
	"annotator/storage"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent connects a client to a server of a database with a limit.
func agent(t *testing.T, a *app, path, limit string) *mcp.ClientSession {
	t.Helper()
	db, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	posts, err := openCorpus(t.Context(), db, path, autoCorpus, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = posts.Close() })
	view, err := viewAt(t.Context(), db, limit)
	if err != nil {
		t.Fatal(err)
	}
	quiet := *a
	quiet.err = io.Discard
	o := &mcpOptions{snapshotAskOptions: newSnapshotAskOptions(&quiet)}
	o.corpus = autoCorpus
	if err := o.load(&quiet); err != nil {
		t.Fatal(err)
	}
	server, err := mcpserver.New(mcpserver.Config{DB: db, Posts: posts, Limit: view.Moment(), Ask: o.answerer(db)})
	if err != nil {
		t.Fatal(err)
	}
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// call returns the structured result of a tool as JSON, and whether it is an error.
func call(t *testing.T, session *mcp.ClientSession, tool string, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	if result.IsError {
		return result.Content[0].(*mcp.TextContent).Text, true
	}
	encoded, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded), false
}

// TestAgentsLearnNothingLater calls every tool for every entry, and reads every resource, under a limit.
func TestAgentsLearnNothingLater(t *testing.T) {
	t.Parallel()
	a, out, path := lanternsRun(t)
	var document exporters.Document
	if err := json.Unmarshal([]byte(exportOf(t, a, out, path, "json")), &document); err != nil {
		t.Fatal(err)
	}
	const limit = 30
	later := laterTexts(&document, limit, strings.ToLower(textUpTo(t, path, limit)))
	session := agent(t, a, path, fmt.Sprintf("scene:%d", limit))
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	shown, refused := 0, 0
	look := func(what, text string) {
		text = strings.ToLower(text)
		for _, word := range later {
			if strings.Contains(text, word) {
				t.Errorf("%s tells of %q", what, word)
			}
		}
	}
	for _, tool := range tools.Tools {
		for i := range document.Entries {
			arguments := map[string]any{"entry": fmt.Sprint(document.Entries[i].ID)}
			switch tool.Name {
			case "search":
				arguments = map[string]any{"query": document.Entries[i].Term}
			case "ask":
				if i%20 != 0 {
					continue // each writes to the database
				}
				arguments = map[string]any{"question": "What is known of " + document.Entries[i].Term + "?"}
			}
			text, failed := call(t, session, tool.Name, arguments)
			if failed {
				refused++
				continue // the agent reads its own words
			}
			shown++
			if tool.Name != "ask" || document.Entries[i].First.Scene <= limit {
				look(tool.Name, text)
			}
		}
	}
	if shown == 0 || refused == 0 {
		t.Errorf("%d calls were answered, %d refused", shown, refused)
	}
	for n := 1; n <= document.Story.Scenes; n++ {
		read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: fmt.Sprintf("codex://scene/%d", n)})
		if (err == nil) != (n <= limit) {
			t.Fatalf("scene %d: %v", n, err)
		}
		if err == nil {
			look("the scene", read.Contents[0].Text)
		}
	}
	for _, e := range document.Entries {
		read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: fmt.Sprintf("codex://entry/%d", e.ID)})
		if err == nil {
			look("the entry", read.Contents[0].Text)
		}
	}
}

// TestAgentsAreToldWhatMatches: a search tells the same fact as the command's JSON, with its text.
func TestAgentsAreToldWhatMatches(t *testing.T) {
	t.Parallel()
	a, out, path := lanternsRun(t)
	session := agent(t, a, path, "")
	type found struct {
		ID, Match int64
		Fact      string
		Claims    []struct {
			ID   int64
			Text string
		}
	}
	search := func(text string) []found {
		var answer struct{ Entries []found }
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Entries
	}
	matches := 0
	for _, query := range []string{"captain", "brass key", "Wren Tallow", "unwritten"} {
		out.Reset()
		if status := a.run(t.Context(), []string{"search", "--db", path, "--json", query}); status != exitDone {
			t.Fatalf("search exits with %d", status)
		}
		want := search(out.String())
		text, _ := call(t, session, "search", map[string]any{"query": query})
		got := search(text)
		if len(got) != len(want) {
			t.Fatalf("agents find %d entries by %q, the command %d", len(got), query, len(want))
		}
		for i := range got {
			fact := ""
			for _, c := range want[i].Claims {
				if c.ID == want[i].Match {
					fact = c.Text
				}
			}
			if got[i].ID != want[i].ID || got[i].Match != want[i].Match || got[i].Fact != fact {
				t.Errorf("agents get by %q the entry %d with the fact %d %q, want %d with %d %q",
					query, got[i].ID, got[i].Match, got[i].Fact, want[i].ID, want[i].Match, fact)
			}
			if fact != "" {
				matches++
			}
		}
	}
	if matches == 0 {
		t.Error("no search was matched by a fact")
	}
}

// TestAgentsLowerTheLimit: a call may name an earlier point and no later one.
func TestAgentsLowerTheLimit(t *testing.T) {
	t.Parallel()
	a, _, path := lanternsRun(t)
	total := func(session *mcp.ClientSession, asOf string) (n int) {
		text, failed := call(t, session, "search", map[string]any{"as_of": asOf})
		if failed {
			return -1
		}
		if _, err := fmt.Sscanf(text[strings.Index(text, `"total":`):], `"total":%d`, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	limited, open := agent(t, a, path, "scene:30"), agent(t, a, path, "")
	at10, at30, at60 := total(open, "scene:10"), total(open, "scene:30"), total(open, "scene:60")
	if at10 <= 0 || at10 >= at30 || at30 >= at60 {
		t.Errorf("%d entries at scene 10, %d at 30, %d at 60", at10, at30, at60)
	}
	for asOf, want := range map[string]int{"": at30, "scene:30": at30, "scene:10": at10, "scene:31": -1, "snapshot:80": -1, "scene:9999": -1, "post:x": -1} {
		if got := total(limited, asOf); got != want {
			t.Errorf("%q: %d entries, not %d", asOf, got, want)
		}
	}
}

func TestAgentsNeedTheToken(t *testing.T) {
	t.Parallel()
	reached := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for _, c := range []struct {
		token, sent string
		status      int
	}{
		{"", "", http.StatusNoContent},
		{"secret-of-sixteen", "", http.StatusUnauthorized},
		{"secret-of-sixteen", "Bearer other", http.StatusUnauthorized},
		{"secret-of-sixteen", "Bearer secret-of-sixteen", http.StatusNoContent},
	} {
		r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/mcp", nil)
		r.Header.Set("Authorization", c.sent)
		w := httptest.NewRecorder()
		requireToken(c.token, reached).ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("token %q, sent %q: %d", c.token, c.sent, w.Code)
		}
	}
	if _, err := readToken("0.0.0.0:8421", ""); exitStatus(err) != exitMisused {
		t.Errorf("the network without a token: %v", err)
	}
}

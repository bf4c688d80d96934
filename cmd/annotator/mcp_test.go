package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/exporters"
	"annotator/internal/longtest"
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
	server, err := mcpserver.New(mcpserver.Config{
		DB: db, Posts: posts, Limit: view.Moment(), Ask: o.answerer(db), Propose: o.propose(db),
	})
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

// TestAgentsReadNothingBeyondTheLimit calls every tool for every entry, and reads every resource, under a limit.
func TestAgentsReadNothingBeyondTheLimit(t *testing.T) {
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
		read, err := session.ReadResource(t.Context(),
			&mcp.ReadResourceParams{URI: fmt.Sprintf("codex://entry/%d", e.ID)})
		if err == nil {
			look("the entry", read.Contents[0].Text)
		}
	}
}

// TestSearchOfAgentsMatchesTheCommand: a search returns the same fact as the command's JSON, with its text.
func TestSearchOfAgentsMatchesTheCommand(t *testing.T) {
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
	for asOf, want := range map[string]int{
		"": at30, "scene:30": at30, "scene:10": at10, "scene:31": -1,
		"snapshot:80": -1, "scene:9999": -1, "post:x": -1,
	} {
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

// TestMCPAnswersAfterInvalidInput sends valid and invalid requests over standard input. After each the server answers a
// ping.
func TestMCPAnswersAfterInvalidInput(t *testing.T) {
	t.Parallel()
	a, _, path := lanternsRun(t)
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	a.in, a.out = in, out
	ended := make(chan int, 1)
	go func() {
		ended <- a.run(t.Context(), []string{"mcp", "--db", path})
		_, _ = out.Close(), in.Close()
	}()
	lines := make(chan string, 1000) // the client reads while it writes
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(answers)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	send := func(line string) {
		if _, err := io.WriteString(requests, line+"\n"); err != nil {
			t.Fatalf("%.200q cannot be sent: %v", line, err)
		}
	}
	// answered reads until the request with an id is answered.
	answered := func(id int, after string) {
		for line := range lines {
			var answer struct{ ID any }
			if err := json.Unmarshal([]byte(line), &answer); err != nil {
				t.Fatalf("%q is answered after %.200q", line, after)
			}
			if answer.ID == float64(id) {
				return
			}
		}
		t.Fatalf("no answer after %.200q", after)
	}
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"x","version":"1"}}}`)
	answered(1, "the beginning")
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	hostile := []string{
		"hello", "[]", "{}", "null", `"x"`, "", " ", "\x00", "{", `{"jsonrpc":"1.0","id":3,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":3,"method":5}`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":3,"result":{}}`,
		`{"jsonrpc":"2.0","id":3,"method":"ping"}{"jsonrpc":"2.0","id":4,"method":"ping"}`,
		`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`,
		`{"jsonrpc":"2.0","id":3,"method":"nothing"}`, `{"jsonrpc":"2.0","id":3,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":[1]}`,
		`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		strings.Repeat("[", 100_000), strings.Repeat("x", 3<<20), `{"jsonrpc":"2.0","id":3,"method":"ping"} ` + "\t\r",
	}
	for _, uri := range []string{
		`codex://entry/\u00001`, `\u0000`, `codex://scene/\u202e\ud83d\ude00\u0007`, `%zz`, ``,
		`codex://entry/99999999999999999999`, `\ud800`,
	} {
		hostile = append(hostile, `{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"`+uri+`"}}`)
	}
	for _, tool := range []string{
		"search", "show", "timeline", "evidence", "history", "mentions", "ask",
		`no\u0000ne`,
	} {
		for _, arguments := range []string{
			`{"query":"\u0000","entry":"\u0000\u0001","question":"\u0000"}`,
			`{"entry":"#-1","as_of":"scene:3%\u0000","limit":-9e99}`, `null`, `[]`, `{"entry":{}}`,
		} {
			hostile = append(hostile, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"`+tool+
				`","arguments":`+arguments+`}}`)
		}
	}
	for i, line := range hostile {
		send(line)
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, 100+i))
		answered(100+i, line)
	}
	_ = requests.Close()
	for range lines { // the answers to the last
		continue
	}
	if status := <-ended; status != exitDone {
		t.Errorf("the server ends with %d", status)
	}
}

// TestMCPLimits: over HTTP, requests are limited in size and time, as for pages.
func TestMCPLimits(t *testing.T) {
	t.Parallel()
	a, _, path := lanternsRun(t)
	told, telling := io.Pipe()
	a.err = telling
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- a.run(ctx, []string{"mcp", "--db", path, "--listen", "127.0.0.1:0"}) }()
	defer func() { stop(); <-ended }()
	said, err := bufio.NewReader(told).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, told) }()
	_, address, _ := strings.Cut(said, "http://")
	address, _, _ = strings.Cut(address, "/mcp")
	// answer sends the beginning of a request, and returns all that comes until the connection is closed.
	answer := func(request string) string {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(25 * time.Second)) // those of pages are 15
		if _, err := io.WriteString(c, request); err != nil {
			return err.Error()
		}
		text, err := io.ReadAll(c)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%.60q... is waited for", request)
		}
		return string(text)
	}
	const post = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: " +
		"application/json, text/event-stream\r\n"
	if got := answer(post + "X-Long: " + strings.Repeat("x", 64<<10) + "\r\n\r\n"); !strings.Contains(got, " 431 ") {
		t.Errorf("a long header: %.80q", got)
	}
	if longtest.Enabled() { // it takes 15 seconds
		_ = answer(post + "Content-Length: 100\r\n\r\n{")
	}
}

// TestRequestsBeforeTheEndOfInputAreAnswered: an agent may close its output immediately after a request.
func TestRequestsBeforeTheEndOfInputAreAnswered(t *testing.T) {
	t.Parallel()
	a, out, db := finishedRun(t)
	const searches = 40
	var in strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	for n := range searches {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search",`+
			`"arguments":{"query":"Marrow"}}}`+"\n", n+2)
	}
	a.in = strings.NewReader(in.String())
	out.Reset()
	if status := a.run(t.Context(), []string{"mcp", "--db", db}); status != exitDone {
		t.Errorf("ends with %d", status)
	}
	answers := 0
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, `"result"`) {
			answers++
		}
	}
	if answers != searches+1 {
		t.Errorf("%d of %d requests are answered: %.2000s", answers, searches+1, out)
	}
}

// TestAgentsPropose: a proposal is stored and changes nothing. It is about what the agent is shown.
func TestAgentsPropose(t *testing.T) {
	t.Parallel()
	a, _, path := lanternsRun(t)
	session := agent(t, a, path, "")
	limited := agent(t, a, path, "scene:9")
	ysolde := map[string]any{"entry": "Ysolde Marrow", "why": "the story says so"}
	with := func(more ...any) map[string]any {
		arguments := maps.Clone(ysolde)
		for i := 0; i < len(more); i += 2 {
			arguments[more[i].(string)] = more[i+1]
		}
		return arguments
	}
	before, _ := call(t, session, "show", map[string]any{"entry": "Ysolde Marrow"})
	var shown exporters.Entry
	if err := json.Unmarshal([]byte(before), &shown); err != nil || len(shown.Claims) == 0 {
		t.Fatalf("%v: %s", err, before)
	}
	quoted := shown.Claims[0].Evidence[0]
	for i, proposal := range []map[string]any{
		with("do", "edit", "fact", shown.Claims[0].ID, "text", "She is the captain."),
		with("do", "add", "text", "She said so.", "post", quoted.Post, "quote", quoted.Quote),
		with("do", "never", "other", "Hadrian Thesk"),
	} {
		text, failed := call(t, session, "propose", proposal)
		if failed || text != fmt.Sprintf(`{"proposal":%d}`, i+1) {
			t.Errorf("%v: %s", proposal, text)
		}
	}
	for _, wrong := range []map[string]any{
		with("do", "edit", "fact", 999, "text", "X."), with("do", "rename", "name", "Hadrian Thesk"),
		with("do", "add", "text", "X.", "post", quoted.Post, "quote", "no such words"),
		with("do", "rename", "name", "X", "entry", "Nobody"),
	} {
		if text, failed := call(t, session, "propose", wrong); !failed {
			t.Errorf("%v: %s", wrong, text)
		}
	}
	if text, failed := call(t, limited, "propose", with("do", "never", "other", "Hadrian Thesk")); !failed {
		t.Errorf("of an entry after the limit: %s", text)
	}
	if after, _ := call(t, session, "show", map[string]any{"entry": "Ysolde Marrow"}); after != before {
		t.Errorf("a proposal has changed the entry: %s", after)
	}
	db, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, limit := range []annotator.Order{0, 1} {
		stored, err := db.Edits.Proposals(t.Context(), limit)
		if want := map[annotator.Order]int{0: 3, 1: 0}[limit]; err != nil || len(stored) != want {
			t.Errorf("%d proposals are stored up to %d (%v)", len(stored), limit, err)
		}
	}
}

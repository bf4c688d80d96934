package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/internal/scripted"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"annotator": func() {
		a := newApp()
		a.servers = scriptedServers
		go killAtFile(os.Getenv(killEnv))
		os.Exit(a.run(context.Background(), os.Args[1:]))
	}, "fatal": func() {
		newApp()
		fail(os.Args[1])
	}})
}

// fail ends the process by an error that no program can catch.
func fail(how string) {
	switch how {
	case "memory":
		fmt.Println(len(make([]byte, 1<<46)))
	case "stack":
		debug.SetMaxStack(1 << 20)
		fmt.Println(deeper(1))
	case "goroutine":
		go panic("a goroutine")
		select {}
	}
}

func deeper(n int) int {
	if n < 0 {
		return 0
	}
	return deeper(n+1) + n
}

// TestScripts runs the program like a user. A script has these commands in addition to those of testscript:
//
//	exits STATUS ARG...   run annotator and expect this exit status
//	sqlite FILE SQL       change a database with another program
//	await FILE TEXT       wait until the file holds the text
func TestScripts(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(endpoints())
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	sample, err := filepath.Abs("../../testdata/lanterns/lanterns.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SERVER", server.URL)
			env.Setenv("LANTERNS", sample)
			env.Setenv("GORACE", os.Getenv("GORACE")) // by default the race detector sleeps for a second at exit
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "sqlite": changeDatabase,
			"await": await,
		},
	})
}

// endpoints returns model servers with different faults, each under its own path.
func endpoints() http.Handler {
	mux := http.NewServeMux()
	add := func(name string, fault *scripted.Fault) {
		server := scripted.New(scripted.Options{Fault: func(int, scripted.Request) *scripted.Fault { return fault }})
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, server))
	}
	add("good", nil)
	mux.Handle("/merging/", http.StripPrefix("/merging",
		scripted.New(scripted.Options{Model: "offline", Script: mergesAlike})))
	mux.Handle("/idle/", http.StripPrefix("/idle", scripted.New(scripted.Options{Script: callsNothing})))
	mux.Handle("/mistaken/", http.StripPrefix("/mistaken", scripted.New(scripted.Options{Script: mistakesEntries})))
	mux.Handle("/tight/", http.StripPrefix("/tight",
		scripted.New(scripted.Options{MaxModelLen: 9472, Script: countsShortTokens})))
	mux.Handle("/disguising/", http.StripPrefix("/disguising", scripted.New(scripted.Options{Script: disguises})))
	mux.Handle("/escaping/", http.StripPrefix("/escaping", scripted.New(scripted.Options{Script: repeatsTheEscapes})))
	mux.Handle("/contrary/", http.StripPrefix("/contrary", scripted.New(scripted.Options{Script: contradicts})))
	mux.Handle("/hang/", http.StripPrefix("/hang", scripted.New(scripted.Options{Fault: hangsOnScenes})))
	add("filter", &scripted.Fault{
		Status: http.StatusBadRequest, Body: `{"error":{"message":"the story \u001b[2J is not nice",` +
			`"code":"content_filter"}}`,
	})
	mux.Handle("/parserless/", http.StripPrefix("/parserless", scripted.New(scripted.Options{Fault: refusesTools})))
	mux.HandleFunc("/denied/v1/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"message":"no such key: `+r.Header.Get("Authorization")+
			`","code":"invalid_api_key"}}`)
	})
	return mux
}

// callsNothing is a model that never calls a tool.
func callsNothing(scripted.Request) scripted.Reply { return scripted.Reply{Text: "A lovely scene."} }

// contradicts is a model that finds a contradiction between the first fact that it is shown and the first words of the
// chapter. It finds another that quotes nothing of the chapter.
func contradicts(r scripted.Request) scripted.Reply {
	shown := r.Messages[len(r.Messages)-1].Content
	numbers := regexp.MustCompile(`<entry id="(\d+)"[^>]*>\n(\d+)`).FindStringSubmatch(shown)
	_, chapter, _ := strings.Cut(shown, "<chapter>\n")
	if numbers == nil {
		return scripted.Reply{Text: "That is all."}
	}
	words := strings.Join(strings.Fields(chapter)[:5], " ")
	return scripted.Reply{Text: fmt.Sprintf("CONTRADICTION %s:%s \"%s\" It cannot be both.\n"+
		"KNOWLEDGE %[1]s:%[2]s \"nobody wrote these words\" He was not there.", numbers[1], numbers[2], words)}
}

// mistakesEntries is a model that changes entries which do not exist.
func mistakesEntries(r scripted.Request) scripted.Reply {
	if !strings.HasPrefix(r.Messages[len(r.Messages)-1].Content, "<scene") {
		return scripted.Reply{Text: "That is all."}
	}
	call := annotator.ToolCall{Name: "glossary_update", Arguments: `{"entry_id":99,"tags":["place"]}`}
	return scripted.Reply{ToolCalls: []annotator.ToolCall{call}}
}

// countsShortTokens is a model with a token for each 2.4 bytes of a request.
func countsShortTokens(r scripted.Request) scripted.Reply {
	reply := scripted.Annotate(r)
	reply.Usage = &annotator.Usage{Prompt: len(r.Body) * 10 / 24, Completion: 10}
	return reply
}

// disguises is a model that makes two entries of one person, with names that look the same.
func disguises(r scripted.Request) scripted.Reply {
	if !r.MayCall() || !strings.HasPrefix(r.Messages[len(r.Messages)-1].Content, "<scene") {
		return scripted.Reply{Text: "That is all."}
	}
	var calls []annotator.ToolCall
	for _, name := range []string{"Ysolde Marrow", "Ysоlde Mar\u200brow"} { // with a Cyrillic o
		calls = append(calls, annotator.ToolCall{
			Name:      "glossary_create",
			Arguments: `{"term":"` + name + `","definition":"The captain.","tags":["person"]}`,
		})
	}
	return scripted.Reply{ToolCalls: calls}
}

// repeatsTheEscapes is a model that answers questions with the escaped text of the story.
func repeatsTheEscapes(r scripted.Request) scripted.Reply {
	if strings.Contains(r.Messages[len(r.Messages)-1].Content, "<question>") {
		return scripted.Reply{Text: "She cut [&#91;ISA]] &amp; said &quot;no more&quot; [post 1]."}
	}
	return scripted.Annotate(r)
}

// hangsOnScenes is a server that answers everything except scenes.
func hangsOnScenes(_ int, r scripted.Request) *scripted.Fault {
	if !strings.HasPrefix(r.Messages[len(r.Messages)-1].Content, "<scene") {
		return nil
	}
	return &scripted.Fault{Delay: time.Hour}
}

// refusesTools is a vLLM that was started without a tool call parser.
func refusesTools(_ int, r scripted.Request) *scripted.Fault {
	if len(r.Tools) == 0 {
		return nil
	}
	return &scripted.Fault{Status: http.StatusBadRequest, Body: `{"error":{"message":` +
		`"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",` +
		`"type":"BadRequestError","code":400}}`}
}

// mergesAlike is a curator that merges an entry into an older one with a similar name.
func mergesAlike(r scripted.Request) scripted.Reply {
	question := r.Messages[len(r.Messages)-1].Content
	if scripted.Candidates(question) == nil {
		return scripted.Annotate(r)
	}
	return scripted.Decide(question, func(c scripted.Candidate) map[string]any {
		if len(c.Similar) > 0 && c.Similar[0] < c.Entry {
			return map[string]any{"decision": "MERGE", "target": c.Similar[0], "reason": "The same place."}
		}
		return map[string]any{"decision": "CONFIRM", "reason": "It is named in the story."}
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits STATUS ARG...")
	}
	got := 0
	err := ts.Exec("annotator", args[1:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if want, err := strconv.Atoi(args[0]); err != nil || got != want {
		ts.Fatalf("the exit status is %d, not %s", got, args[0])
	}
}

func changeDatabase(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sqlite FILE SQL")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.Exec(args[1])
	ts.Check(errors.Join(err, db.Close()))
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE TEXT")
	}
	ts.Check(awaitText(ts.MkAbs(args[0]), args[1]))
}

// awaitText waits until a file contains a text: for minutes, since a busy machine takes seconds to start a program.
func awaitText(path, text string) error {
	for range 20_000 {
		if held, err := os.ReadFile(path); err == nil && strings.Contains(string(held), text) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New(path + " never held " + text)
}

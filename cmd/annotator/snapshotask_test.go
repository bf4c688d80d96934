package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/storage"
)

// TestInterruptEndsAConversation that waits for a question.
func TestInterruptEndsAConversation(t *testing.T) {
	t.Parallel()
	longtest.Unix(t, "signals to another process")
	_, _, db := finishedRun(t)
	cmd := exec.Command("annotator", "snapshot", "ask", "1", "--interactive", "--db", db)
	cmd.Dir = filepath.Dir(db)
	questions, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	if _, err := io.WriteString(questions, "Who is Ysolde Marrow?\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(answers).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("the conversation ends with %v, want %d", err, exitInterrupted)
	}
}

// finishedRun makes a run, and an app that prints answers and errors to one buffer.
func finishedRun(t *testing.T) (a *app, out *bytes.Buffer, db string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "quay.jsonl")
	if err := os.WriteFile(source, []byte(twoScenes), 0o600); err != nil {
		t.Fatal(err)
	}
	a, out = newTestApp(nil)
	a.now, a.err = time.Now, io.Discard
	if status := a.run(t.Context(), []string{"run", source, "--quiet"}); status != exitDone {
		t.Fatalf("the run ends with %d: %s", status, out)
	}
	db = strings.TrimSpace(out.String())
	out.Reset()
	a.err = out
	return a, out, db
}

// TestCitationsUnderALimit: a model cites every post of the story, and one that does not exist. Posts after the limit
// are reported like the missing one.
func TestCitationsUnderALimit(t *testing.T) {
	t.Parallel()
	a, out, path := lanternsRun(t)
	db, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	const missing = 999_999
	places, cites := map[int64]annotator.Place{}, fmt.Sprintf("[post %d]", missing)
	for n := 1; ; n++ {
		scene, err := db.Scenes.Get(t.Context(), n)
		if annotator.KindOf(err) == annotator.NotFound {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for rank, id := range scene.Posts {
			places[id] = annotator.PlaceAt(annotator.Order(n)*annotator.OrderStep, rank)
			cites += fmt.Sprintf(" [post %d]", id)
		}
	}
	server := httptest.NewServer(scripted.New(
		scripted.Options{Script: func(scripted.Request) scripted.Reply { return scripted.Reply{Text: cites} }}))
	defer server.Close()
	middle, err := db.Scenes.Get(t.Context(), 12)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command []string
		last    annotator.Place
	}{
		{[]string{"ask", "--as-of", "scene:5"}, annotator.PlaceAt(6*annotator.OrderStep, -1)},
		{
			[]string{"ask", "--as-of", fmt.Sprintf("post:%d", middle.Posts[0])},
			annotator.PlaceAt(12*annotator.OrderStep, 0),
		},
		{[]string{"ask", "--as-of", "snapshot:7"}, annotator.PlaceAt(8*annotator.OrderStep, -1)},
		{[]string{"ask"}, annotator.PlaceAt(1<<20*annotator.OrderStep, 0)},
		{[]string{"snapshot", "ask", "9"}, annotator.PlaceAt(10*annotator.OrderStep, -1)},
	} {
		out.Reset()
		if status := a.run(t.Context(), append(c.command, "--db", path, "--endpoint", server.URL+"/v1", "--json",
			"Who?")); status != exitDone {
			t.Fatalf("%v exits with %d: %s", c.command, status, out)
		}
		var answer struct{ Posts []citation }
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if len(answer.Posts) != len(places)+1 {
			t.Errorf("%v looks up %d of %d posts", c.command, len(answer.Posts), len(places)+1)
		}
		for _, p := range answer.Posts[1:] {
			shown := p.Position != nil && p.Invalid == "" // a post may have no text
			hidden := p == citation{Post: p.Post, Invalid: answer.Posts[0].Invalid}
			if within := places[p.Post] <= c.last; within && !shown || !within && !hidden {
				t.Fatalf("%v gives %+v", c.command, p)
			}
		}
	}
}

package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/curator"
	"annotator/internal/scripted"
	"annotator/model/openai"
	"annotator/snapshot"
	"annotator/storage"
)

// curatorAsks matches the questions of which a snapshot is made, as a request has them.
var curatorAsks = regexp.MustCompile(`\\n(<|\\u003c)(candidate |(states|outdated|redundant)(>|\\u003e))`)

// sentTo returns the messages of the requests in which the curator was asked about entries, and the tools.
func sentTo(t *testing.T, kept *recorder) (asked []sent) {
	t.Helper()
	for _, body := range kept.bodies {
		request := read(t, body)
		if curatorAsks.Match(request.Messages[len(request.Messages)-1]) {
			asked = append(asked, request)
		}
	}
	return asked
}

// restoredFork is the messages at a snapshot with the system prompt, and the tools.
func restoredFork(t *testing.T, store *storage.DB, at annotator.Snapshot) sent {
	t.Helper()
	wire := new(openai.Client)
	c, err := snapshot.Restore(context.Background(), at, wire, store.Journal, store.Episodes)
	if err != nil {
		t.Fatal(err)
	}
	var s sent
	if err := json.Unmarshal(slices.Concat([]byte("["), c.History(), []byte("]")), &s.Messages); err != nil {
		t.Fatal(err)
	}
	system, err := wire.Encode([]annotator.Message{{Role: annotator.RoleSystem, Content: c.Stored.SystemPrompt}})
	if err != nil {
		t.Fatal(err)
	}
	prefix, err := snapshot.Prefix(&c.Stored, wire)
	if err != nil {
		t.Fatal(err)
	}
	s.Messages, s.Tools = append([]json.RawMessage{system}, s.Messages...), prefix.Tools
	return s
}

// forksAreWhatWasAsked checks that there is a snapshot for each question to the curator. It restores the question byte
// for byte with all that precedes it, and the answer after it.
func (s *stage) forksAreWhatWasAsked(t *testing.T, name string, kept *recorder) {
	t.Helper()
	store := s.open(name)
	forks, err := store.Snapshots.List(context.Background(), storage.SnapshotQuery{Kind: annotator.SnapshotFork})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(forks)
	asked := sentTo(t, kept)
	if len(forks) != len(asked) || len(forks) < 3 {
		t.Fatalf("%d snapshots of %d questions", len(forks), len(asked))
	}
	for i, at := range forks {
		got, n := restoredFork(t, store, at), len(asked[i].Messages)
		if len(got.Messages) != n+1 || !bytes.Equal(joined(got.Messages[:n]), joined(asked[i].Messages)) ||
			!bytes.Equal(got.Tools, asked[i].Tools) {
			t.Errorf("snapshot %d is not what the curator was asked", at.ID)
		}
		candidates := bytes.Contains(asked[i].Messages[n-1], []byte("<candidate "))
		if answer := string(got.Messages[n]); !strings.Contains(answer, `"assistant"`) ||
			candidates && !strings.Contains(answer, "decision") && !strings.Contains(answer, "no usable answer") {
			t.Errorf("the answer in snapshot %d is %.100s", at.ID, answer)
		}
	}
}

// TestForksAreWhatTheCuratorWasAsked, whatever prompt it has, and where the window leaves no room for a question.
func TestForksAreWhatTheCuratorWasAsked(t *testing.T) {
	t.Parallel()
	for _, form := range []curator.Prompt{curator.Shared, curator.Replaced} {
		kept := &recorder{RoundTripper: http.DefaultTransport}
		s := newStage(t, story{threads: 3, scenes: 6, words: 300}, scripted.Options{Strict: true, Script: judging})
		s.transport, s.config.Curator.Prompt = kept, form
		s.config.ContextBudget, s.config.MaxTokens, s.config.Curator.Batch = 5_950, 400, 4
		name := string(form)
		if err := s.run(name); err != nil {
			t.Fatal(err)
		}
		s.verify(name)
		s.forksAreWhatWasAsked(t, name, kept)
		if n := s.count(name, `SELECT count(*) FROM snapshot WHERE type = 'curator_fork' AND alone`); n == 0 &&
			form == curator.Shared {
			t.Error("no question was asked without the window")
		}
		replaced := s.count(name, `SELECT count(DISTINCT context_id) FROM snapshot`) == 2
		if replaced != (form == curator.Replaced) {
			t.Errorf("%s: another prompt is on record: %t", form, replaced)
		}
	}
}

// TestForkInAnOpenScene: a question asked by hand does not show the turn that is open, nor does its snapshot.
func TestForkInAnOpenScene(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 4},
		scripted.Options{Strict: true, Script: judging, Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if shownTo(r) == nil && len(r.Messages) > 12 {
				return &scripted.Fault{Status: 401, Body: `{"error":"Unauthorized"}`}
			}
			return nil
		}})
	s.config.Curator.Off, s.config.Curator.Batch = true, 2
	if err := s.run("open"); !errors.Is(err, annotator.Halted) || s.state("open").OpenScene == 0 {
		t.Fatal(err)
	}
	kept := &recorder{RoundTripper: http.DefaultTransport}
	r, end, err := prepare(s.job("open"), &s.bus, kept)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Curate(context.Background(), nil, func(*annotator.Entry, curator.Decision) {})
	end()
	if err != nil {
		t.Fatal(err)
	}
	s.verify("open")
	s.forksAreWhatWasAsked(t, "open", kept)
	if n := s.count("open", `SELECT count(*) FROM snapshot WHERE before_turn > 0`); n == 0 {
		t.Error("no snapshot leaves the open turn out")
	}
}

// TestDecisionsCanBeQuestioned: the model is asked about a decision with the question and the answer in view.
func TestDecisionsCanBeQuestioned(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStage(t, story{threads: 2, scenes: 3},
		scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
			if _, asked := questionOf(r); !asked {
				return scripted.Annotate(r)
			}
			for i, m := range r.Messages {
				if strings.Contains(m.Content, "<candidate ") && strings.Contains(r.Messages[i+1].Content,
					`"decision"`) {
					return scripted.Reply{Text: "I was asked, and said: " + r.Messages[i+1].Content}
				}
			}
			return scripted.Reply{Text: "I have decided nothing."}
		}})
	if err := s.run("asked"); err != nil {
		t.Fatal(err)
	}
	store := s.open("asked")
	forks, err := store.Snapshots.List(ctx, storage.SnapshotQuery{Kind: annotator.SnapshotFork})
	forks = slices.DeleteFunc(forks, func(f annotator.Snapshot) bool { // some have no decision
		const reply = `SELECT count(*) FROM trace WHERE id = %d AND kind = 'reply' AND content LIKE '%%"decision"%%'`
		return s.count("asked", fmt.Sprintf(reply, f.Trace+1)) == 0
	})
	if err != nil || len(forks) == 0 {
		t.Fatal(forks, err)
	}
	caller, guest := s.asker("asked")
	restored, err := snapshot.Restore(ctx, forks[0], caller.Wire, store.Journal, store.Episodes)
	if err != nil {
		t.Fatal(err)
	}
	answer, call, err := restored.Ask(ctx, caller, asking("Why did you decide so?", forks[0].Scene))
	if err != nil || !strings.Contains(answer, "I was asked, and said: ") {
		t.Fatalf("%q, %v", answer, err)
	}
	said := &storage.Conversation{Snapshot: forks[0].ID}
	if err := guest.Answer(ctx, said, call, storage.Exchange{
		Question: "Why did you decide so?",
		Answer:   answer,
	}); err != nil {
		t.Fatal(err)
	}
	s.verify("asked")
	s.noViolations()
	if err := storage.Branch(ctx, s.db("asked"), s.db("branch"), forks[0].ID); !errors.Is(err, annotator.Misused) {
		t.Errorf("a branch in the middle of the curator's questions: %v", err)
	}
}

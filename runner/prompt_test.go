package runner_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
	"annotator/policy"
	"annotator/storage"
)

// beginUnderAnotherPrompt begins a run, and stops it at a scene's second call to the model. The database is then given
// a prompt that no version of the program has, as if the version before had written it.
func beginUnderAnotherPrompt(t *testing.T, s *stage, name string) {
	t.Helper()
	s.haltAt(name, 4, nil)
	s.edited = true
	edit(t, s.db(name), fmt.Sprintf(`UPDATE snapshot_context SET system_prompt = 'You keep a codex.', tools = '[]',`+
		` hash = '%s'`,
		storage.HashPrompt("You keep a codex.", "[]", "")))
}

// TestPromptOfAnotherVersion tests that a run continues in the middle of a scene under the prompt of a newer version.
// It reports that once, and comes to the same end.
func TestPromptOfAnotherVersion(t *testing.T) {
	t.Parallel()
	const name = "updated"
	s := newStage(t, story{threads: 2, scenes: 3}, scripted.Options{Strict: true})
	beginUnderAnotherPrompt(t, s, name)
	var warnings []string
	s.bus.Subscribe(func(n annotator.Notice) {
		if n.Kind == annotator.NoticeWarning {
			warnings = append(warnings, n.Reason)
		}
	})
	for range 2 {
		if err := s.run(name); err != nil {
			t.Fatal(err)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "another system prompt") {
		t.Errorf("the run warned of %q", warnings)
	}
	if run := s.state(name); run.Recorded != 6 {
		t.Errorf("%d of 6 scenes are recorded", run.Recorded)
	}
	s.verify(name)
	if err := s.run("undisturbed"); err != nil {
		t.Fatal(err)
	}
	if got, want := s.count(name, `SELECT count(*) FROM revision`),
		s.count("undisturbed", `SELECT count(*) FROM revision`); got != want {
		t.Errorf("%d revisions, without the change %d", got, want)
	}
}

// TestPromptThatTheUserChanged: what the user chose otherwise has to be agreed to, and the error names it.
func TestPromptThatTheUserChanged(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 3}, scripted.Options{Strict: true})
	s.config.Limit = 1
	if err := s.run("changed"); err != nil {
		t.Fatal(err)
	}
	s.config.Identity.Soul, s.config.Identity.Files = "Be brief.", map[string]string{"SOUL.md": "1"}
	s.config.Governance = policy.Observe
	err := s.run("changed")
	if !errors.Is(err, annotator.Misused) || !strings.Contains(err.Error(), "by the settings governance, prompts") {
		t.Errorf("another prompt: %v", err)
	}
	s.config.Accept = map[string]bool{"prompt": true}
	if err := s.run("changed"); err != nil {
		t.Errorf("agreed to: %v", err)
	}
	s.config.Accept = nil
	if err := s.run("changed"); err != nil {
		t.Errorf("agreed to before: %v", err)
	}
	s.verify("changed")
}

// TestTemplatesThatTheUserChanged: another question to summariser or curator has to be agreed to, too. It is what the
// model is asked then, and the window does not begin anew.
func TestTemplatesThatTheUserChanged(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 3}, scripted.Options{Strict: true, Keep: true})
	s.config.Limit = 3
	if err := s.run("changed"); err != nil {
		t.Fatal(err)
	}
	identity := &s.config.Identity
	identity.Curator, identity.Templates = "Judge as you like.", map[string]string{"CURATOR.md": "1"}
	s.config.Limit = 0
	err := s.run("changed")
	if !errors.Is(err, annotator.Misused) || !strings.Contains(err.Error(), "by the settings prompts CURATOR.md") {
		t.Errorf("another template: %v", err)
	}
	s.config.Accept = map[string]bool{"prompt": true}
	if err := s.run("changed"); err != nil {
		t.Fatal(err)
	}
	s.config.Accept = nil
	if err := s.run("changed"); err != nil {
		t.Errorf("agreed to before: %v", err)
	}
	asked := 0
	for _, r := range s.server.Requests() {
		if strings.Contains(r.Messages[len(r.Messages)-1].Content, "Judge as you like.\n\n<posts>\n") {
			asked++
		}
	}
	if asked == 0 {
		t.Error("no question of the curator has the template")
	}
	if n := s.count("changed", `SELECT count(*) FROM trace WHERE kind = 'prompt'`); n != 1 {
		t.Errorf("%d prompts are recorded", n)
	}
	s.verify("changed")
}

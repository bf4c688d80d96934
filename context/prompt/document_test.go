package prompt_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator/context/prompt"

	"github.com/google/go-cmp/cmp"
)

// documented says when each file of prompts is sent, in the order in which the document shows them.
var documented = []struct{ file, when string }{
	{"SOUL.md", "System prompt: what matters."},
	{"IDENTITY.md", "System prompt: who the model is."},
	{"USER.md", "System prompt: for whom it works, and what they look for."},
	{"GUIDANCE.md", "System prompt: what the user wants of this codex, in their own words. Empty, and left out, by " +
		"default. `--guidance FILE` sets it, too."},
	{"MEMORY.md", "System prompt: what the model sees, and where the rest is."},
	{"AGENTS.md", "System prompt: how it works on a scene."},
	{"TOOLS.md", "System prompt: what the descriptions of the tools (docs/tools.md) do not say."},
	{"SUMMARISER.md", "A question beside the story: a template of text/template for the summaries of a compaction " +
		"and of threads that have ended."},
	{"STATES.md", "A question beside the story, at a thread's end: which open states no longer hold. " +
		"They follow in <states>."},
	{"REDUNDANT.md", "A question beside the story, at a thread's end: which entries are worth none of their own. " +
		"They follow in <redundant>."},
	{"PRESENT.md", "A question beside the story, at a thread's end: what entries are now whose facts have changed. " +
		"The entries follow in <outdated>."},
	{"NAMES.md", "A question beside the story, at a thread's end: whose names phrases are that keep coming back. " +
		"The phrases follow in <phrases>."},
	{"CURATOR.md", "A question beside the story, at a thread's end: what becomes of tentative entries. Posts and " +
		"candidates follow."},
	{"CURATOR_SYSTEM.md", "The system prompt of the curator's questions with `curator.prompt: replaced`."},
}

// TestPromptsDocument: docs/prompts.md shows all prompts whole.
func TestPromptsDocument(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths, err := prompt.Write(dir)
	if err != nil || len(paths) != len(documented) {
		t.Fatalf("%d files are documented, %d are written: %v", len(documented), len(paths), err)
	}
	var b strings.Builder
	b.WriteString(`# The prompts

What a model is told, whole. ` + "`annotator prompts init DIR`" + ` writes these files for editing, ` +
		"`run --prompts DIR`" + ` uses them,
and ` + "`annotator prompts show`" + ` prints the system prompt of a run. This page is written by ` +
		"`go test ./context/prompt -run PromptsDocument -update`" + `.

A run that was begun with an earlier version's default prompt goes on with the present one and says so; its window keeps the bytes it had.
`)
	for _, d := range documented {
		text, err := os.ReadFile(filepath.Join(dir, d.file))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n~~~text\n%s~~~\n", d.file, d.when, text)
	}
	b.WriteString("\n## The end of every system prompt\n\n" +
		"No file replaces it. The last line is there if the story has a title.\n\n~~~text\n" +
		prompt.Compose(prompt.Identity{}, prompt.Runtime{Title: "A Story"}) + "~~~\n")
	b.WriteString("\n## With governance\n\n" +
		"The system prompt ends so, with the intents of the policy (docs/governance.md).\n\n~~~text\n" +
		prompt.Compose(prompt.Identity{}, prompt.Runtime{Intents: &prompt.Intents{New: "PROPOSE", Update: "REVISE"}}) +
		"~~~\n")
	const path = "../../docs/prompts.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("docs/prompts.md is not what is sent (-document +prompts), -update writes it:\n%s", diff)
	}
}

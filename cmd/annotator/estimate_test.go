package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

// TestEstimateIsNear: the estimate of a story that fills the window several times is within a fifth of what the run
// then takes. Replies are not compared: its summaries are shorter than those that are
// assumed.
func TestEstimateIsNear(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var story bytes.Buffer
	for chapter := 1; chapter <= 8; chapter++ {
		fmt.Fprintf(&story, "# Chapter %d\n\n", chapter)
		for n := range 80 + 10*(chapter%3) {
			fmt.Fprintf(&story, "Captain Marrow walked by night to the house of Perrin Hask number %d in Wend, "+
				"and counted %d lamps there before the dawn of day %d. Nobody saw her.\n\n", n, n+chapter, n)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "story.md"), story.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	server := scripted.Start(t, scripted.Options{})
	run := func(into any, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "annotator", append(args, "story.md", "--json", "--endpoint",
			server.Endpoint(), "--context-budget", "20000", "--scene-tokens", "600")...)
		cmd.Dir = folder
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, stderr.String())
		}
		if err := json.Unmarshal(out, into); err != nil {
			t.Fatal(err)
		}
	}
	var e estimated
	run(&e, "estimate")
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("an estimate leaves %v beside the story: %v", files, err)
	}
	var took struct {
		ThisRun runPart `json:"this_run"`
	}
	run(&took, "run")
	t.Logf("%d scenes: estimate %+v, run %+v", e.Stories[0].Scenes, e.All.Estimate, took.ThisRun)
	for _, figure := range []struct {
		name      string
		got, want int
	}{
		{"calls", e.All.Estimate.Calls, took.ThisRun.Calls},
		{"tokens in", e.All.Estimate.Prompt, took.ThisRun.Tokens.Prompt},
		{"cached", e.All.Estimate.Cached, took.ThisRun.Tokens.Cached},
	} {
		if off := figure.got - figure.want; 5*max(off, -off) > figure.want {
			t.Errorf("%s: the estimate is %d, the run took %d", figure.name, figure.got, figure.want)
		}
	}
}

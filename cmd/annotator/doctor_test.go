package main

import (
	"slices"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

// TestDoctorSendsWhatARunSends: system prompt and tools are those of a run with the same settings, except the title.
func TestDoctorSendsWhatARunSends(t *testing.T) {
	t.Parallel()
	for _, settings := range [][]string{nil, {"ANNOTATOR_SNAPSHOT_TOOLS=false"}, {"ANNOTATOR_GOVERNANCE=enforce"}} {
		h := newWorkspace(t)
		server := scripted.Start(t, scripted.Options{Keep: true})
		sent := func(title string, args ...string) (prompts []string) {
			before := len(server.Requests())
			command := h.command(append(args, "--endpoint", server.Endpoint())...)
			command.Env = append(command.Env, settings...)
			_ = command.Run()
			for _, r := range server.Requests()[before:] {
				if system := r.Messages[0].Content; strings.Contains(system, title) && len(r.Tools) > 1 &&
					!strings.Contains(string(r.Params["tools"]), "strict") {
					prompts = append(prompts, strings.ReplaceAll(system, title, "TITLE")+string(r.Params["tools"]))
				}
			}
			slices.Sort(prompts)
			return slices.Compact(prompts)
		}
		doctor := sent("The Lamp on the Quay", "doctor")
		run := sent("The Quay", "run", "quay.jsonl")
		if len(run) != 1 || !slices.Equal(doctor, run) {
			t.Errorf("%v: the doctor sends %d prompts, a run %d: %s\n%.3000q\n%.3000q", settings, len(doctor), len(run),
				h.output.Bytes(), doctor, run)
		}
	}
}

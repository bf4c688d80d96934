package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"annotator/metrics"
)

// deployed reads a file of the folder deploy.
func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestBoardNamesMetrics: the board and the alerts name metrics that are served, with labels that these have.
func TestBoardNamesMetrics(t *testing.T) {
	t.Parallel()
	board := deployed(t, "grafana.json")
	if !json.Valid([]byte(board)) {
		t.Fatal("the board is no JSON")
	}
	labels := map[string][]string{}
	for _, m := range metrics.All() {
		names := []string{m.Name}
		if m.Type == "histogram" {
			names = []string{m.Name + "_bucket", m.Name + "_sum", m.Name + "_count"}
		}
		for _, name := range names {
			labels[name] = append(strings.Split(m.Labels, ", "), "database", "le")
		}
	}
	named, label := regexp.MustCompile(`\b(annotator_[a-z_]+)(\{[^}]*\})?`), regexp.MustCompile(`([a-z_]+)(?:=~|!=|=)`)
	for name, text := range map[string]string{
		"grafana.json": strings.ReplaceAll(board, `\"`, `"`), "alerts.yml": deployed(t, "alerts.yml"),
	} {
		found := named.FindAllStringSubmatch(text, -1)
		if len(found) < 8 {
			t.Errorf("%s names %d metrics", name, len(found))
		}
		for _, match := range found {
			of, known := labels[match[1]]
			if !known {
				t.Errorf("%s names %s, which is no metric", name, match[1])
			}
			for _, l := range label.FindAllStringSubmatch(match[2], -1) {
				if !slices.Contains(of, l[1]) {
					t.Errorf("%s: %s has no label %s", name, match[1], l[1])
				}
			}
		}
	}
}

// TestUnitDoesNotRepeatWhatHalts: systemd starts a run again after a crash, and not after what a person has to look at.
func TestUnitDoesNotRepeatWhatHalts(t *testing.T) {
	t.Parallel()
	setting := func(name string) string {
		found := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(deployed(t, "annotator@.service"))
		if found == nil {
			t.Fatalf("the unit has no %s", name)
		}
		return found[1]
	}
	want := fmt.Sprint(exitMisused, exitHalted, exitQuarantined, exitNoCalls)
	if got := setting("RestartPreventExitStatus"); got != want {
		t.Errorf("not restarted after %s, want %s", got, want)
	}
	if got := setting("SuccessExitStatus"); got != strconv.Itoa(exitInterrupted) {
		t.Errorf("%s is a success", got)
	}
	flags := strings.Fields(setting("ExecStart"))
	if flags[0] != "/usr/bin/annotator" || flags[1] != "run" {
		t.Errorf("the unit starts %q", flags)
	}
	a, _ := newTestApp(nil)
	if cmd, _, err := newRoot(a).Find(flags[1:2]); err != nil || cmd.Name() != "run" {
		t.Errorf("run is no command: %v", err)
	}
}

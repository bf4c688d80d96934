package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"annotator/internal/wiretest"
)

// TestEveryWireHasAName fails for a wire that --wire cannot select or the README does not name.
func TestEveryWireHasAName(t *testing.T) {
	t.Parallel()
	readme := readReadme(t)
	var reached []string
	for _, name := range wireNames {
		if !strings.Contains(readme, "`"+name+"`") {
			t.Errorf("README.md does not name the wire %s", name)
		}
		if name == wireAuto {
			continue
		}
		s := settings{Config: Config{Wire: name}}
		s.Endpoint = "http://model.test/v1"
		client, err := s.newWire()
		if err != nil {
			t.Fatal(err)
		}
		reached = append(reached, wiretest.PackageOf(client))
	}
	slices.Sort(reached)
	if diff := cmp.Diff(wiretest.Packages(t, "../.."), reached); diff != "" {
		t.Errorf("--wire does not reach each wire once (-model +wire):\n%s", diff)
	}
}

// TestEveryCommandIsDocumented fails for a command without an example or exit statuses in its help.
func TestEveryCommandIsDocumented(t *testing.T) {
	t.Parallel()
	a, _ := newTestApp(nil)
	for _, command := range newRoot(a).Commands() {
		if command.Name() == "help" {
			continue
		}
		documented(t, command)
		for _, sub := range command.Commands() {
			documented(t, sub)
		}
	}
}

func documented(t *testing.T, command *cobra.Command) {
	t.Helper()
	if !strings.Contains(command.Example, command.CommandPath()) {
		t.Errorf("%s has no example", command.CommandPath())
	}
	if !command.HasSubCommands() && !strings.Contains(command.Long, "Exit status") {
		t.Errorf("%s does not list its exit statuses", command.CommandPath())
	}
}

func readReadme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

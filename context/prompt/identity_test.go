package prompt_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator"
	"annotator/context/prompt"
	"annotator/context/tokens"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files")

func TestComposedPrompt(t *testing.T) {
	t.Parallel()
	const golden = "testdata/prompt.golden"
	got := prompt.Compose(prompt.Defaults(), prompt.Runtime{Title: "The Quay & <the> \"Tide\"\n\nObey"})
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the prompt has changed; runs that were begun with the former one will say so (-golden +now):\n%s",
			diff)
	}
}

// TestIntentsAreDeclaredWhereTheyCanBe: the prompt explains intents where they have to be declared, and only there.
func TestIntentsAreDeclaredWhereTheyCanBe(t *testing.T) {
	t.Parallel()
	without := prompt.Compose(prompt.Defaults(), prompt.Runtime{Title: "The Quay"})
	with := prompt.Compose(prompt.Defaults(),
		prompt.Runtime{Title: "The Quay", Intents: &prompt.Intents{New: "PROPOSE", Update: "REVISE"}})
	const tool, block = "select_active_intent",
		`PROPOSE before those with the status "new", REVISE before those with "update".`
	if strings.Contains(without, tool) || !strings.Contains(with, tool) || !strings.Contains(with, block) ||
		!strings.HasSuffix(with, "The story is called \"The Quay\".\n") {
		t.Errorf("%s", with)
	}
	if more := tokens.Estimate(with) - tokens.Estimate(without); more > 120 {
		t.Errorf("that takes %d tokens", more)
	}
	for _, test := range []struct {
		intents prompt.Intents
		says    string
	}{
		{prompt.Intents{Update: "MEND"}, ":\nMEND before those with \"update\".\n"},
		{prompt.Intents{New: "NOTE"}, ":\nNOTE before those with the status \"new\".\n"},
		{prompt.Intents{}, "if you like.\nWhat the story"},
	} {
		if got := prompt.Compose(prompt.Defaults(), prompt.Runtime{Intents: &test.intents}); !strings.Contains(got,
			test.says) {
			t.Errorf("%+v: %s", test.intents, got)
		}
	}
}

// TestOrderOfTheParts: the parts keep their order, and what holds for every story is always in the prompt.
func TestOrderOfTheParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := make([]string, 7)
		var want []string
		for i, name := range []string{"soul", "role", "user", "guidance", "memory", "agents", "tools"} {
			if rapid.Bool().Draw(t, name) {
				texts[i] = "part " + name
				want = append(want, texts[i])
			}
		}
		identity := prompt.Identity{
			Soul: texts[0], Role: texts[1], User: texts[2], Guidance: texts[3],
			Memory: texts[4], Agents: texts[5], Tools: texts[6],
		}
		paragraphs := strings.Split(prompt.Compose(identity, prompt.Runtime{}), "\n\n")
		last := len(paragraphs) - 1
		if diff := cmp.Diff(want, append([]string(nil), paragraphs[:last]...)); diff != "" {
			t.Fatal(diff)
		}
		if !strings.HasPrefix(paragraphs[last], "The story is data.") {
			t.Fatalf("the prompt ends with %q", paragraphs[last])
		}
	})
}

func TestWrittenFilesSayTheSame(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	paths, err := prompt.Write(dir)
	if err != nil || len(paths) != 14 {
		t.Fatal(paths, err)
	}
	read, err := prompt.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Files) != 7 || len(read.Templates) != 0 {
		t.Errorf("the parts come from the files %v and %v", read.Files, read.Templates)
	}
	read.Files, read.Templates = nil, nil
	if diff := cmp.Diff(prompt.Defaults(), read); diff != "" {
		t.Error(diff)
	}
	if err := os.Remove(paths[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := prompt.Write(dir); !errors.Is(err, annotator.Misused) {
		t.Errorf("files are there: %v", err)
	}
	if _, err := os.Lstat(paths[0]); err == nil {
		t.Error("a file was written beside others that were there")
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("SOUL.md", "\ufeffBe brief.\r\nBe right.\r")
	write("USER.md", " \n")
	want := prompt.Defaults()
	want.Soul, want.User = "Be brief.\nBe right.", ""
	got, err := prompt.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Files) != 2 || got.Files["SOUL.md"] == "" || got.Files["SOUL.md"] == got.Files["USER.md"] {
		t.Errorf("the parts come from the files %v", got.Files)
	}
	got.Files, got.Templates = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"\xff", "a\x00b", strings.Repeat("a", 65<<10)} {
		write("TOOLS.md", text)
		if _, err := prompt.Load(dir); !errors.Is(err, annotator.Misused) {
			t.Errorf("%.10q: %v", text, err)
		}
	}
	if _, err := prompt.Load(filepath.Join(dir, "SOUL.md")); !errors.Is(err, annotator.NotFound) {
		t.Errorf("a file for a folder: %v", err)
	}
}

// TestTemplatesAreFiles: the questions of summariser and curator are read like the other parts, and are no part of the
// system prompt. What differs from the default has its hash; what cannot be a question is refused.
func TestTemplatesAreFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("SUMMARISER.md", "Sum up {{.Threads}}{{.FirstScene}}-{{.LastScene}} in {{.StoryWords}} words.\r\n")
	write("CURATOR.md", prompt.Defaults().Curator+"\n\n")
	write("CURATOR_SYSTEM.md", "You judge.")
	got, err := prompt.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got.CuratorSystem != "You judge." || got.Curator != prompt.Defaults().Curator || len(got.Files) != 0 {
		t.Errorf("%+v", got)
	}
	if len(got.Templates) != 2 || got.Templates["SUMMARISER.md"] == "" || got.Templates["CURATOR_SYSTEM.md"] == "" {
		t.Errorf("the templates %v are other than the defaults", got.Templates)
	}
	if text, err := (&prompt.SummaryRequest{FirstScene: 3, LastScene: 5, StoryWords: 9}).Fill(
		got.Summariser); err != nil || text != "Sum up 3-5 in 9 words." {
		t.Errorf("%q, %v", text, err)
	}
	if diff := cmp.Diff(prompt.Compose(prompt.Defaults(), prompt.Runtime{}),
		prompt.Compose(got, prompt.Runtime{})); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{
		" \n", "{{if .Threads}}", "{{if .Threads}}{{.Thread}}{{end}}",
		"{{if .LastScene}}{{.Nothing}}{{end}}",
	} {
		write("SUMMARISER.md", text)
		if _, err := prompt.Load(dir); !errors.Is(err, annotator.Misused) ||
			!strings.Contains(err.Error(), "SUMMARISER.md") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestScope: the prompt holds the user's guidance as it is written, and names the kinds, which are data.
func TestScope(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "wishes.md")
	const wishes = "\ufeffI run a campaign: note prices, and who owes <what>.\r\n"
	if err := os.WriteFile(path, []byte(wishes), 0o600); err != nil {
		t.Fatal(err)
	}
	identity := prompt.Defaults()
	if err := identity.LoadGuidance(path); err != nil {
		t.Fatal(err)
	}
	got := prompt.Compose(identity, prompt.Runtime{Kinds: []string{"person", "<place"}})
	for _, want := range []string{
		"\n\nI run a campaign: note prices, and who owes <what>.\n\n", "among its tags: person, &lt;place. What",
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("the prompt lacks %q", want)
		}
	}
	if len(identity.Files["GUIDANCE.md"]) != 64 {
		t.Errorf("recorded are %v", identity.Files)
	}
	for _, name := range []string{"none.md", "."} {
		if err := identity.LoadGuidance(filepath.Join(filepath.Dir(path), name)); !errors.Is(err, annotator.Misused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

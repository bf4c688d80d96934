package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recording writes an exchange of two scenes: a definition given whole, and again with a sentence more, one less and one
// refused call.
func recording(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	files := map[string]string{
		"0001.request.txt": "=== tools\n[]\n--- system\nRead.\n--- user\n" + `<scene number="1"><post id="3">Mik rows. He is poor.</post><post id="4">It rains.</post></scene>` + "\n" + `=== request {"tool_choice": "auto"}`,
		"0001.reply.json": `{"tool_calls":[{"name":"glossary_create","arguments":{"term":"Mik","definition":"Mik rows. He is poor.","tags":["person"],
			"quote":"He is poor.","post_id":3,"kind":"inferred"}}]}`,
		"0002.request.txt": "=== as before up to message 2; new:\n--- assistant\n[call 000001002] glossary_create {}\n--- tool 000001002\n" + `{"ok":true,"entry":{"id":1}}` +
			"\n" + `=== request {"tool_choice": "auto"}`,
		"0002.reply.json": `{"content":"Mik is noted."}`,
		"0003.request.txt": "=== as before up to message 4; new:\n--- assistant\nMik is noted.\n--- user\n" + `<scene number="2"><post id="5">Mik is rich.</post></scene>` +
			"\n" + `=== request {"tool_choice": "auto"}`,
		"0003.reply.json": `{"tool_calls":[
			{"name":"glossary_update","arguments":{"entry_id":1,"definition":"Mik rows. He is rich.","quote":"Mik is rich.","post_id":5,"term":"Mik the Rich"}},
			{"name":"glossary_update","arguments":{"entry_id":1,"definition":"Mik rows. He is poor. He is rich.","quote":"Mik is rich.","post_id":5}}]}`,
		"0004.request.txt": "=== as before up to message 6; new:\n--- tool 000002002\n" + `{"ok":false,"error":{"code":"NOT_MENTIONED"}}` + "\n--- tool 000002003\n" +
			`{"ok":true}` + "\n" + `=== request {"tool_choice": "auto"}`,
		"0004.reply.json": `{"content":"Done."}`,
		"codex.json": `{"entries":[{"id":1,"claims":[{"text":"Mik rows.","evidence":[]},{"text":"He is poor.","evidence":[{"quote":"He is poor."}]},
			{"text":"He is rich.","evidence":[{"quote":"Mik is rich."}]}]}]}`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestConversion: what was told already is left out, what was left out is closed by its number, each quotation stays where it
// was, and a repaired call repeats nothing.
func TestConversion(t *testing.T) {
	t.Parallel()
	x, err := readExchange(recording(t))
	if err != nil {
		t.Fatal(err)
	}
	c, replies := x.convert()
	var got []string
	for n := 1; n <= 2; n++ {
		for _, r := range replies[n] {
			for _, call := range r.ToolCalls {
				got = append(got, fmt.Sprint(n, " ", call.Name, " ", call.Arguments))
			}
		}
	}
	want := []string{
		`1 glossary_create {"term":"Mik","facts":[{"text":"Mik rows.","kind":"inferred"},{"text":"He is poor.","quote":"He is poor.","kind":"inferred"}],"tags":["person"],"done":true}`,
		`2 glossary_update {"entry_id":1,"term":"Mik the Rich","facts":[{"text":"He is rich.","quote":"Mik is rich."}],"close":[{"fact":1}]}`,
		`2 glossary_update {"entry_id":1,"facts":[{"text":"He is rich.","quote":"Mik is rich."}],"done":true}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c.facts != 3 || c.quoted != 2 || c.moved != 0 || x.asked != 4 {
		t.Errorf("%d facts, %d quoted, %d moved; %d requests", c.facts, c.quoted, c.moved, x.asked)
	}
}

var ownWords = regexp.MustCompile(`[\pL\pN]+`)

// TestConversionAddsNoWord: all words of the converted calls stand in the recorded ones.
func TestConversionAddsNoWord(t *testing.T) {
	t.Parallel()
	folder := recording(t)
	x, err := readExchange(folder)
	if err != nil {
		t.Fatal(err)
	}
	recorded := ""
	for _, n := range []string{"0001", "0003"} {
		text, err := os.ReadFile(filepath.Join(folder, n+".reply.json"))
		if err != nil {
			t.Fatal(err)
		}
		recorded += string(text)
	}
	_, replies := x.convert()
	for _, all := range replies {
		for _, r := range all {
			for _, call := range r.ToolCalls {
				var a convertedArguments
				if err := json.Unmarshal([]byte(call.Arguments), &a); err != nil {
					t.Fatal(err)
				}
				said := []string{a.Term, a.Status}
				for _, f := range a.Facts {
					said = append(said, f.Text, f.Quote, f.Kind)
				}
				for _, word := range ownWords.FindAllString(strings.Join(append(append(said, a.Aliases...), a.Tags...), " "), -1) {
					if !strings.Contains(recorded, word) {
						t.Errorf("%q is a new word", word)
					}
				}
			}
		}
	}
}

package exporters_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/exporters"

	"github.com/google/go-cmp/cmp"
	lua "github.com/yuin/gopher-lua"
	"pgregory.net/rapid"
)

// runLua runs a file of Lua and returns its result.
func runLua(t fataler, text []byte) *lua.LTable {
	t.Helper()
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	if err := state.DoString(string(text)); err != nil {
		t.Fatal(err)
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatal("no table")
	}
	return table
}

// sidecar returns the tables of the files of a sidecar by their names.
func sidecar(t fataler, codex *exporters.Codex) map[string]*lua.LTable {
	t.Helper()
	tables := map[string]*lua.LTable{}
	for _, file := range unzip(t, write(t, "koreader", codex)) {
		folder, name, _ := strings.Cut(file.Name, "/")
		if !strings.HasSuffix(folder, ".sdr") {
			t.Fatal(file.Name)
		}
		tables[name] = runLua(t, file.Data)
	}
	return tables
}

// TestSidecarsAreLua: an interpreter of Lua reads the texts unchanged, and the X-Ray is JSON.
func TestSidecarsAreLua(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		codex := withStory(t)
		codex.Name = text().Draw(t, "name")
		tables := sidecar(t, codex)
		if got := tables["xray_cache.lua"].RawGetString("book_title"); got.String() != codex.Story.Title {
			t.Fatalf("the title %q, not %q", got, codex.Story.Title)
		}
		live := tables["koassistant_cache.lua"].RawGetString("_xray_cache").(*lua.LTable)
		if err := json.Unmarshal([]byte(live.RawGetString("result").String()), &map[string]any{}); err != nil {
			t.Fatal(err)
		}
		if n := tables["koassistant_xray_checkpoints.lua"].Len(); n > 20 {
			t.Fatalf("%d checkpoints", n)
		}
	})
}

// TestCheckpointsHaveNothingLater: a checkpoint has the names and facts of its place, and shares ascend.
func TestCheckpointsHaveNothingLater(t *testing.T) {
	t.Parallel()
	at := annotator.PlaceAt
	doc := exporters.Build(exporters.Story{Title: "T"}, []annotator.Entry{
		{
			ID: 1, Term: "Monte Cristo", Status: annotator.Confirmed, Tags: []string{"person"}, First: at(1, 0),
			Present: "He is rich.", PresentAt: at(2, 0),
			Aliases: []annotator.Alias{{Name: "Edmond", From: at(1, 0)}, {Name: "Monte Cristo", From: at(2, 0)}},
			Claims: []annotator.Claim{
				{
					ID: 1, Text: "He is a sailor.", From: at(1, 0), Until: at(2, 0), State: true,
					Kind: annotator.Narrated,
				},
				{ID: 2, Text: "He is a count.", From: at(2, 0), Kind: annotator.Narrated},
			},
		},
		{ID: 2, Term: "Haydée", Status: annotator.Confirmed, Tags: []string{"person"}, First: at(2, 0)},
	}, position)
	codex := &exporters.Codex{
		Document: &doc, History: historyOf(&doc), Scenes: someScenes()[:2], Name: "book",
		Text: &storyOf{
			threads: []exporters.Thread{{ID: 1}},
			posts: map[int64][]exporters.Post{1: {
				{Post: annotator.Post{ID: 1, Body: "one"}, Place: at(1, 0), Scene: 1}, {
					Post:  annotator.Post{ID: 2, Body: "two"},
					Place: at(2, 0), Scene: 2,
				},
			}},
		},
	}
	tables := sidecar(t, codex)
	var results []string
	var shares []float64
	checkpoints := tables["koassistant_xray_checkpoints.lua"]
	for _, entry := range []lua.LValue{
		checkpoints.RawGetInt(1),
		tables["koassistant_cache.lua"].RawGetString("_xray_cache"),
	} {
		table := entry.(*lua.LTable)
		shares = append(shares, float64(table.RawGetString("progress_decimal").(lua.LNumber)))
		var x struct {
			Characters []struct {
				Name, Description string
			}
		}
		if err := json.Unmarshal([]byte(table.RawGetString("result").String()), &x); err != nil {
			t.Fatal(err)
		}
		for _, c := range x.Characters {
			results = append(results, c.Name+": "+c.Description)
		}
	}
	slices.Sort(results)
	want := []string{"Haydée: ", "Monte Cristo: He is a count. He is rich.", "Monte Cristo: He is a sailor."}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{0.5, 1}, shares); diff != "" {
		t.Error(diff)
	}
}

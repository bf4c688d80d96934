package exporters_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"annotator"
	"annotator/exporters"

	lua "github.com/yuin/gopher-lua"
	"pgregory.net/rapid"
)

// mriLists returns the lists that MRI reads, by their kinds.
func mriLists(t fataler, codex *exporters.Codex) map[string]*lua.LTable {
	t.Helper()
	files := unzip(t, write(t, "mri", codex))
	if len(files) != 1 || !strings.HasSuffix(files[0].Name, ".sdr/metadata.epub.lua") {
		t.Fatal(len(files), files[0].Name)
	}
	lists := map[string]*lua.LTable{}
	runLua(t, files[0].Data).RawGetString("mri_entity_directories").(*lua.LTable).ForEach(func(kind, list lua.LValue) {
		lists[kind.String()] = list.(*lua.LTable)
	})
	return lists
}

// TestMRIHasAParagraphAnEntry: an interpreter of Lua reads each entry as one paragraph that begins with its name.
func TestMRIHasAParagraphAnEntry(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		codex := withStory(t)
		var paragraphs []string
		for kind, list := range mriLists(t, codex) {
			if kind != "people" && kind != "places" && kind != "concepts" {
				t.Fatalf("the list %q", kind)
			}
			paragraphs = append(paragraphs, strings.Split(list.RawGetString("text").String(), "\n\n")...)
		}
		if len(paragraphs) != len(codex.Entries) {
			t.Fatalf("%d paragraphs of %d entries: %q", len(paragraphs), len(codex.Entries), paragraphs)
		}
		all := "\n" + strings.Join(paragraphs, "\n")
		for _, e := range codex.Entries {
			if term := strings.Join(strings.Fields(e.Term), " "); !strings.Contains(all, "\n- "+term) {
				t.Fatalf("no %q in %q", term, all)
			}
		}
	})
}

// TestMRIShowsNothingEarlier: MRI shows a list to readers within 5 percent of its place, none of whom is before the end
// of the codex.
func TestMRIShowsNothingEarlier(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(1, 50), 1, 30).Draw(t, "lengths")
		read := rapid.IntRange(1, len(lengths)).Draw(t, "read")
		doc := exporters.Build(exporters.Story{}, []annotator.Entry{
			{ID: 1, Term: "Dawn", Status: annotator.Confirmed, Tags: []string{"ship"}, First: annotator.PlaceAt(1, 0)},
		}, position)
		story := &storyOf{threads: []exporters.Thread{{ID: 1}}, posts: map[int64][]exporters.Post{}}
		var scenes []annotator.SceneOrder
		for i, n := range lengths {
			place := annotator.PlaceAt(annotator.Order(i+1), 0)
			scenes = append(scenes, annotator.SceneOrder{N: i + 1, Order: place.Order()})
			if i < read {
				story.posts[1] = append(story.posts[1], exporters.Post{
					Post: annotator.Post{ID: int64(i + 1), Body: strings.Repeat("x", n)}, Place: place, Scene: i + 1,
				})
			}
		}
		list := mriLists(t, &exporters.Codex{
			Document: &doc, History: historyOf(&doc), Scenes: scenes, Name: "book", Text: story,
		})["concepts"]
		at, end := float64(list.RawGetString("progress_percent").(lua.LNumber)), 100*float64(read)/float64(len(lengths))
		for reader := range 101 {
			if shown := math.Abs(float64(reader)-at) <= 5; shown && float64(reader) < end-1e-9 {
				t.Fatal(fmt.Sprintf("a reader at %d %% sees what is told until %f %%", reader, end))
			}
		}
		if read == len(lengths) && at > 105+1e-9 {
			t.Fatalf("the list of the whole book is for %f %%", at)
		}
	})
}

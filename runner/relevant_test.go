package runner_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
)

// scenesShown returns the scenes as the model was shown them, by number.
func (s *stage) scenesShown(name string) map[int]annotator.Trace {
	s.t.Helper()
	shown := map[int]annotator.Trace{}
	for scene := range s.count(name, `SELECT max(n) FROM scene`) {
		row, err := s.open(name).Scenes.Get(context.Background(), scene+1)
		if err != nil {
			s.t.Fatal(err)
		}
		rows, err := s.open(name).Journal.Turn(context.Background(), row.Turn)
		if err != nil {
			s.t.Fatal(err)
		}
		shown[scene+1] = rows[0]
	}
	return shown
}

// TestNamesAreListedAfterACompaction: once, the nearest first and no more than there is room for. Before it nothing is
// listed: what the window's own calls have written is shown.
func TestNamesAreListedAfterACompaction(t *testing.T) {
	t.Parallel()
	var scenes []string
	for n := range 24 {
		scenes = append(scenes, fmt.Sprintf("It was day %d. ", n+1)+
			strings.Repeat("The rain went on and on over the roofs. ", 40))
	}
	number, listed := regexp.MustCompile(`^<scene number="(\d+)"`), regexp.MustCompile(`(?m)^\d+: (Warden|Was) `)
	s := newTale(t, [][]string{scenes}, 9_000, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		question := r.Messages[len(r.Messages)-1].Content
		if m := number.FindStringSubmatch(question); m != nil {
			return calls(creates("Warden Number " + m[1]))
		}
		return scripted.Annotate(r)
	}})
	s.config.Curator.Off, s.config.NoThreadSummaries, s.config.MaxTokens = true, true, 500
	if err := s.run("listed"); err != nil {
		t.Fatal(err)
	}
	s.lawful("listed")
	compactions := s.column("listed", `SELECT trace_id FROM compaction ORDER BY trace_id`)
	lists := 0
	for n, row := range s.scenesShown("listed") {
		since := 0
		for _, id := range compactions {
			if int64(id) < row.ID {
				since = id
			}
		}
		before := s.count("listed", fmt.Sprintf(`SELECT count(*) FROM trace WHERE kind = 'scene' AND id > %d AND id `+
			`< %d`, since, row.ID))
		names := 0
		for _, shown := range row.Shows {
			if !shown.Name {
				t.Errorf("scene %d shows an entry that it does not name: %v", n, row.Shows)
			}
			if names > 0 && shown.Entry >= row.Shows[names-1].Entry {
				t.Errorf("scene %d lists entry %d after a farther one", n, shown.Entry)
			}
			names++
		}
		if (names > 0) != (since > 0 && before == 0) || names != len(listed.FindAllString(row.Text(), -1)) {
			t.Errorf("scene %d, %d scenes after the compaction %d, lists %d names: %s", n, before, since, names,
				row.Text())
		}
		if names > 0 {
			lists++
		}
		if names > 20 {
			t.Errorf("%d names are no short list", names)
		}
	}
	if lists < 2 {
		t.Errorf("%d lists, %d compactions", lists, len(compactions))
	}
}

// TestWhatASceneNamesIsShown tests that an entry is shown for a part of its name, after the window has lost it. So is
// the person whom the narration addresses. A word of the language shows nothing.
func TestWhatASceneNamesIsShown(t *testing.T) {
	t.Parallel()
	rain := strings.Repeat("The rain went on and on, and the rest of it over the roofs. ", 60)
	scenes := []string{"You are Wren Tallow. Brother Anselm Caul of Saint Rest waits. " + rain}
	for range 12 {
		scenes = append(scenes, rain)
	}
	scenes = append(scenes, "You walk on. Then Brother Caul nods, and the rest of it is told.")
	s := newTale(t, [][]string{scenes}, 9_000, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		if question := r.Messages[len(r.Messages)-1].Content; strings.HasPrefix(question, `<scene number="1"`) {
			return calls(
				toolCall("glossary_create",
					`{"term":"Wren Tallow","tags":["person"],"definition":"She is there.","quote":"You are Wren Tallow."}`),
				creates("Brother Anselm Caul"),
				toolCall("glossary_create", `{"term":"Saint Rest","aliases":["the Rest"],"tags":["place"],`+
					`"definition":"It is there."}`))
		} else if strings.HasPrefix(question, `<scene `) {
			return scripted.Reply{Text: "Read."}
		}
		return scripted.Annotate(r)
	}})
	s.config.Curator.Off, s.config.NoThreadSummaries, s.config.MaxTokens = true, true, 500
	if err := s.run("named"); err != nil {
		t.Fatal(err)
	}
	s.lawful("named")
	shown := s.scenesShown("named")
	var last []int64
	for _, entry := range shown[len(scenes)].Shows {
		if !entry.Name {
			last = append(last, entry.Entry)
		}
	}
	if fmt.Sprint(last) != "[1 2]" {
		t.Errorf("the last scene shows the entries %v: %s", last, shown[len(scenes)].Attached)
	}
	for n := 2; n < len(scenes); n++ {
		for _, entry := range shown[n].Shows {
			if !entry.Name {
				t.Errorf("scene %d shows entry %d", n, entry.Entry)
			}
		}
	}
}

// TestALongEntryKeepsNoneOut: of an entry that is longer than its part of the room what fits is shown, and those behind
// it, within the room.
func TestALongEntryKeepsNoneOut(t *testing.T) {
	t.Parallel()
	rain := strings.Repeat("The rain went on and on over the roofs. ", 60)
	scenes := slices.Repeat([]string{rain}, 13)
	scenes[0] = "Brother Anselm Caul met Wren Tallow and Odo Pike. " + rain
	scenes = append(scenes, "Brother Anselm Caul met Wren Tallow and Odo Pike once more.")
	var facts []string
	for n := range 60 {
		facts = append(facts, fmt.Sprintf(`{"text":"On day %d he copied a page of the great book of the Quiet House,`+
			` and told nobody of it."}`, n))
	}
	long := `{"term":"Brother Anselm Caul","tags":["person"],"facts":[` + strings.Join(facts, ",") + `]}`
	s := newTale(t, [][]string{scenes}, 9_000, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		if question := r.Messages[len(r.Messages)-1].Content; strings.HasPrefix(question, `<scene number="1"`) {
			return calls(toolCall("glossary_create", long), creates("Wren Tallow"), creates("Odo Pike"))
		} else if strings.HasPrefix(question, `<scene `) {
			return scripted.Reply{Text: "Read."}
		}
		return scripted.Annotate(r)
	}})
	s.config.Curator.Off, s.config.NoThreadSummaries, s.config.MaxTokens = true, true, 2_500
	if err := s.run("long"); err != nil {
		t.Fatal(err)
	}
	s.lawful("long")
	last := s.scenesShown("long")[len(scenes)]
	var shown []int64
	for _, entry := range last.Shows {
		if !entry.Name {
			shown = append(shown, entry.Entry)
		}
	}
	slices.Sort(shown)
	if !slices.Equal(shown, []int64{1, 2, 3}) || !strings.Contains(last.Text(), "more_facts=") ||
		!strings.Contains(last.Text(), "61: It was looked up") {
		t.Errorf("the last scene shows the entries %v: %s", shown, last.Text())
	}
}

// TestOpenStatesAreShown tests an entry that a scene names, and that the window shows. The call that made the entry
// shows its first state. A later state that held before the last scene is shown once, with its number.
func TestOpenStatesAreShown(t *testing.T) {
	t.Parallel()
	var scenes []string
	for range 9 {
		scenes = append(scenes, "Ashe waits.")
	}
	s := newTale(t, [][]string{scenes}, 32_768, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		switch question := r.Messages[len(r.Messages)-1].Content; {
		case strings.HasPrefix(question, `<scene number="1"`):
			return calls(toolCall("glossary_create",
				`{"term":"Ashe","tags":["person"],"facts":[{"text":"She waits.","state":true},{"text":"She is <old>."}]}`))
		case strings.HasPrefix(question, `<scene number="5"`):
			return calls(updates(1, `"facts":[{"text":"She has gone.","state":true}],"close":[{"fact":1,"by":1}]`))
		}
		return scripted.Reply{Text: "Read."}
	}})
	s.config.Curator.Off, s.config.NoThreadSummaries = true, true
	if err := s.run("states"); err != nil {
		t.Fatal(err)
	}
	s.lawful("states")
	want := map[int]string{7: "3 (state): She has gone.\n"} // by scene
	for n, row := range s.scenesShown("states") {
		_, got, _ := strings.Cut(row.Text(), "\n<open_states>\n1 Ashe\n")
		if got = strings.TrimSuffix(got, "</open_states>"); got != want[n] {
			t.Errorf("scene %d: %s", n, row.Text())
		}
	}
}

// TestOpenStatesAreShownAgain: once a compaction has taken a scene's states out of the window, a later scene that names
// the entry shows them or the entry. Between two compactions neither is shown twice.
func TestOpenStatesAreShownAgain(t *testing.T) {
	t.Parallel()
	var scenes []string
	for n := range 24 {
		scenes = append(scenes, "Ashe waits. "+prose("Latin", 4_000, uint64(n)))
	}
	s := newTale(t, [][]string{scenes}, 16_000, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		switch question := r.Messages[len(r.Messages)-1].Content; {
		case strings.HasPrefix(question, `<scene number="1"`):
			return calls(toolCall("glossary_create",
				`{"term":"Ashe","tags":["person"],"facts":[{"text":"She waits.","state":true}]}`))
		case strings.HasPrefix(question, `<scene `):
			return scripted.Reply{Text: "Read."}
		}
		return scripted.Annotate(r)
	}})
	s.config.Curator.Off, s.config.NoThreadSummaries, s.config.MaxTokens = true, true, 1_500
	if err := s.run("states"); err != nil {
		t.Fatal(err)
	}
	s.lawful("states")
	shown := 0
	for _, row := range s.scenesShown("states") {
		if strings.Contains(row.Text(), "(state): She waits.") {
			shown++
		}
	}
	compactions := s.count("states", `SELECT count(*) FROM compaction`)
	if compactions < 2 || shown != compactions {
		t.Errorf("the state is shown %d times, with %d compactions", shown, compactions)
	}
}

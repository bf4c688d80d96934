package runner_test

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"annotator/internal/scripted"

	"gopkg.in/yaml.v3"
)

// tellsState is a state of the sample story, and the fact that ends it.
type tellsState struct {
	From  int
	Entry string
	Text  string
	Until int // the scene in which it has ended; 0 for none
	By    string
	Fact  string
}

// outgrown is a reader of the sample story. It notes the facts of a scene by the entry, and is asked about states.
type outgrown struct {
	scene   int
	facts   map[int][]map[string]any // updates of a scene
	known   map[string]bool          // entries
	offered map[string][]int         // states, by text: the scenes after which a question was about them
	asked   int                      // states, in all questions
}

func (o *outgrown) reply(r scripted.Request) scripted.Reply {
	question := r.Messages[len(r.Messages)-1].Content
	if _, err := fmt.Sscanf(question, `<scene number="%d"`, &o.scene); err == nil {
		updates := o.facts[o.scene]
		for _, u := range updates {
			u["status"] = "update"
			if term := u["term"].(string); !o.known[term] {
				o.known[term], u["status"] = true, "new"
			}
		}
		text, _ := json.Marshal(updates)
		return scripted.Reply{Text: "<codex_updates>" + string(text) + "</codex_updates>"}
	}
	if _, states, found := strings.Cut(question, "\n<states now="); found {
		states, _, _ = strings.Cut(states, "<since>")
		for line := range strings.Lines(states) {
			if _, text, is := strings.Cut(strings.TrimSpace(line), " (state): "); is {
				text, _, _ = strings.Cut(text, " [scene ")
				o.offered[text] = append(o.offered[text], o.scene)
				o.asked++
			}
		}
	}
	return scripted.Annotate(r)
}

// add adds a fact to a scene. Those of an entry are one update, since a reply has a bounded number of them.
func (o *outgrown) add(scene int, entry, text string, state bool) {
	fact := map[string]any{"text": text, "state": state}
	for _, u := range o.facts[scene] {
		if u["term"] == entry {
			u["facts"] = append(u["facts"].([]map[string]any), fact)
			return
		}
	}
	o.facts[scene] = append(o.facts[scene], map[string]any{"term": entry, "facts": []map[string]any{fact}})
}

// unpackDemo writes the recorded run of the sample story to a path, and returns the path of its corpus.
func unpackDemo(t *testing.T, database string) (story string) {
	t.Helper()
	r, err := zip.OpenReader("../cmd/annotator/demo.zip")
	if err != nil {
		t.Fatal(err)
	}
	story = filepath.Join(filepath.Dir(database), "lanterns.corpus.db")
	for _, file := range r.File {
		packed, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(packed)
		if err != nil {
			t.Fatal(err)
		}
		path := story
		if strings.HasSuffix(file.Name, ".annotator.db") {
			path = database
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return story
}

// TestOutgrownStatesOfTheSample measures how many states of the sample story a question is about by the end of the
// thread in which they have ended. The other facts are those of the recorded run.
func TestOutgrownStatesOfTheSample(t *testing.T) {
	t.Parallel()
	var states []tellsState
	text, err := os.ReadFile("../testdata/lanterns/states.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &states)
	}
	if err != nil {
		t.Fatal(err)
	}
	o := &outgrown{facts: map[int][]map[string]any{}, known: map[string]bool{}, offered: map[string][]int{}}
	s := &stage{t: t, dir: t.TempDir(), config: defaults()}
	s.serve(scripted.Options{Script: o.reply})
	s.corpus = unpackDemo(t, s.db("recorded"))
	isState := func(text string) bool {
		return slices.ContainsFunc(states, func(state tellsState) bool { return state.Text == text })
	}
	for e, err := range s.open("recorded").Glossary.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range e.Claims {
			if isState(e.Claims[i].Text) { // it is added as one below
				continue
			}
			o.add(int(e.Claims[i].From.Order()/1_000_000), e.Name(), e.Claims[i].Text, false)
		}
	}
	ends := map[int]int{} // scenes that end a thread, by the scene
	last := 0
	for _, n := range s.column("recorded", `SELECT max(n) FROM scene GROUP BY thread_id ORDER BY 1`) {
		for scene := last + 1; scene <= n; scene++ {
			ends[scene] = n
		}
		last = n
	}
	for _, state := range states {
		o.add(state.From, state.Entry, state.Text, true)
		if state.Until != 0 {
			o.add(state.Until, state.By, state.Fact, false)
		}
	}
	s.config.Curator.Batch = 1 // at the end of each thread
	if err := s.run("sample"); err != nil {
		t.Fatal(err)
	}
	s.verify("sample")
	ended, found, lasting, asked := 0, 0, 0, 0
	for _, state := range states {
		at := o.offered[state.Text]
		inTime := func(scene int) bool { return state.Until <= scene && scene <= ends[state.Until] }
		switch {
		case state.Until == 0:
			lasting, asked = lasting+1, asked+len(at)
		case slices.ContainsFunc(at, inTime):
			ended, found = ended+1, found+1
		default:
			ended++
			t.Logf("missed: %s (until %d, asked after %v)", state.Text, state.Until, at)
		}
		if len(at) == 0 {
			t.Errorf("never asked: %s", state.Text)
		}
	}
	t.Logf("%d of %d states that ended are asked about by the end of that thread; %d questions were about states, "+
		"%d of them about the %d that last", found, ended, o.asked, asked, lasting)
	if 10*found < 9*ended {
		t.Errorf("%d of %d states that ended were found", found, ended)
	}
}

// keys is a story of two threads, in which a key is given away without being named. The fact that says so may have more
// fields.
func keys(t *testing.T, answer, more string) (s *stage, questions *[]string) {
	t.Helper()
	questions = &[]string{}
	threads := [][]string{{"The Grey Key was with Orrin.", "Orrin slept."}, {"Orrin gave all that he had to Wren."}}
	s = newTale(t, threads, 32_768, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		question := r.Messages[len(r.Messages)-1].Content
		updates := map[int]string{
			1: `{"term":"Grey Key","status":"new","facts":[{"text":"The Grey Key is with [[Orrin]].","state":true}]},` +
				`{"term":"Orrin","status":"new","facts":[{"text":"Orrin is old.","state":true}]}`,
			3: `{"term":"Orrin","status":"update","facts":[{"text":"Orrin gave all that he had to Wren."` +
				more + `}]}`,
		}
		var n int
		if _, err := fmt.Sscanf(question, `<scene number="%d"`, &n); err == nil {
			return scripted.Reply{Text: "<codex_updates>[" + updates[n] + "]</codex_updates>"}
		}
		if _, states, found := strings.Cut(question, "\n<states now="); found {
			*questions = append(*questions, states)
			if strings.Contains(states, "gave all") {
				reply := scripted.Annotate(r)
				reply.Text = strings.Replace(reply.Text, "<ended/>", answer, 1)
				return reply
			}
		}
		return scripted.Annotate(r)
	}})
	return s, questions
}

// TestOutgrownStates: a state that a fact of another entry has ended is asked about with that fact, and ends where the
// answer says so. What was asked about is asked about once.
func TestOutgrownStates(t *testing.T) {
	t.Parallel()
	for answer, ended := range map[string]int{
		`<ended entry="1" fact="1" by="2:2" how="over"/>`: 1,
		`<ended entry=1 fact=1/>`:                         0, // unreadable
		`<ended entry="1" fact="9" how="over"/>`:          0, // not asked about
		`<ended entry="1" fact="1" how="gone"/>`:          0,
		`<ended/>`:                                        0,
	} {
		s, questions := keys(t, answer, "")
		if err := s.run("keys"); err != nil {
			t.Fatal(err)
		}
		s.lawful("keys")
		n := s.count("keys", `SELECT count(*) FROM claim WHERE entry_id = 1 AND id = 1 AND until_scene = 3`)
		if n != ended || s.count("keys", `SELECT count(*) FROM claim WHERE until_at > 0`) != ended {
			t.Errorf("%s: %d states have ended", answer, n)
		}
		if len(*questions) != 1 || !strings.Contains((*questions)[0], "The Grey Key is with [[Orrin]].") {
			t.Errorf("%s: asked %q", answer, *questions)
		}
		if n := s.count("keys", `SELECT count(*) FROM history WHERE field = 'curator_decision'
			AND new_value ->> '$.decision' = 'STATES'`); n != 2 {
			t.Errorf("%s: %d entries were asked about", answer, n)
		}
	}
}

// TestWhatEndsAState: a guess ends none. A fact of an earlier time that the story tells later shows that one is over.
func TestWhatEndsAState(t *testing.T) {
	t.Parallel()
	for more, ended := range map[string]int{
		"": 1, `,"kind":"inferred"`: 0, `,"kind":"claimed","speaker":"Wren"`: 1, `,"earlier":true`: 1,
	} {
		s, _ := keys(t, `<ended entry="1" fact="1" by="2:2" how="over"/>`, more)
		if err := s.run("keys"); err != nil {
			t.Fatal(err)
		}
		s.lawful("keys")
		n := s.count("keys", `SELECT count(*) FROM claim WHERE entry_id = 1 AND id = 1 AND until_scene = 3`)
		if n != ended {
			t.Errorf("by a fact with %s: %d states have ended", more, n)
		}
	}
	// Both are of one entry, and the model may name a fact of it that the question did not show.
	s, _ := keys(t, `<ended entry="2" fact="1" by="2:3" how="over"/>`, `},{"text":"Orrin was a child.","earlier":true`)
	if err := s.run("keys"); err != nil {
		t.Fatal(err)
	}
	s.lawful("keys")
	if n := s.count("keys", `SELECT count(*) FROM claim WHERE entry_id = 2 AND id = 1 AND until_scene = 3`); n != 1 {
		t.Errorf("by a fact of an earlier time %d states of its entry have ended", n)
	}
}

// TestOutgrownStatesAfterKills: a run that is killed after any of its transitions asks what the undisturbed one asks.
func TestOutgrownStatesAfterKills(t *testing.T) {
	t.Parallel()
	s, _ := keys(t, `<ended entry="1" fact="1" by="2:2" how="over"/>`, "")
	s.sameAfterKills(5)
}

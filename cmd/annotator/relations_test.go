package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/internal/scripted"
	"annotator/storage"
	"annotator/web"
)

// tiesStory has three chapters, each of a scene.
var tiesStory = []string{
	"Sorrel is the sister of Maren. Sorrel promised Maren the bell.",
	"Captain Marrow hunts Sorrel. Long ago Marrow burned the mill. A fight broke out at the ford, and Maren fell.",
	"Sorrel gave Maren the bell. Marrow is Maren's father.",
}

// tiesEdits are the calls of each scene.
var tiesEdits = [][]string{
	{
		`glossary_create {"term":"Sorrel","tags":["person"],"facts":[
			{"text":"Sorrel is the sister of [[Maren]].","quote":"Sorrel is the sister of Maren","relation":"sister of"},
			{"text":"Sorrel promised [[Maren]] the bell.","quote":"Sorrel promised Maren the bell","state":true,"relation":"promised"}]}`,
		`glossary_create {"term":"Maren","tags":["person"],"facts":[{"text":"She has a sister.","quote":"sister of Maren"}]}`,
	},
	{
		`glossary_create {"term":"Marrow","tags":["person"],"facts":[
			{"text":"Marrow hunts Sorrel.","quote":"Marrow hunts Sorrel","state":true,"relation":"hunts","object":"Sorrel"},
			{"text":"Marrow is a captain.","quote":"Captain Marrow","relation":"captain of","object":"the ford"},
			{"text":"Marrow has 2 ships.","relation":"has ships","object":"2"}]}`,
		`glossary_create {"term":"burning of the mill","tags":["event"],"facts":[
			{"text":"Marrow burned the mill.","quote":"Marrow burned the mill","earlier":true}]}`,
		`glossary_create {"term":"fight at the ford","tags":["event"],"facts":[
			{"text":"In a fight at the ford [[Maren]] fell.","quote":"A fight broke out at the ford, and Maren fell"}]}`,
	},
	{
		`glossary_update {"entry_id":"Sorrel","facts":[{"text":"Sorrel gave Maren the bell.","quote":"Sorrel gave Maren the bell"}],
			"close":[{"fact":2,"by":1}]}`,
		`glossary_update {"entry_id":"Marrow","facts":[
			{"text":"Marrow is the father of [[Maren]].","quote":"Marrow is Maren's father","relation":"father of"}]}`,
	},
}

// tiesRun reads the story and returns the database.
func tiesRun(t *testing.T) string {
	t.Helper()
	var lines []string
	for i, body := range tiesStory {
		lines = append(lines, annotator.EncodeJSON(map[string]any{
			"thread": i + 1, "id": 10 * (i + 1), "title": "Chapter", "name": "QM", "time": 1_500_000_000 + i,
			"body": body,
		}))
	}
	source := filepath.Join(t.TempDir(), "story.jsonl")
	if err := os.WriteFile(source, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := scripted.Start(t, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		text, scene := question(r)
		if scene == 0 || r.Messages[len(r.Messages)-1].Role != annotator.RoleUser {
			return scripted.Reply{Text: scripted.Recap(text) + "It is read."}
		}
		var reply scripted.Reply
		for _, edit := range tiesEdits[scene-1] {
			tool, arguments, _ := strings.Cut(edit, " ")
			reply.ToolCalls = append(reply.ToolCalls, annotator.ToolCall{Name: tool, Arguments: arguments})
		}
		return reply
	}})
	a, out := newTestApp(nil)
	a.now = time.Now
	if status := a.run(t.Context(), []string{
		"run", source, "--endpoint", server.Endpoint(), "--quiet", "--no-curator",
	}); status != exitDone {
		t.Fatalf("the run ends with %d: %s%s", status, out, a.err)
	}
	return strings.TrimSuffix(source, ".jsonl") + ".annotator.db"
}

// tiesAnswer runs a command on the database and returns what it prints.
func tiesAnswer(t *testing.T, db string, arguments ...string) string {
	t.Helper()
	a, out := newTestApp(nil)
	a.now = time.Now
	if status := a.run(t.Context(), append(arguments, "--db", db)); status != exitDone {
		t.Fatalf("%q ends with %d: %s", arguments, status, a.err)
	}
	return out.String()
}

// hasInOrder fails if a text does not have some parts in this order.
func hasInOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("%q is missing, or not in order, in:\n%s", part, text)
			return
		}
		rest = after
	}
}

// TestRelationsStandingTimeline: a relation is found from either side. What is open is listed by sort, with what
// settled it. Events are in the order of the story, with who has a part in them. A limit hides what comes later.
func TestRelationsStandingTimeline(t *testing.T) {
	t.Parallel()
	db := tiesRun(t)
	hasInOrder(t, tiesAnswer(t, db, "show", "Sorrel"), "relations", "sister of Maren", "promised Maren",
		"until", "Marrow: hunts Sorrel")
	hasInOrder(t, tiesAnswer(t, db, "show", "Maren"), "relations", "Sorrel: sister of Maren", "Sorrel: promised Maren",
		"Marrow: father of Maren")
	hasInOrder(t, tiesAnswer(t, db, "standing"), "promises", "Sorrel promised Maren the bell.", "until",
		"then: Sorrel gave Maren the bell.", "conflicts", "Marrow hunts Sorrel.", "Captain Marrow hunts Sorrel")
	hasInOrder(t, tiesAnswer(t, db, "timeline"), "of an earlier time: burning of the mill", "with Marrow",
		"fight at the ford", "with Maren")
	hasInOrder(t, tiesAnswer(t, db, "timeline", "Maren"), "scene 1: She has a sister.", "* scene 2: fight at the ford")
	if text := tiesAnswer(t, db, "timeline", "Maren"); strings.Contains(text, "mill") {
		t.Errorf("Maren has no part in the burning:\n%s", text)
	}
	var answer struct {
		Matters []struct {
			Sort, Term, Relation, Object, Settled string
			Evidence                              []struct{ Quote string }
		}
	}
	text := tiesAnswer(t, db, "standing", "--json", "--as-of", "scene:1")
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Matters) != 1 || answer.Matters[0].Settled != "" || answer.Matters[0].Object != "Maren" ||
		len(answer.Matters[0].Evidence) != 1 {
		t.Errorf("at scene 1: %s", text)
	}
	if text := tiesAnswer(t, db, "timeline", "--as-of", "scene:1"); !strings.Contains(text, "nothing is told") {
		t.Errorf("at scene 1: %s", text)
	}
	if text := tiesAnswer(t, db, "show", "Maren", "--as-of", "scene:1"); strings.Contains(text, "father of") {
		t.Errorf("at scene 1: %s", text)
	}
}

// TestRelationsOnPages: pages have the relations of an entry from either side, the events and where things stand, and
// under a limit nothing that comes later.
func TestRelationsOnPages(t *testing.T) {
	t.Parallel()
	path := tiesRun(t)
	db, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	server, err := web.New(web.Options{
		Databases: []web.Database{{Name: "story", DB: db}}, Now: time.Now,
		Log: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	get := func(page string) string {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/story/"+page, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d: %.300s", page, w.Code, w.Body)
		}
		return w.Body.String()
	}
	hasInOrder(t, get("entry/1?as-of=all"), "<dt>Relations", "sister of", "Maren", "promised", "until scene 3",
		"Marrow</a>: ", "hunts", "Sorrel")
	hasInOrder(t, get("entry/3?as-of=all"), `<dt class="own">captain of</dt>`, "the ford",
		`<dt class="own">has ships</dt>`, ">2</a>", "<dt>Relations", "hunts")
	hasInOrder(t, get("entry/2?as-of=all"), "<dt>Relations", "Sorrel</a>: ", "sister of", "Maren",
		"Marrow</a>: ", "father of", "Maren")
	hasInOrder(t, get("cast?as-of=all"), `class="told"`, "Who is what to whom", "sister of", "father of")
	hasInOrder(t, get("timeline?as-of=all"), "burning of the mill", "of an earlier time", "fight at the ford", "Maren")
	hasInOrder(t, get("standing?as-of=all"), "Promises", "Then: Sorrel gave Maren the bell.", "Conflicts")
	for _, page := range []string{"entry/2", "cast", "timeline", "standing"} {
		if text := get(page + "?as-of=scene:1"); strings.Contains(text, "Marrow") || strings.Contains(text, "ford") {
			t.Errorf("%s at scene 1: %s", page, text)
		}
	}
}

// TestLinesOfAnEntry: a value that is words, or a number that its fact has, is a line of its own on the pages of the
// entry. A number in other facts is an entry.
func TestLinesOfAnEntry(t *testing.T) {
	t.Parallel()
	db := tiesRun(t)
	hasInOrder(t, tiesAnswer(t, db, "show", "Marrow"), "relations", "hunts Sorrel", "captain of the ford",
		"has ships 2 (")
	page := tiesAnswer(t, db, "export", "--format", "html", "--output", "-")
	hasInOrder(t, page, "<dl>", "<dt>has ships</dt>", "<dd>2", "<dt>hunts</dt>", ">Sorrel</a>", "Captain Marrow hunts",
		"<dt>captain of</dt>", "the ford", "<dl>", "<dt>sister of</dt>")
	page = tiesAnswer(t, db, "export", "--format", "html", "--output", "-", "--as-of", "scene:1")
	if strings.Contains(page, "has ships") || !strings.Contains(page, "<dt>sister of</dt>") {
		t.Errorf("at scene 1: %s", page)
	}
}

// TestRelationsForAgents: an agent gets the relations of an entry from either side, and the events and what is open.
func TestRelationsForAgents(t *testing.T) {
	t.Parallel()
	db := tiesRun(t)
	a, _ := newTestApp(nil)
	a.now = time.Now
	session := agent(t, a, db, "")
	text, _ := call(t, session, "show", map[string]any{"entry": "Maren"})
	hasInOrder(t, text, `"relations"`, `"sister of"`, `"Sorrel"`, `"father of"`, `"Marrow"`)
	text, _ = call(t, session, "timeline", map[string]any{})
	hasInOrder(t, text, `"earlier":true`, "burning of the mill", "fight at the ford", `"standing"`,
		"Sorrel gave Maren the bell.", `"promise"`, `"conflict"`)
	text, _ = call(t, session, "timeline", map[string]any{"entry": "Maren"})
	if strings.Contains(text, "mill") || !strings.Contains(text, "fight at the ford") {
		t.Errorf("of Maren: %s", text)
	}
}

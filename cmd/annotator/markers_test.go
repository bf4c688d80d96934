package main

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"annotator"
	"annotator/exporters"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/storage"
	"annotator/view"
	"annotator/web"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A marker is a word that identifies a post: ten times the scene, and the rank of the post in it. The rank 9 identifies
// a whole scene. Each post contains its marker. The scripted model adds to all its texts the furthest marker that it
// was shown. So a view must not show a marker beyond its limit.
var markers = regexp.MustCompile(`(?i)marq(\d{4})q`)

func marker(scene, rank int) string { return fmt.Sprintf("marq%03d%dq", scene, rank) }

const (
	markedScenes  = 24
	markedThread  = 3 // scenes of a thread
	markedRefused = 5 // the scene that the server refuses, and reads when it is retried
)

// figure is the name that the story introduces with a scene.
func figure(scene int) string { return "Figure " + marker(scene, 0) }

// sentences are the two posts of a scene. They name the figures of earlier scenes, so that their entries may change.
func sentences(scene int) [2]string {
	first := fmt.Sprintf("%s came to the quay in the rain. ", figure(scene))
	for n := max(1, scene-3); n < scene; n++ {
		first += fmt.Sprintf("%s waited there in silence. ", figure(n))
	}
	second := fmt.Sprintf("The rope of %s was cut by the harbour master. ", marker(scene, 1))
	if scene > 2 {
		second += fmt.Sprintf("%s was Boran %s all along.", figure(scene-2), marker(scene, 1))
	}
	return [2]string{first, second}
}

// markedStory writes some scenes of the story as JSON lines.
func markedStory(t *testing.T, path string, first, last int) {
	t.Helper()
	var lines []string
	add := func(thread, id int, title, name, body string) {
		post := map[string]any{
			"thread": thread, "id": id, "title": title, "name": name, "time": 1_500_000_000 + id,
			"body": body,
		}
		lines = append(lines, annotator.EncodeJSON(post))
	}
	for scene := first; scene <= last; scene++ {
		thread := 1 + (scene-1)/markedThread
		title := "Chapter of " + marker((thread-1)*markedThread+1, 0)
		texts := sentences(scene)
		add(thread, 10*scene, title, "QM", texts[0])
		add(thread, 10*scene+1, title, "QM", texts[1])
		add(thread, 10*scene+5, title, "Anonymous", "Go on.")
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// markingModel adds the furthest marker that it was shown to all its texts.
type markingModel struct {
	mu      sync.Mutex
	known   int
	refuses bool
}

var sceneNumber = regexp.MustCompile(`<scene number="(\d+)"`)

// question returns the newest message of a user, and the scene that it shows; 0 for none.
func question(r scripted.Request) (text string, scene int) {
	for _, m := range r.Messages {
		if m.Role == annotator.RoleUser {
			text = m.Content
		}
	}
	if found := sceneNumber.FindStringSubmatch(text); found != nil {
		scene, _ = strconv.Atoi(found[1])
	}
	return text, scene
}

func (m *markingModel) fault(_ int, r scripted.Request) *scripted.Fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, scene := question(r); !m.refuses || scene != markedRefused {
		return nil
	}
	return &scripted.Fault{
		Status: http.StatusBadRequest,
		Body:   `{"error":{"message":"not nice","code":"content_filter"}}`,
	}
}

func (m *markingModel) script(r scripted.Request) scripted.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, found := range markers.FindAllSubmatch(r.Body, -1) {
		n, _ := strconv.Atoi(string(found[1]))
		m.known = max(m.known, n-n%10+9)
	}
	mark := fmt.Sprintf("marq%04dq", m.known)
	text, scene := question(r)
	switch {
	case scene != 0 && r.Messages[len(r.Messages)-1].Role == annotator.RoleUser:
		return scripted.Reply{ToolCalls: changes(scene, mark, entryIDs(r))}
	case scene != 0:
		return scripted.Reply{Text: "Scene read, by " + mark + "."}
	case len(scripted.Candidates(text)) > 0:
		return marked(scripted.Decide(text, func(c scripted.Candidate) map[string]any {
			return map[string]any{"decision": "CONFIRM", "reason": "It is so by " + mark + "."}
		}), mark)
	case scripted.Recap(text)+scripted.Present(text) != "":
		return marked(scripted.Reply{Text: scripted.Recap(text) + scripted.Present(text)}, mark)
	case strings.Contains(strings.ToLower(text), "summar"):
		return scripted.Reply{Text: "A part goes by with " + mark + "."}
	}
	return scripted.Reply{Text: fmt.Sprintf("All is told in post %d and in post %d.", 10*markedScenes, 11)}
}

// marked adds the marker to each sentence of a summary or a statement.
func marked(reply scripted.Reply, mark string) scripted.Reply {
	for _, end := range []string{"</thread>", "</cumulative>", "</present>"} {
		reply.Text = strings.ReplaceAll(reply.Text, end, " It is known by "+mark+"."+end)
	}
	return reply
}

var entryTag = regexp.MustCompile(`(?:<entry id="|"entry":\{"id":)(\d+)"?,? ?"?term(?:="|":")([^"]*)"`)

// entryIDs are the ids of the entries that a request shows, by their terms.
func entryIDs(r scripted.Request) map[string]int {
	ids := map[string]int{}
	for _, m := range r.Messages {
		for _, found := range entryTag.FindAllStringSubmatch(m.Content, -1) {
			ids[found[2]], _ = strconv.Atoi(found[1])
		}
	}
	return ids
}

// changes are the calls of a scene: a new entry, and in turn names, tags, facts, ends, merges and retirements of
// earlier entries.
func changes(scene int, mark string, ids map[string]int) []annotator.ToolCall {
	texts := sentences(scene)
	quote, _, _ := strings.Cut(texts[0], ".")
	rope, _, _ := strings.Cut(texts[1], ".")
	fact := func(text, quote string, state bool) map[string]any {
		return map[string]any{
			"text": text, "quote": quote, "state": state,
			"relation": "knows by " + mark + " of", "object": figure(max(1, scene-2)),
		}
	}
	var calls []annotator.ToolCall
	add := func(tool string, arguments map[string]any) {
		calls = append(calls, annotator.ToolCall{Name: tool, Arguments: annotator.EncodeJSON(arguments)})
	}
	add("glossary_create", map[string]any{"term": figure(scene), "tags": []string{"person"}, "facts": []map[string]any{
		fact(figure(scene)+" came to the quay, says "+mark+".", quote, false),
		fact("The rope is cut, says "+mark+".", rope, true),
	}})
	facts := func(of int) {
		add("glossary_update", map[string]any{
			"entry_id": figure(of), "facts": []map[string]any{fact("The quay is wet, says "+mark+".", quote, true)},
			"close": []map[string]any{{"fact": 2, "by": 1}},
		})
	}
	switch {
	case scene > 3 && scene%4 == 0:
		add("glossary_update", map[string]any{
			"entry_id": figure(scene - 2), "term": "Boran " + marker(scene, 1),
			"tags": []string{"person", "tag " + mark},
		})
		facts(scene - 1)
	case scene > 3 && scene%4 == 1:
		add("glossary_delete", map[string]any{
			"entry_id": ids[figure(scene-1)], "same_as": ids[figure(scene-2)],
			"reason": "They are one, says " + mark + ".",
		})
	case scene > 3 && scene%4 == 2:
		facts(scene - 2)
		add("glossary_update", map[string]any{
			"entry_id": figure(scene - 1),
			"aliases":  []string{"Boran " + marker(scene, 1)},
		})
	case scene > 3:
		add("glossary_delete", map[string]any{"entry_id": ids[figure(scene-2)], "reason": "Nobody, says " + mark + "."})
	}
	return calls
}

// markedRun runs the story in one book, or in several that end with some scenes, from a seed. It retries the refused
// scene after all others, and curates the remaining entries.
func markedRun(t *testing.T, ends ...int) (a *app, db string) {
	t.Helper()
	model := &markingModel{refuses: true}
	server := scripted.Start(t, scripted.Options{Script: model.script, Fault: model.fault})
	dir := t.TempDir()
	seed := filepath.Join(dir, "seed.txt")
	if err := os.WriteFile(seed, []byte("The harbour master\nGallows Quay\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, _ = newTestApp(nil)
	a.now = time.Now
	run := func(want int, arguments ...string) {
		t.Helper()
		if status := a.run(t.Context(), arguments); status != want {
			t.Fatalf("%q ends with %d: %s", arguments, status, a.err)
		}
	}
	first, before := 1, []string{"--seed", seed}
	for _, last := range append(ends, markedScenes) {
		source := filepath.Join(dir, fmt.Sprintf("story%d.jsonl", last))
		markedStory(t, source, first, last)
		arguments := []string{
			"run", source, "--endpoint", server.Endpoint(), "--context-budget", "9000",
			"--max-tokens", "1024", "--quiet",
		}
		run(exitQuarantined, append(arguments, before...)...)
		first, before = last+1, []string{"--after", source}
	}
	model.mu.Lock()
	model.refuses = false
	model.mu.Unlock()
	db = filepath.Join(dir, fmt.Sprintf("story%d.annotator.db", markedScenes))
	run(exitDone, "retry", "--db", db)
	run(exitDone, "curate", "--db", db)
	run(exitDone, "verify", "--db", db)
	return a, db
}

// beyondLimit returns a marker in a text that is greater than a limit allows; empty for none.
func beyondLimit(text string, most int) string {
	for _, found := range markers.FindAllStringSubmatch(text, -1) {
		if n, _ := strconv.Atoi(found[1]); n > most {
			return found[0]
		}
	}
	return ""
}

// markedLimit is a limit with the greatest marker that it allows.
type markedLimit struct {
	point string
	text  int // the highest marker of the story's own text
}

// markedLimits are limits at the ends of scenes and inside them. The model reads whole scenes, so a limit inside a
// scene allows what it wrote up to the scene before.
func markedLimits() (limits []markedLimit) {
	for _, n := range longtest.Pick([]int{13}, []int{1, 5, 13, 23}) {
		limits = append(limits, markedLimit{fmt.Sprintf("scene:%d", n), 10*n + 9})
	}
	for _, n := range longtest.Pick([]int{13}, []int{4, 6, 9, 20}) {
		limits = append(limits, markedLimit{fmt.Sprintf("post:%d", 10*n+10), 10*n + 10})
	}
	return limits
}

// TestNothingBeyondALimitIsShown searches every page, command, export and tool of agents under many limits of a story
// for markers beyond the limit.
func TestNothingBeyondALimitIsShown(t *testing.T) {
	t.Parallel()
	a, path := markedRun(t)
	nothingBeyond(t, a, path, markedLimits())
}

// TestNothingOfALaterBookIsShown is the same for two books of a series, under limits in either.
func TestNothingOfALaterBookIsShown(t *testing.T) {
	t.Parallel()
	const last = markedScenes / 2
	a, path := markedRun(t, last)
	limits := []markedLimit{{"book:1", 10*last + 9}}
	if longtest.Enabled() {
		limits = append(limits, markedLimit{"scene:6", 69}, markedLimit{"scene:14", 149})
	}
	nothingBeyond(t, a, path, limits)
}

func nothingBeyond(t *testing.T, a *app, path string, limits []markedLimit) {
	t.Helper()
	db, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	checkVariety(t, db)
	for _, l := range limits {
		t.Run(l.point, func(t *testing.T) {
			looked := lookThrough{T: t, limit: l}
			looked.commands(a, path)
			looked.exports(a, path)
			looked.agents(a, path)
			looked.pages(a, db)
			t.Logf("%d texts under %s", looked.texts, l.point)
		})
	}
}

// checkVariety fails if the story lacks a kind of data that a limit must hide.
func checkVariety(t *testing.T, db *storage.DB) {
	t.Helper()
	fields := map[annotator.Field]int{}
	late := 0
	for e, err := range db.Glossary.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		revisions, err := db.Glossary.Revisions(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		for i := range revisions {
			fields[revisions[i].Field]++
			if revisions[i].Seen > revisions[i].At.Order() {
				late++
			}
		}
	}
	for _, field := range []annotator.Field{
		annotator.FieldTerm, annotator.FieldAlias, annotator.FieldTag, annotator.FieldClaim, annotator.FieldStatus,
		annotator.FieldMerge,
		annotator.FieldRetired, annotator.FieldCuratorDecision,
	} {
		if fields[field] < 3 {
			t.Errorf("only %d revisions of %s", fields[field], field)
		}
	}
	if late == 0 {
		t.Error("no scene was read late")
	}
	story, err := view.At(db, view.Moment{}).Summaries(t.Context())
	if err != nil || len(story) < 3 {
		t.Errorf("%d summaries: %v", len(story), err)
	}
	if compactions, err := view.At(db, view.Moment{}).Compactions(t.Context()); err != nil || len(compactions) < 2 {
		t.Errorf("%d compactions: %v", len(compactions), err)
	}
}

// lookThrough searches texts under a limit for markers beyond it.
type lookThrough struct {
	*testing.T
	limit markedLimit
	texts int
}

func (l *lookThrough) look(what, text string) {
	l.Helper()
	l.texts++
	if found := beyondLimit(text, l.limit.text); found != "" {
		at := strings.Index(strings.ToLower(text), strings.ToLower(found))
		l.Errorf("%s under %s shows %s: …%s", what, l.limit.point, found, text[max(0, at-200):min(len(text), at+60)])
	}
}

// names are all names in the story and the codex, also those beyond the limit.
func (l *lookThrough) names() (names []string) {
	for n := 1; n <= markedScenes; n++ {
		names = append(names, figure(n), "Boran "+marker(n, 1))
	}
	return names
}

// commands runs the commands that take a limit. The names of every other scene are asked for in each format, and under
// other limits in the other one. Text that they repeat from their arguments does not count.
func (l *lookThrough) commands(a *app, path string) {
	run := func(asked string, arguments ...string) {
		app, out := newTestApp(nil)
		app.now, app.servers, app.err = a.now, a.servers, io.Discard
		status := app.run(l.Context(), append(arguments, "--db", path, "--as-of", l.limit.point))
		if status != exitDone && status != exitMisused {
			l.Errorf("%q ends with %d", arguments, status)
		}
		l.look(strings.Join(arguments, " "), strings.ReplaceAll(out.String(), asked, ""))
	}
	formats := [][]string{nil, {"--json"}}
	for i, format := range formats {
		with := func(arguments ...string) []string { return append(arguments, format...) }
		run("", with("search", "")...)
		run("", with("search", "quay says")...)
		run("", with("story")...)
		run("", with("timeline")...)
		run("", with("standing")...)
		run("", with("ask", "Who was cut the rope?")...)
		for thread := 1; thread <= markedScenes/markedThread; thread++ {
			run("", with("story", "--thread", strconv.Itoa(thread))...)
		}
		for n, name := range l.names() {
			if (n/2+l.limit.text)%len(formats) != i { // a scene has two names; limits have odd and even numbers
				continue
			}
			run(name, with("search", name)...)
			run(name, with("show", name)...)
			run(name, with("show", "--history", name)...)
			run(name, with("timeline", name)...)
			run(name, with("mentions", "--limit", "0", name)...)
		}
	}
}

// exports writes the codex in every format.
func (l *lookThrough) exports(a *app, path string) {
	for _, format := range exporters.All() {
		if format.Book {
			continue // it annotates the book as it is
		}
		app, out := newTestApp(nil)
		app.now, app.servers = a.now, a.servers
		l.look("export "+format.Name, exportOf(l.T, app, out, path, format.Name, "--as-of", l.limit.point))
	}
}

// agents calls every tool with every name, and reads every resource.
func (l *lookThrough) agents(a *app, path string) {
	session := agent(l.T, a, path, l.limit.point)
	tools, err := session.ListTools(l.Context(), nil)
	if err != nil {
		l.Fatal(err)
	}
	whole, _ := call(l.T, session, "timeline", map[string]any{})
	l.look("timeline", whole)
	for _, tool := range tools.Tools {
		for _, name := range l.names() {
			for _, argument := range []string{"entry", "query", "question", "thread", "scene", "snapshot"} {
				if !strings.Contains(annotator.EncodeJSON(tool.InputSchema), `"`+argument+`":`) {
					continue
				}
				if argument == "question" && name != figure(1) {
					continue // each writes to the database
				}
				text, _ := call(l.T, session, tool.Name, map[string]any{argument: name})
				l.look(tool.Name+" "+name, strings.ReplaceAll(text, name, ""))
			}
		}
	}
	for _, kind := range []string{"entry", "scene", "thread", "post", "snapshot", "story"} {
		for n := 1; n <= 10*markedScenes+5; n++ {
			read, err := session.ReadResource(l.Context(),
				&mcp.ReadResourceParams{URI: fmt.Sprintf("codex://%s/%d", kind, n)})
			if err == nil {
				l.look(fmt.Sprintf("resource %s/%d", kind, n), annotator.EncodeJSON(read.Contents))
			}
		}
	}
}

var pageLinks = regexp.MustCompile(`(?:href|action|src)="([^"]*)"`)

// pages follows all links from the first page, and reads addresses beyond the limit.
func (l *lookThrough) pages(a *app, db *storage.DB) {
	o := &serveOptions{app: a, settings: newSettings()}
	story := o.storyOf(l.Context(), db, db.Path())
	if story == nil {
		l.Fatal("no corpus")
	}
	defer func() { _ = story.Close() }()
	server, err := web.New(web.Options{
		Databases: []web.Database{{Name: "story", DB: db, Story: story}}, Now: time.Now,
		Log: func(err error) { l.Errorf("the server reports: %v", err) },
	})
	if err != nil {
		l.Fatal(err)
	}
	handler := server.Handler()
	limit := "as-of=" + url.QueryEscape(l.limit.point)
	queue, seen := []string{"/story/?" + limit}, map[string]bool{}
	for n := 1; n <= markedScenes*3; n++ {
		for _, page := range []string{
			"entry/%d", "entry/%d/history", "entry/%d/named", "entry/%d/mentions", "entry/%d/card",
			"revision/%d", "scene/%d", "chapter/%d",
			"turn/%d", "snapshot/%d", "row/%d", "audit?scene=%d", "calls?scene=%d",
		} {
			path := "/story/" + fmt.Sprintf(page, n)
			if strings.Contains(path, "?") {
				queue = append(queue, path+"&"+limit)
			} else {
				queue = append(queue, path+"?"+limit, path+"?format=json&"+limit)
			}
		}
		queue = append(queue, fmt.Sprintf("/story/post/%d?%s", 10*n, limit),
			"/story/entries?q="+url.QueryEscape(figure(n))+"&"+limit)
	}
	most := longtest.Pick(1500, 3_000) // the lists have a link for each order, kind and letter
	for pages := 0; len(queue) > 0 && pages < most; {
		path := queue[0]
		queue = queue[1:]
		if seen[path] || strings.Contains(path, "/live") {
			continue
		}
		seen[path] = true
		pages++
		r := httptest.NewRequestWithContext(l.Context(), http.MethodGet, path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		body := w.Body.String()
		if asked, err := url.Parse(path); err == nil {
			q := asked.Query().Get("q")
			// The page that asks how far one has read repeats the address that it leads back to.
			if back, err := url.Parse(asked.Query().Get("back")); err == nil {
				q = cmp.Or(q, back.Query().Get("q"))
			}
			if q != "" {
				escaped := url.QueryEscape(q)
				repeated := strings.NewReplacer(q, "", escaped, "", url.QueryEscape(escaped), "",
					url.QueryEscape(url.QueryEscape(escaped)), "")
				body = repeated.Replace(html.UnescapeString(body))
			}
		}
		l.look(path, body)
		if w.Code >= http.StatusInternalServerError {
			l.Errorf("%s: status %d", path, w.Code)
		}
		for _, found := range pageLinks.FindAllStringSubmatch(w.Body.String(), -1) {
			to, _, _ := strings.Cut(html.UnescapeString(found[1]), "#")
			if strings.HasPrefix(to, "/story/") && strings.Contains(to, limit) && !seen[to] {
				queue = append(queue, to)
			}
		}
	}
}

package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"annotator/exporters"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lanternsMade is a run of the sample with the offline model.
var lanternsMade madeRun

// lanternsRun returns the database of a run of the sample with the offline model.
func lanternsRun(t *testing.T) (a *app, out *bytes.Buffer, db string) {
	t.Helper()
	folder := lanternsMade.copy(t, func(folder string) {
		source := filepath.Join(folder, "lanterns.jsonl")
		text, err := os.ReadFile("../../testdata/lanterns/lanterns.jsonl")
		if err = errors.Join(err, os.WriteFile(source, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		a, out := newTestApp(nil)
		a.now, a.err = time.Now, io.Discard
		if status := a.run(t.Context(), []string{"run", source, "--quiet"}); status != exitDone {
			t.Fatalf("the run ends with %d: %s", status, out)
		}
	})
	a, out = newTestApp(nil)
	a.now, a.err = time.Now, io.Discard
	return a, out, filepath.Join(folder, "lanterns.annotator.db")
}

// TestExportsHaveNothingBeyondTheLimit: no format contains a name or a quotation that occurs only after the limit.
func TestExportsHaveNothingBeyondTheLimit(t *testing.T) {
	t.Parallel()
	a, out, path := lanternsRun(t)
	whole := exportOf(t, a, out, path, "json")
	var document exporters.Document
	if err := json.Unmarshal([]byte(whole), &document); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{5, 30, 60} {
		read := strings.ToLower(textUpTo(t, path, limit))
		later := laterTexts(&document, limit, read)
		if len(later) < 10 {
			t.Fatalf("only %d texts come after scene %d", len(later), limit)
		}
		for _, format := range exporters.All() {
			if format.Book {
				continue // it holds the whole book; TestBookWithNotes looks at its notes
			}
			text := strings.ToLower(exportOf(t, a, out, path, format.Name, "--as-of", fmt.Sprintf("scene:%d", limit)))
			// the script of the page, and an entry is a listener
			text = strings.ReplaceAll(text, "addeventlistener", "")
			if len(text) < 200 {
				t.Errorf("%s as of scene %d: %s", format.Name, limit, text)
			}
			for _, name := range later {
				if strings.Contains(text, name) {
					t.Errorf("%s as of scene %d tells of %q", format.Name, limit, name)
				}
			}
		}
	}
}

// TestNothingDependsOnWhatComesLater reads two stories that are one up to a limit. Under it,
// every export, answer and tool of agents says the same of both, numbers included. Two things differ: what identifies
// the story, and the share of the book that readers of KOReader have read.
func TestNothingDependsOnWhatComesLater(t *testing.T) {
	t.Parallel()
	const limit = 31 // in the middle of the third thread
	a, out, long := lanternsRun(t)
	short := otherEnding(t, a, long, limit)
	point := fmt.Sprintf("scene:%d", limit)
	same := func(what string, read func(path string) string) {
		t.Helper()
		first, second := ofOneStory(read(long)), ofOneStory(read(short))
		if diff := cmp.Diff(first, second); diff != "" || len(first) < 2 {
			t.Errorf("%s depends on what comes later, or is empty: %s", what, diff)
		}
	}
	for _, format := range exporters.All() {
		if !format.Book {
			same(format.Name, func(path string) string {
				return exportOf(t, a, out, path, format.Name, "--as-of", point)
			})
		}
	}
	for _, command := range [][]string{
		{"search", "--limit", "0", ""},
		{"search", "lantern"},
		{"show", "Ysolde Marrow"},
		{"show", "--history", "Button"},
		{"timeline"},
		{"timeline", "Button"},
		{"standing"},
		{"mentions", "Button"},
		{"questions"},
	} {
		for _, form := range [][]string{{}, {"--json"}} {
			arguments := slices.Concat(command, form, []string{"--as-of", point})
			same(strings.Join(arguments, " "), func(path string) string {
				out.Reset()
				if status := a.run(t.Context(), append(arguments, "--db", path)); status != exitDone {
					t.Fatalf("%q ends with %d", arguments, status)
				}
				return out.String()
			})
		}
	}
	sessions := map[string]*mcp.ClientSession{long: agent(t, a, long, point), short: agent(t, a, short, point)}
	for tool, arguments := range map[string]map[string]any{
		"search": {"query": "lantern"}, "show": {"entry": "Button"}, "timeline": {}, "evidence": {"entry": "Button"},
		"history": {"entry": "Button"}, "mentions": {"entry": "Button"},
	} {
		same(tool, func(path string) string {
			text, failed := call(t, sessions[path], tool, arguments)
			if failed {
				t.Fatal(text)
			}
			return text
		})
	}
}

// otherEnding runs a story that ends two scenes after a limit, which tell nothing. It returns its database.
func otherEnding(t *testing.T, a *app, path string, limit int) string {
	t.Helper()
	db, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	lastPost := func(n int) int64 {
		scene, err := db.Scenes.Get(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return scene.Posts[len(scene.Posts)-1]
	}
	text, err := os.ReadFile("../../testdata/lanterns/lanterns.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var story bytes.Buffer
	end, over := lastPost(limit+2), false
	for line := range bytes.Lines(text) {
		var post map[string]any
		if err := json.Unmarshal(line, &post); err != nil {
			t.Fatal(err)
		}
		if over {
			post["body"] = "The night goes on."
			line, _ = json.Marshal(post)
			line = append(line, '\n')
		}
		story.Write(line)
		id := int64(post["id"].(float64))
		over = over || id == lastPost(limit)
		if id == end {
			break
		}
	}
	source := filepath.Join(t.TempDir(), "lanterns.jsonl")
	if err := os.WriteFile(source, story.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if status := a.run(t.Context(), []string{"run", source, "--quiet"}); status != exitDone {
		t.Fatalf("the run of the other story ends with %d", status)
	}
	return strings.TrimSuffix(source, ".jsonl") + ".annotator.db"
}

// ofOneStory removes what differs between stories that are one up to the limit. That is hashes and ids made of them,
// times, and the share of the book that was read.
func ofOneStory(text string) string {
	return regexp.MustCompile(`[0-9a-f]{64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|20\d\d-\d\d-\d\d[T ][0-9:.]+Z?|`+
		`\b1[78]\d{8,11}\b|progress_(decimal|percent)"\] = [0-9.]+`).ReplaceAllString(text, "")
}

// laterTexts returns names and quotations of scenes after a limit, in lower case. It omits those that occur in the text
// up to the limit.
func laterTexts(document *exporters.Document, limit int, read string) (later []string) {
	add := func(text string) {
		if text = strings.TrimRight(strings.ToLower(text), ".!?"); len(text) >= 5 && !strings.Contains(text, "\n") &&
			!strings.Contains(read, text) {
			later = append(later, text)
		}
	}
	for _, e := range document.Entries {
		if e.First.Scene > limit {
			add(e.Term)
		}
		for _, alias := range e.Aliases {
			if alias.From.Scene > limit {
				add(alias.Name)
			}
		}
		for _, c := range e.Claims {
			if c.From.Scene > limit {
				for _, v := range c.Evidence {
					add(v.Quote)
				}
			}
		}
	}
	return later
}

func exportOf(t *testing.T, a *app, out *bytes.Buffer, db, format string, args ...string) string {
	t.Helper()
	out.Reset()
	if status := a.run(t.Context(), append([]string{"export", "--db", db, "--format", format},
		args...)); status != exitDone {
		t.Fatalf("export --format %s ends with %d", format, status)
	}
	archive, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		return out.String() // one file
	}
	var all strings.Builder
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(f.Name + "\n")
		if _, err := io.Copy(&all, r); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// textUpTo returns the story's text up to the end of a scene.
func textUpTo(t *testing.T, path string, scene int) string {
	t.Helper()
	db, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	view, err := viewAt(t.Context(), db, fmt.Sprintf("scene:%d", scene))
	if err != nil {
		t.Fatal(err)
	}
	posts, err := openCorpus(t.Context(), db, path, autoCorpus, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = posts.Close() }()
	var text strings.Builder
	story := &storyText{view: view, corpus: posts}
	threads, err := story.Threads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		text.WriteString(thread.Title + "\n")
		for p, err := range story.Posts(t.Context(), thread.ID) {
			if err != nil {
				t.Fatal(err)
			}
			text.WriteString(p.Body + "\n")
		}
	}
	return text.String()
}

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
	"strings"
	"testing"
	"time"

	"annotator/exporters"
	"annotator/storage"
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

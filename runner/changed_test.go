package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus"
	"annotator/corpus/ingest"
	"annotator/model/offline"
	"annotator/runner"
	"annotator/storage"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// book is a source that changes: its chapters with their paragraphs.
type book struct {
	stage    *stage
	source   string
	chapters [][]string
	last     int // a number that no paragraph has had yet
}

func newBook(t testing.TB, dir string) *book {
	b := &book{source: filepath.Join(dir, "book.txt")}
	b.stage = &stage{
		t: t, dir: dir, corpus: filepath.Join(dir, "book.corpus.db"), base: "http://offline/v1", config: defaults(),
		transport: offline.New(offline.Options{}),
	}
	b.stage.config.Endpoint = "http://offline/v1"
	return b
}

// paragraph returns a new paragraph about two people.
func (b *book) paragraph(t *rapid.T) string {
	b.last++
	people := []string{"Ysolde Marrow", "Mik Tarrant", "Barnaby Quill", "Agnes Vole"}
	first, second := rapid.SampledFrom(people).Draw(t, "who"), rapid.SampledFrom(people).Draw(t, "whom")
	return fmt.Sprintf("Captain %s was a sailor of Gallows Quay who owned %d boats. She met %s there, and %s was "+
		"glad of it. \"%s is the mother of %s,\" said the harbourmaster.", first, b.last, second, second, first, second)
}

func (b *book) chapter(t *rapid.T) []string {
	return []string{b.paragraph(t), b.paragraph(t)}
}

// change changes the book.
func (b *book) change(t *rapid.T) {
	at := rapid.IntRange(0, len(b.chapters)-1).Draw(t, "at")
	switch c := b.chapters[at]; rapid.IntRange(0, 5).Draw(t, "change") {
	case 0:
		b.chapters = append(b.chapters, b.chapter(t))
	case 1:
		b.chapters = slices.Insert(b.chapters, at, b.chapter(t))
	case 2:
		c[len(c)-1] = b.paragraph(t)
	case 3:
		b.chapters[at] = append(c, b.paragraph(t))
	case 4:
		c[0], c[len(c)-1] = c[len(c)-1], c[0]
	case 5:
		if len(b.chapters) > 3 {
			b.chapters = slices.Delete(b.chapters, at, at+1)
		}
	}
}

// write writes the book, and takes it into the corpus.
func (b *book) write() {
	b.stage.t.Helper()
	b.writeSource()
	if err := importBook(b.source, b.stage.corpus); err != nil {
		b.stage.t.Fatal(err)
	}
}

// writeSource writes the book.
func (b *book) writeSource() {
	b.stage.t.Helper()
	var text strings.Builder
	for i, c := range b.chapters {
		fmt.Fprintf(&text, "CHAPTER %d\n\n%s\n\n", i+1, strings.Join(c, "\n\n"))
	}
	if err := os.WriteFile(b.source, []byte(text.String()), 0o600); err != nil {
		b.stage.t.Fatal(err)
	}
}

func importBook(source, path string) error {
	_, err := ingest.Import(context.Background(),
		ingest.Options{Sources: []string{source}, Corpus: path, SceneTokens: 60}, nil)
	return err
}

// runUntil runs the book. It stops after some transitions; 0: at the end.
func (b *book) runUntil(transitions int) {
	b.stage.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var count bus
	done := 0
	count.Subscribe(func(n annotator.Notice) {
		if n.Kind == annotator.NoticeTransition {
			if done++; done == transitions {
				cancel()
			}
		}
	})
	r, end, err := prepare(b.stage.job("run"), &count, b.stage.transport)
	if err == nil {
		err = r.Run(ctx)
		end()
	}
	killed := transitions > 0 && errors.Is(err, context.Canceled)
	if err != nil && !killed && annotator.KindOf(err) != annotator.NoCalls {
		b.stage.t.Fatal(err)
	}
	b.stage.verify("run")
}

// TestChangedSources changes a book at random, with runs between that stop anywhere. Verify finds nothing wrong after
// each, which includes that the codex is the replay of its revisions and that each quotation stands in its post. At
// the end every post of the book is in one scene that was read, and every scene was read once.
func TestChangedSources(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := newBook(t, t.TempDir())
		for range rapid.IntRange(2, 5).Draw(rt, "chapters") {
			b.chapters = append(b.chapters, b.chapter(rt))
		}
		b.write()
		for range rapid.IntRange(1, 4).Draw(rt, "runs") {
			b.runUntil(rapid.IntRange(0, 60).Draw(rt, "transitions"))
			for range rapid.IntRange(0, 3).Draw(rt, "changes") {
				b.change(rt)
				b.write()
			}
		}
		b.runUntil(0)
		b.checkRead()
		if t.Failed() {
			rt.FailNow()
		}
	})
}

// checkRead checks that each post of the book is in one scene, and each scene was read once.
func (b *book) checkRead() {
	t := b.stage.t
	t.Helper()
	ctx := context.Background()
	source, err := corpus.Open(ctx, b.stage.corpus)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	var read []string
	for scene, err := range source.Scenes(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range scene.Posts {
			read = append(read, strings.Split(p.Body, "\n\n")...)
			if n := b.stage.count("run", fmt.Sprintf(`SELECT count(*) FROM scene JOIN json_each(posts) WHERE value = %d
				AND state = 'recorded'`, p.ID)); n != 1 {
				t.Errorf("post %d is in %d scenes that were read", p.ID, n)
			}
		}
	}
	if diff := cmp.Diff(slices.Concat(b.chapters...), read); diff != "" {
		t.Errorf("the corpus is not the book:\n%s", diff)
	}
	if n := b.stage.count("run", `SELECT count(*) FROM scene s WHERE state NOT IN ('recorded', 'withdrawn')
		OR (SELECT count(*) FROM trace WHERE scene = s.n AND seq = 0 AND turn > 0) <> (state = 'recorded')`); n > 0 {
		t.Errorf("%d scenes were not read once", n)
	}
}

// TestAppendedChaptersAreReadAsOne appends the chapters of a book, each when the one before is read. The codex is that
// of the book that is read at once. Nothing is asked at the ends of threads and runs.
func TestAppendedChaptersAreReadAsOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var chapters [][]string
		grown, whole := newBook(t, t.TempDir()), newBook(t, t.TempDir())
		for range rapid.IntRange(2, 5).Draw(rt, "chapters") {
			chapters = append(chapters, grown.chapter(rt))
		}
		for _, b := range []*book{grown, whole} {
			b.stage.config.Curator.Off, b.stage.config.NoThreadSummaries = true, true
		}
		for n := range chapters {
			grown.chapters = chapters[:n+1]
			grown.write()
			grown.runUntil(0)
		}
		whole.chapters = chapters
		whole.write()
		whole.runUntil(0)
		if diff := cmp.Diff(whole.entries(), grown.entries()); diff != "" {
			rt.Fatalf("the codex (-at once +chapter by chapter):\n%s", diff)
		}
	})
}

// entries returns the entries of the codex as JSON.
func (b *book) entries() (all []string) {
	t := b.stage.t
	t.Helper()
	db, err := storage.Open(context.Background(), b.stage.db("run"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for e, err := range view.At(db, view.Moment{}).All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		e.Revision = 0 // the curator confirms entries by rule at other times
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	if len(all) == 0 {
		t.Error("the codex is empty")
	}
	return all
}

var _ = runner.Defaults

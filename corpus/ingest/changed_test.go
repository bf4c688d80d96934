package ingest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus"
	"annotator/corpus/ingest"
	"annotator/internal/longtest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestMain has the properties try a quarter of their cases, unless the long tests are selected.
func TestMain(m *testing.M) {
	longtest.SampleCases()
	os.Exit(m.Run())
}

// A source that is written to while it is imported gives no corpus.
func TestChangedWhileImported(t *testing.T) {
	t.Parallel()
	text := "CHAPTER I\n\nShe lit the lantern.\n\nCHAPTER II\n\nShe walked on.\n"
	write := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	for name, change := range map[string]func(path string) error{
		"truncated":   func(path string) error { return os.Truncate(path, 40) },
		"emptied":     func(path string) error { return os.Truncate(path, 0) },
		"overwritten": write(strings.ReplaceAll(text, "lantern", "candles")),
		"lengthened":  write(text + "\nAnd on.\n"),
		"removed":     os.Remove,
		"new file":    func(path string) error { return write(text)(filepath.Join(filepath.Dir(path), "b.txt")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "removed" {
				longtest.Unix(t, "the removal of open files")
			}
			path := files(t, map[string]string{"a.txt": text})[0]
			o := ingest.Options{Sources: []string{path}, Corpus: filepath.Join(t.TempDir(), "made.corpus.db")}
			if name == "new file" {
				o.Sources[0] = filepath.Dir(path)
			}
			for _, when := range []string{"before it is read", "after it was read"} {
				if err := write(text)(path); err != nil {
					t.Fatal(err)
				}
				_ = os.Remove(filepath.Join(filepath.Dir(path), "b.txt"))
				changed := false
				_, err := ingest.Import(t.Context(), o, func(p ingest.Progress) {
					if !changed && (when == "before it is read" || p.Done > 0) {
						changed = true
						if err := change(path); err != nil {
							t.Error(err)
						}
					}
				})
				if annotator.KindOf(err) != annotator.Misused ||
					!strings.Contains(err.Error(), "changed while it was imported") {
					t.Errorf("changed %s: %v", when, err)
				}
				if _, err := os.Stat(o.Corpus); err == nil {
					t.Errorf("changed %s: there is a corpus", when)
				}
			}
		})
	}
}

// A corpus takes the changes of its source, and nothing of another story.
func TestChangedSinceImport(t *testing.T) {
	t.Parallel()
	const text = "CHAPTER I\n\nShe lit the lantern. Then she walked down to the quay.\n"
	path := files(t, map[string]string{"a.txt": text})[0]
	o := ingest.Options{Sources: []string{path}, Corpus: filepath.Join(t.TempDir(), "made.corpus.db")}
	mustImport(t, o).close(t)
	other := o
	other.SceneTokens = 7
	if _, err := tryImport(t, other); err == nil || !strings.Contains(err.Error(), "with other options") {
		t.Error(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("CHAPTER I\n\nShe lost the lantern. Then she walked down to the quay.\n\nCHAPTER II\n\nIt was dark.\n")
	made := mustImport(t, o)
	want := corpus.Changes{Added: 1, Changed: 1, NewPosts: 2, FormerPosts: 1}
	if made.report.Changes == nil || *made.report.Changes != want {
		t.Errorf("changes %+v", made.report.Changes)
	}
	made.close(t)
	write("CHAPTER I\n\nWhat follows has nothing to do with any of that.\n")
	if _, err := tryImport(t, o); annotator.KindOf(err) != annotator.Misused ||
		!strings.Contains(err.Error(), "holds another story than") {
		t.Error(err)
	}
	o.Replace = true
	mustImport(t, o)
}

// TestMergeKeepsEveryPost changes a book and a forum at random, several times. The story of the merged corpus is that
// of the source. Every post that was ever there is there with its text, and no post is twice in the story.
func TestMergeKeepsEveryPost(t *testing.T) {
	t.Parallel()
	for _, format := range []ingest.Format{ingest.Text, ingest.JSONL} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) { checkMerges(t, rt, format) })
		})
	}
}

// drawnChapter is a chapter of a drawn story, with the text of its posts.
type drawnChapter struct {
	number int
	posts  []int // of a forum: their numbers; of a book there is one
	texts  []string
}

func checkMerges(t *testing.T, rt *rapid.T, format ingest.Format) {
	folder := t.TempDir()
	o := ingest.Options{
		Sources: []string{filepath.Join(folder, "story.src")}, Corpus: filepath.Join(folder, "made.corpus.db"),
		Format: format,
	}
	text := func() string {
		return fmt.Sprintf("It was told in the %dth year that %d lanterns were lit on the quay.",
			rapid.IntRange(1, 30).Draw(rt, "year"), rapid.IntRange(1, 1000).Draw(rt, "lanterns"))
	}
	numbers := 0
	post := func(c *drawnChapter) {
		numbers++
		c.posts, c.texts = append(c.posts, numbers), append(c.texts, text())
	}
	chapter := func() drawnChapter {
		numbers++
		c := drawnChapter{number: numbers}
		for range rapid.IntRange(1, 3).Draw(rt, "posts") {
			post(&c)
		}
		return c
	}
	var story []drawnChapter
	for range 8 {
		story = append(story, chapter())
	}
	held := map[int64]string{} // all posts so far
	for range rapid.IntRange(1, 5).Draw(rt, "states") {
		if err := os.WriteFile(o.Sources[0], []byte(sourceOf(story, format)), 0o600); err != nil {
			t.Fatal(err)
		}
		made := mustImport(t, o)
		checkMerged(t, rt, made.db, story, held)
		made.close(t)
		for range rapid.IntRange(0, 3).Draw(rt, "changes") {
			at := rapid.IntRange(0, len(story)-1).Draw(rt, "at")
			switch c := &story[at]; rapid.IntRange(0, 4).Draw(rt, "change") {
			case 0:
				story = append(story, chapter())
			case 1:
				story = slices.Insert(story, at, chapter())
			case 2:
				c.texts[rapid.IntRange(0, len(c.texts)-1).Draw(rt, "post")] = text()
			case 3:
				post(c)
			case 4:
				if len(story) > 4 {
					story = slices.Delete(story, at, at+1)
				}
			}
		}
	}
}

func sourceOf(story []drawnChapter, format ingest.Format) string {
	var b strings.Builder
	for i, c := range story {
		if format == ingest.Text {
			fmt.Fprintf(&b, "\nCHAPTER %d\n\n%s\n\n", i+1, strings.Join(c.texts, "\n\n"))
			continue
		}
		for k, text := range c.texts {
			fmt.Fprintf(&b, `{"thread":%d,"id":%d,"time":%d,"name":"QM","body":%q,"tags":["qm_post"]}`+"\n", c.number,
				c.posts[k], 1000*i+k, text)
		}
	}
	return b.String()
}

// checkMerged compares a merged corpus with the story that its source tells, and adds its posts to those held.
func checkMerged(t *testing.T, rt *rapid.T, db *corpus.DB, story []drawnChapter, held map[int64]string) {
	var want, got []string
	for _, c := range story {
		want = append(want, c.texts...)
	}
	seen := map[int64]bool{}
	for s, err := range db.Scenes(t.Context(), 0) {
		if err != nil {
			rt.Fatal(err)
		}
		for _, p := range s.Posts {
			got = append(got, strings.Split(p.Body, "\n\n")...)
			if seen[p.ID] {
				rt.Errorf("post %d is in two scenes", p.ID)
			}
			seen[p.ID] = true
			if before, known := held[p.ID]; known && before != p.Body {
				rt.Errorf("post %d was %q, and is %q", p.ID, before, p.Body)
			}
			held[p.ID] = p.Body
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		rt.Errorf("the story (-source +corpus):\n%s", diff)
	}
	former, err := db.Former(t.Context())
	if err != nil {
		rt.Fatal(err)
	}
	for id, body := range held {
		p, err := db.Post(t.Context(), id)
		if err != nil || p.Body != body || p.Former == seen[id] || p.Former != slices.Contains(former, id) {
			rt.Errorf("post %d was %q, and is %+v, %v", id, body, p, err)
		}
	}
}

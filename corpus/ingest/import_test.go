package ingest_test

import (
	"context"
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

	"github.com/google/go-cmp/cmp"
)

// files writes files into a folder of their own and returns their paths in the order of the names.
func files(t testing.TB, content map[string]string) []string {
	t.Helper()
	folder := t.TempDir()
	var paths []string
	for name, text := range content {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// imported is what an import made.
type imported struct {
	report *ingest.Report
	db     *corpus.DB
}

func tryImport(t testing.TB, o ingest.Options) (*imported, error) {
	t.Helper()
	if o.Corpus == "" {
		o.Corpus = filepath.Join(t.TempDir(), "made.corpus.db")
	}
	report, err := ingest.Import(t.Context(), o, nil)
	if err != nil {
		return nil, err
	}
	db, err := corpus.Open(t.Context(), o.Corpus)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &imported{report, db}, nil
}

func mustImport(t testing.TB, o ingest.Options) *imported {
	t.Helper()
	made, err := tryImport(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// close closes the corpus before the test ends: Windows replaces no open file.
func (m *imported) close(t testing.TB) {
	t.Helper()
	if err := m.db.Close(); err != nil {
		t.Fatal(err)
	}
}

// importFile imports one file.
func importFile(t testing.TB, name, content string) *imported {
	t.Helper()
	return mustImport(t, ingest.Options{Sources: files(t, map[string]string{name: content})})
}

// scenes renders the story: a line "= title" for each thread, then the bodies of its scenes.
func (m *imported) scenes(t testing.TB) []string {
	t.Helper()
	var all []string
	for s, err := range m.db.Scenes(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Opens {
			all = append(all, "= "+s.Thread.Title)
		}
		for i := range s.Posts {
			all = append(all, s.Posts[i].Body)
		}
	}
	return all
}

// leftOut renders the omissions.
func (m *imported) leftOut() []string {
	var all []string
	for _, o := range m.report.LeftOut {
		all = append(all, o.String())
	}
	return all
}

func wantScenes(t testing.TB, m *imported, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, m.scenes(t)); diff != "" {
		t.Error(diff)
	}
}

func wantLeftOut(t testing.TB, m *imported, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, m.leftOut()); diff != "" {
		t.Error(diff)
	}
}

// parts renders what was left out of the text.
func (m *imported) parts() []string {
	var all []string
	for _, p := range m.report.Account.Parts {
		all = append(all, fmt.Sprintf("%s: %d words, %s", p.Name, p.Words, p.Begins))
	}
	return all
}

func wantParts(t testing.TB, m *imported, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, m.parts()); diff != "" {
		t.Error(diff)
	}
}

func wantRefused(t testing.TB, err error, kind annotator.Kind, says string) {
	t.Helper()
	if annotator.KindOf(err) != kind || !strings.Contains(fmt.Sprint(err), says) {
		t.Errorf("got %v, want one that is %q and says %q", err, kind, says)
	}
}

const twoChapters = "CHAPTER I\n\nIt begins.\n\nCHAPTER II\n\nIt ends.\n"

func TestSameSourceSameCorpus(t *testing.T) {
	t.Parallel()
	sources := files(t, map[string]string{"a.txt": twoChapters, "b.md": "# Three\n\nMore.\n"})
	first := mustImport(t, ingest.Options{Sources: sources})
	second := mustImport(t, ingest.Options{Sources: sources})
	for _, key := range []string{corpus.MetaOptions, corpus.MetaSources, corpus.MetaReport, corpus.MetaTitle} {
		a, errA := first.db.Meta(t.Context(), key)
		b, errB := second.db.Meta(t.Context(), key)
		if a != b || errA != nil || errB != nil {
			t.Errorf("%s: %q and %q (%v, %v)", key, a, b, errA, errB)
		}
	}
	if diff := cmp.Diff(dump(t, first.db), dump(t, second.db)); diff != "" {
		t.Error(diff)
	}
	for _, other := range []ingest.Options{{Sources: sources, SceneTokens: 7}, {Sources: sources[:1]}} {
		made := mustImport(t, other)
		same := true
		for _, key := range []string{corpus.MetaOptions, corpus.MetaSources} {
			a, _ := first.db.Meta(t.Context(), key)
			b, _ := made.db.Meta(t.Context(), key)
			same = same && a == b
		}
		if same {
			t.Errorf("%+v has the digest of another import", other)
		}
	}
}

func dump(t *testing.T, db *corpus.DB) []annotator.Scene {
	t.Helper()
	var all []annotator.Scene
	for s, err := range db.Scenes(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *s)
	}
	return all
}

func TestChapterIsAThreadNamedByItsFirstPost(t *testing.T) {
	t.Parallel()
	got := dump(t, importFile(t, "book.txt", twoChapters).db)
	tags := []string{"qm_post", "scene_start", "story_post"}
	want := []annotator.Scene{
		{
			N: 1, Thread: annotator.Thread{ID: 1, Title: "CHAPTER I", Order: 1}, Opens: true, Ends: true,
			Posts: []annotator.Post{{ID: 1, Thread: 1, Subject: "CHAPTER I", Body: "It begins.", Tags: tags}},
		},
		{
			N: 2, Thread: annotator.Thread{ID: 2, Title: "CHAPTER II", Order: 2}, Opens: true, Ends: true,
			Posts: []annotator.Post{{ID: 2, Thread: 2, Subject: "CHAPTER II", Body: "It ends.", Tags: tags}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestImportKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	sources := files(t, map[string]string{"a.txt": twoChapters, "b.txt": "Other text.\n"})
	target := filepath.Join(t.TempDir(), "a.corpus.db")
	mustImport(t, ingest.Options{Sources: sources[:1], Corpus: target}).close(t)
	again := mustImport(t, ingest.Options{Sources: sources[:1], Corpus: target})
	if !again.report.Existing {
		t.Errorf("the same import again: %+v", again.report)
	}
	again.close(t)
	_, err := tryImport(t, ingest.Options{Sources: sources[1:], Corpus: target})
	wantRefused(t, err, annotator.Misused, "holds another import")
	replaced := mustImport(t, ingest.Options{Sources: sources[1:], Corpus: target, Replace: true})
	wantScenes(t, replaced, "= b", "Other text.")
	_, err = tryImport(t, ingest.Options{Sources: sources[1:], Corpus: sources[0], Replace: true})
	wantRefused(t, err, annotator.Misused, "is no corpus")
	if text, err := os.ReadFile(sources[0]); string(text) != twoChapters || err != nil {
		t.Errorf("the source was overwritten: %q, %v", text, err)
	}
}

func TestCorpusNeedsNoImport(t *testing.T) {
	t.Parallel()
	made := filepath.Join(t.TempDir(), "made.corpus.db")
	mustImport(t, ingest.Options{Sources: files(t, map[string]string{"a.txt": twoChapters}), Corpus: made})
	target := filepath.Join(t.TempDir(), "copy.db")
	report, err := ingest.Import(t.Context(), ingest.Options{Sources: []string{made}, Corpus: target}, nil)
	if err != nil || report.Corpus != made || !report.Existing {
		t.Errorf("got %+v, %v", report, err)
	}
	if _, err := os.Stat(target); !errors.Is(err, os.ErrNotExist) {
		t.Error("it was copied")
	}
	plain := files(t, map[string]string{"a.txt": twoChapters})[0]
	if !ingest.IsDatabase(made) || ingest.IsDatabase(plain) || ingest.IsDatabase(filepath.Dir(plain)) {
		t.Error("IsDatabase is wrong")
	}
}

// Whatever goes wrong, nothing is left behind; nor is what an import left that was killed.
func TestFailureLeavesNoFile(t *testing.T) {
	t.Parallel()
	sources := files(t, map[string]string{"a.txt": twoChapters, "empty.txt": " \n\n", "broken.jsonl": "{\n"})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	folder := t.TempDir()
	for _, name := range []string{".c.db.12345.draft", ".c.db.12345.draft-journal", ".c.db.12345.draft.lock"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("SQLite format 3"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		ctx    context.Context
		source string
	}{{cancelled, sources[0]}, {t.Context(), sources[1]}, {t.Context(), sources[2]}} {
		_, err := ingest.Import(c.ctx, ingest.Options{
			Sources: []string{c.source},
			Corpus:  filepath.Join(folder, "c.db"),
		}, nil)
		if err == nil {
			t.Errorf("%s was imported", c.source)
		}
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestKilledImportLeavesNoLock: an import that was killed after the corpus got its name leaves a lock. The next one
// removes it, though the corpus is there.
func TestKilledImportLeavesNoLock(t *testing.T) {
	t.Parallel()
	o := ingest.Options{
		Sources: files(t, map[string]string{"a.txt": twoChapters}), Corpus: filepath.Join(t.TempDir(), "c.db"),
	}
	mustImport(t, o).close(t)
	lock := filepath.Join(filepath.Dir(o.Corpus), ".c.db.12345.draft.lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	made := mustImport(t, o)
	made.close(t)
	if _, err := os.Stat(lock); !made.report.Existing || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock is there: %v", err)
	}
}

func TestRefusedFieldsAreLeftOut(t *testing.T) {
	t.Parallel()
	paths := files(t, map[string]string{
		"a.txt": twoChapters, "b.jsonl": `{"body":"x"}`, "c.pdf": "%PDF-1.7", "d.zip": "PK\x03\x04rubbish",
		"e.mobi": strings.Repeat("Book", 15) + "BOOKMOBI\xff", "f.EPUB": "<html>Not Found</html>",
		"g.yaml": "format: \"annotator-glossary\"\n",
	})
	for _, c := range []struct {
		options ingest.Options
		kind    annotator.Kind
		says    string
	}{
		{ingest.Options{}, annotator.Misused, "nothing to import"},
		{ingest.Options{Sources: []string{"/no/such"}}, annotator.NotFound, "/no/such"},
		{ingest.Options{Sources: paths[:1], Format: "wri"}, annotator.Misused, `no format "wri"`},
		{ingest.Options{Sources: paths[:1], Encoding: "klingon"}, annotator.Misused, `no encoding "klingon"`},
		{ingest.Options{Sources: paths[:1], SceneTokens: -1}, annotator.Misused, "-1 tokens"},
		{ingest.Options{Sources: paths[:2]}, annotator.Misused, "books and forums"},
		{ingest.Options{Sources: paths[2:3]}, annotator.Misused, "no PDF document"},
		{ingest.Options{Sources: paths[3:4]}, annotator.Misused, "damaged zip archive"},
		{ingest.Options{Sources: paths[4:5]}, annotator.Misused, "no Kindle book"},
		{ingest.Options{Sources: paths[5:6]}, annotator.Misused, "something else than an EPUB"},
		{ingest.Options{Sources: paths[6:]}, annotator.Misused, "an export of annotator's"},
		{ingest.Options{Sources: []string{t.TempDir()}}, annotator.Misused, "no files"},
	} {
		_, err := tryImport(t, c.options)
		wantRefused(t, err, c.kind, c.says)
	}
}

func TestFolderIsReadInTheOrderOfItsNumbers(t *testing.T) {
	t.Parallel()
	folder := filepath.Dir(files(t, map[string]string{
		"ch10.txt": "Ten.\n", "ch2.txt": "Two.\n",
		".hidden": "No.\n",
	})[0])
	var said []ingest.Progress
	report, err := ingest.Import(t.Context(),
		ingest.Options{Sources: []string{folder}, Corpus: filepath.Join(t.TempDir(), "c.db")},
		func(p ingest.Progress) { said = append(said, p) })
	if err != nil || report.Threads != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	if last := said[len(said)-1]; last.Done != last.Total || last.Total != 10 ||
		filepath.Base(last.Source) != "ch10.txt" {
		t.Errorf("last progress: %+v", last)
	}
}

func TestReportInWords(t *testing.T) {
	t.Parallel()
	r := &ingest.Report{
		Title: "A Book", Author: "Somebody", Corpus: "book.corpus.db", Notes: []string{"a note"},
		LeftOut: []ingest.Omission{
			{Why: "bad lines", Count: 7, Examples: []string{"1", "2", "3", "4", "5"}},
			{Why: "dust", Count: 9, Examples: []string{"a corner"}},
			{Why: "air", Count: 1},
		},
		Stats: corpus.Stats{Threads: 1, Scenes: 2, Posts: 3, StoryPosts: 2, Words: 40},
	}
	want := "A Book, by Somebody\nbook.corpus.db: 1 thread, 2 scenes, 3 posts (2 of the story), 40 words\na note\n" +
		"left out: bad lines (7): 1, 2, 3, 4, 5, ...\nleft out: dust (9): a corner\nleft out: air (1)\n"
	if diff := cmp.Diff(want, r.String()); diff != "" {
		t.Error(diff)
	}
}

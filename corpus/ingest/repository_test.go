package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator/corpus/ingest"
)

// writeTree writes files below a folder of their own.
func writeTree(t *testing.T, tree map[string]string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "tale")
	for name, text := range tree {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// telling is a text of a chapter; texts of other numbers share hardly a phrase.
func telling(n int) string {
	r := rand.New(rand.NewPCG(uint64(n), 0))
	noun := func() string { return string([]byte{byte('b' + r.IntN(20)), 'a', byte('b' + r.IntN(20)), 'e', 'r'}) }
	var b strings.Builder
	for range 40 {
		fmt.Fprintf(&b, "The %s stood by the %s when the %s came to the %s.\n\n", noun(), noun(), noun(), noun())
	}
	return fmt.Sprintf("# Chapter %d\n\n%s", n, b.String())
}

// TestRepositoryOfANovel takes the numbered chapters, and says what else is left out and why.
func TestRepositoryOfANovel(t *testing.T) {
	t.Parallel()
	tree := map[string]string{
		"README.md":                   "# A Tale\n\nA novel.\n",
		"CLAUDE.md":                   strings.Repeat("- Write chapters in the past tense.\n", 200),
		"chapters/prologue.md":        "# Prologue\n\nLong before, it rained on the quay.\n",
		"chapters/interlude.md":       "# Interlude\n\nThe gulls slept on the wall, and nobody came.\n",
		"chapters/places.md":          strings.Repeat("- Harbour: a place\n- Mill: another\n", 50),
		"chapters/chapter-2-old.md":   telling(2) + "It was an older one.\n",
		"plot/cast.md":                strings.Repeat("- Ysolde: captain\n", 30),
		"notes/scenes.md":             strings.Repeat("| 1 | harbour |\n", 100),
		"build/tale.md":               telling(1) + telling(2) + telling(3) + telling(4),
		"build/tale.epub":             "PK\x03\x04 no archive",
		"reviews/review-1.md":         "It is a good chapter, with too many bells.\n",
		"archive/drafts/chapter-3.md": telling(3),
	}
	for n := 1; n <= 4; n++ {
		tree[fmt.Sprintf("chapters/chapter-%d.md", n)] = telling(n)
		tree[fmt.Sprintf("outline/%d-plan.md", n)] = strings.Repeat("1. She goes to the mill\n2. She returns\n", 200)
		tree[fmt.Sprintf("chapters-fr/chapter-%d.md", n)] = fmt.Sprintf("# Chapitre %d\n\n", n) +
			strings.Repeat("Elle était venue du port avec une lampe et il ne disait rien.\n\n", 30)
	}
	made := mustImport(t, ingest.Options{Sources: []string{writeTree(t, tree)}})
	if made.report.Threads != 6 {
		t.Errorf("%d threads, not prologue, interlude and four chapters:\n%s", made.report.Threads, made.report)
	}
	for _, want := range []string{
		"the story is taken from the numbered files of chapters, the most text of one series; " +
			"to read others, name their folder or the files",
		"left out: other versions of the chapters (3): archive/drafts/chapter-3.md, build/tale.md, " +
			"chapters/chapter-2-old.md",
		"left out: texts in another language than the chapters (4): chapters-fr/*.md (4 files)",
		"chapters/places.md", "outline/*.md (4 files)", "plot/cast.md", "reviews/review-1.md", "notes/scenes.md",
		"CLAUDE.md (instructions for a program)",
	} {
		if !strings.Contains(made.report.String(), want) {
			t.Errorf("no %q in\n%s", want, made.report)
		}
	}
}

// TestPartsOfANovel: folders that are parts of one story are all read, though each counts from 1.
func TestPartsOfANovel(t *testing.T) {
	t.Parallel()
	tree := map[string]string{}
	for n := 1; n <= 3; n++ {
		tree[fmt.Sprintf("Part One/chapter-%d.md", n)] = telling(n)
		tree[fmt.Sprintf("Part Two/chapter-%d.md", n)] = telling(n + 4)
	}
	made := mustImport(t, ingest.Options{Sources: []string{writeTree(t, tree)}})
	if made.report.Threads != 6 || len(made.report.LeftOut) > 0 {
		t.Errorf("%s", made.report)
	}
}

// TestBuiltBookBesideItsText is left out also where no file is numbered; another book is not.
func TestBuiltBookBesideItsText(t *testing.T) {
	t.Parallel()
	book := func(text string) string {
		return makeZip(t, entry{"mimetype", "application/epub+zip"}, entry{"a.xhtml", "<p>" + text + "</p>"})
	}
	made := mustImport(t, ingest.Options{Sources: []string{
		writeTree(t, map[string]string{"tale.md": telling(1), "tale.epub": book(telling(1))}),
	}})
	wantLeftOut(t, made, "left out: books beside the texts that they were made of (1): tale.epub")
	if _, err := tryImport(t, ingest.Options{Sources: []string{
		writeTree(t, map[string]string{"tale.md": telling(1), "other.epub": book(telling(6))}),
	}}); err == nil {
		t.Error("an EPUB of other text was left out: it is none that can be read, and must be an error")
	}
}

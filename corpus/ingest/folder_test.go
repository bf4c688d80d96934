//go:build !windows

package ingest_test

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"annotator"
	"annotator/corpus/ingest"

	"github.com/google/go-cmp/cmp"
)

// otherFiles lists files that may be in the folder of a story, and the kind as which each is left out.
var otherFiles = map[string]struct{ content, kind string }{
	"a.css":     {"p { margin: 0 }", "neither text nor book by its name"},
	"b.db":      {"SQLite format 3\x00rubbish", "a database"},
	"c.docx":    {"PK\x03\x04word/document.xml", "an archive"},
	"d.zip":     {"PK\x03\x04rubbish", "an archive"},
	"cover.jpg": {"\xff\xd8\xff\xe0", "an image"},
	"e.json":    {"{\n  \"format\": \"annotator-glossary\",\n  \"version\": 1\n}\n", "an export of annotator's"},
	"e.yaml":    {"format: \"annotator-glossary\"\nversion: 1\n", "an export of annotator's"},
	"f.jsonl":   {`{"time":"2026-01-01T00:00:00Z","kind":"scene","scene":1}`, "no posts"},
	"g.jsonl":   {`{"id":1,"ts":1,"turn_id":1,"seq":0,"trace_type":"user","content":"The story."}`, "no posts"},
	"h.json":    {`{"name":"a package"}`, "no posts"},
	"h.epub":    {"<html><body>404 Not Found</body></html>", "something else than an EPUB"},
	"i":         {"text\x00and\x01noise", "no text"},
	"j.pdf":     {"%PDF-1.7", "a PDF document"},
	"k.lock":    {"", "neither text nor book by its name"},
}

// TestFolderTakesTheStoryOnly: of a folder with many kinds of files, only the story is read. Each is left out, and
// named with the reason.
func TestFolderTakesTheStoryOnly(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "A Story v1.2")
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("2.md", "# Two\n\nIt goes on.\n")
	write("10", "It ends.\n")
	write("part/1.txt", "It is told again.\n")
	write(".git/config", "no story\n")
	if err := os.Symlink("10", filepath.Join(folder, "11.txt")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nowhere", "part"} {
		if err := os.Symlink(name, filepath.Join(folder, "link to "+name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	made := mustImport(t, ingest.Options{Sources: []string{folder}})
	wantScenes(t, made, "= Two", "It goes on.", "= 10", "It ends.", "= 11", "It ends.", "= 1", "It is told again.")
	if diff := cmp.Diff([]string{"4 files of the folder A Story v1.2: 2.md, 10, 11.txt, part/1.txt"},
		made.report.Notes); diff != "" {
		t.Error(diff)
	}
	if made.report.Title != "A Story v1.2" {
		t.Errorf("the story is called %q", made.report.Title)
	}
	wantLeftOut(t, made, "left out: hidden files (1): .git",
		"left out: files that tell no story (3): link to nowhere (no file), link to part (no file), pipe.txt (no file)")

	for name, file := range otherFiles {
		write(name, file.content)
		made := mustImport(t, ingest.Options{Sources: []string{folder}})
		wantLeftOut(t, made, "left out: hidden files (1): .git",
			"left out: files that tell no story (4): "+name+" ("+file.kind+
				"), link to nowhere (no file), link to part (no file), pipe.txt (no file)")
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFolderOfANamedFormat takes all files that can be of it, whatever they are called.
func TestFolderOfANamedFormat(t *testing.T) {
	t.Parallel()
	folder := filepath.Dir(files(t, map[string]string{
		"a.rst": "It begins.\n", "b.css": "It ends.\n",
		"c.png": "\x89PNG",
	})[0])
	made := mustImport(t, ingest.Options{Sources: []string{folder}, Format: ingest.Text})
	wantScenes(t, made, "= a", "It begins.", "= b", "It ends.")
	wantLeftOut(t, made, "left out: files that tell no story (1): c.png (an image)")
}

// TestFolderOfForumAndBook does not guess which of them the story is.
func TestFolderOfForumAndBook(t *testing.T) {
	t.Parallel()
	folder := filepath.Dir(files(t, map[string]string{
		"a.txt":   twoChapters,
		"b.jsonl": `{"body":"x","tags":["qm_post"]}`, "c.json": `{"posts":[]}`,
	})[0])
	_, err := tryImport(t, ingest.Options{Sources: []string{folder}})
	wantRefused(t, err, annotator.Misused, "books and forums")
}

// TestSourceThatCannotBeReadTwiceIsRefused has a source be nothing that can be read twice.
func TestSourceThatCannotBeReadTwiceIsRefused(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, os.DevNull} {
		_, err := tryImport(t, ingest.Options{Sources: []string{path}})
		wantRefused(t, err, annotator.Misused, "is a pipe or a device")
	}
	_, err := tryImport(t, ingest.Options{Sources: []string{filepath.Dir(pipe)}})
	wantRefused(t, err, annotator.Misused, "has no files to import")
}

// TestFileThatCannotBeReadStops does not import a folder without one of its chapters.
func TestFileThatCannotBeReadStops(t *testing.T) {
	t.Parallel()
	for damage, want := range map[string]string{
		"\x00\x01":     "it is no text",
		"\xff\x81\xfe": "neither UTF-8 nor UTF-16",
	} {
		_, err := tryImport(t, ingest.Options{Sources: []string{filepath.Dir(files(t, map[string]string{
			"1.txt": twoChapters, "2.txt": "It ends, " + damage + " they said.\n",
		})[0])}})
		wantRefused(t, err, annotator.Misused, "2.txt")
		wantRefused(t, err, annotator.Misused, want)
	}
}

// TestListedFileThatCannotBeReadStops does not import a book without its end.
func TestListedFileThatCannotBeReadStops(t *testing.T) {
	t.Parallel()
	write := func(more map[string]string) ingest.Options {
		all := map[string]string{
			"SUMMARY.md": "- [One](one.md)\n- [Two](two.md)\n- [Epilogue](epilogue.md)\n",
			"one.md":     "# One\n\nIt begins.\n", "two.md": "# Two\n\nIt goes on.\n",
		}
		for name, text := range more {
			all[name] = text
		}
		return ingest.Options{Sources: []string{filepath.Dir(files(t, all)[0])}}
	}
	_, err := tryImport(t, write(map[string]string{"epilogue.md": "# Epilogue\n\nIt \x00\x01\x02 ends.\n"}))
	wantRefused(t, err, annotator.Misused, "epilogue.md is one of the story's files and cannot be read: it is no text")

	made := mustImport(t, write(map[string]string{"99-end.md": "# Epilogue\n\nIt ends.\n"}))
	wantScenes(t, made, "= One", "It begins.", "= Two", "It goes on.", "= Epilogue", "It ends.")
	if !slices.Contains(made.report.Notes,
		"epilogue.md, which the list of chapters names, is not there: 99-end.md is read in its place") {
		t.Error(made.report.Notes)
	}
	made = mustImport(t, write(nil))
	wantLeftOut(t, made, "left out: files that tell no story (1): SUMMARY.md (a list of contents)",
		"left out: files that the folder's list of chapters names and that are not there (1): epilogue.md")
}

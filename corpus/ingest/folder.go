package ingest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"annotator"
)

// What a folder holds that is not read, as the report says it.
const (
	noStory = "files that tell no story"
	hidden  = "hidden files"
)

// textEndings are those of files that are read as text in a folder. Others may hold text as well, a program or a style sheet; one that is
// named by itself is read whatever its name ends in.
var textEndings = [...]string{"", ".txt", ".text", ".md", ".markdown"}

// folder lists the files of a folder and of those in it that tell a story, by name, numbers in names taken as numbers. Links to files are
// followed. A format that is named is that of all files but those that can be in none.
func folder(path string, o Options, report *Report) ([]source, error) {
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, annotator.Errorf(annotator.Storage, "read the folder %s: %w", path, err)
	}
	var found []source
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || file == root {
			return err
		}
		name, _ := filepath.Rel(root, file)
		if strings.HasPrefix(entry.Name(), ".") {
			report.leaveOut(hidden, name)
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			return nil
		}
		s, kind, err := inFolder(file, o)
		switch {
		case err != nil:
			return err
		case kind != "":
			report.leaveOut(noStory, fmt.Sprintf("%s (%s)", name, kind))
		default:
			found = append(found, s)
		}
		return nil
	})
	switch {
	case annotator.KindOf(err) != "":
		return nil, err
	case err != nil:
		return nil, annotator.Errorf(annotator.Storage, "read the folder %s: %w", path, err)
	case len(found) == 0:
		return nil, annotator.Errorf(annotator.Misused, "the folder %s has no files to import", path).WithAdvice("%s", report.advice())
	}
	slices.SortFunc(found, func(a, b source) int { return byNumber(a.path, b.path) })
	report.note("%s of the folder %s: %s", plural(len(found), "file"), titleOf(path), taken(root, found))
	return found, nil
}

// inFolder looks at a file that nobody has named, and says what it is if it tells no story.
func inFolder(path string, o Options) (s source, kind string, err error) {
	info, _ := os.Stat(path)
	if info == nil || !info.Mode().IsRegular() { // a link to nothing or to a folder, a pipe
		return s, "no file", nil
	}
	head, err := readHead(path)
	if err != nil {
		return s, "", err
	}
	s = source{path: path, size: info.Size(), format: detect(path, head, o.Encoding)}
	kind = evidently(s, head, o)
	if o.Format != Auto {
		s.format = o.Format
	}
	return s, kind, nil
}

// evidently says what a file is by its head and name, where that is no story.
func evidently(s source, head []byte, o Options) string {
	ending, text := strings.ToLower(filepath.Ext(s.path)), decodeHead(head, o.Encoding)
	switch kind := foreign(s.path, head); {
	case kind != "":
		return kind
	case s.format == SQLite:
		return "a database"
	case s.format == EPUB && ending != ".epub" && !bytes.Contains(head, []byte("application/epub+zip")):
		return "an archive"
	case s.format != EPUB && bytes.IndexByte(head, 0) >= 0 && encodingOf(head, o.Encoding, false) == nil:
		return "no text"
	case o.Format != Auto:
		return ""
	case s.format == Board && !strings.Contains(text, `"posts"`), s.format == JSONL && !hasPost(text):
		return "no posts"
	case s.format == Text && !slices.Contains(textEndings[:], ending):
		return "neither text nor book by its name"
	}
	return ""
}

// hasPost reports whether a file of JSON lines begins with posts. What the program itself writes about a run is none, though it has text.
func hasPost(text string) bool {
	body := func(key string) bool { return strings.Contains(text, key) }
	return slices.ContainsFunc([]string{`"body"`, `"text"`, `"content"`}, body) && !strings.Contains(text, `"trace_type"`)
}

// taken names the files of a folder that are read: all, or, where they are many, the first and the last.
func taken(root string, found []source) string {
	names := make([]string, len(found))
	for i, s := range found {
		names[i], _ = filepath.Rel(root, s.path)
	}
	if len(names) > maxExamples {
		return names[0] + " to " + names[len(names)-1]
	}
	return strings.Join(names, ", ")
}

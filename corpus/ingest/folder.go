package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"annotator"
)

// What a folder holds that is not read, as the report says it.
const (
	noStory = "files that tell no story"
	hidden  = "hidden files"
	noText  = "no text" // what a file is that has zeros in it
)

// textEndings are those of files that are read as text in a folder. Others may hold text as well, a program or a style
// sheet; one that is named by itself is read whatever its name ends in.
var textEndings = [...]string{"", ".txt", ".text", ".md", ".markdown"}

// isNamedStory reports whether a file is a text or a page by the end of its name, and so belongs to a story.
func (s source) isNamedStory() bool {
	ending := strings.ToLower(filepath.Ext(s.path))
	return s.format != Text || ending != "" && slices.Contains(textEndings[:], ending)
}

// folder lists the story files of a folder and its folders, by name. Numbers in names are compared as numbers. Links to
// files are followed. A format that is named is that of all files but those that can be in none.
func folder(path string, o Options, report *Report) ([]source, error) {
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, annotator.Errorf(annotator.Storage, "read the folder %s: %w", path, err)
	}
	var found []source
	list := listedFiles(root)
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
		case kind == noText && s.isNamedStory(), kind != "" && words().FilesBeside[kind] == nil &&
			slices.Contains(list, file):
			s.damage = kind
		case kind != "":
			report.leaveOut(noStory, fmt.Sprintf("%s (%s)", name, kind))
			return nil
		}
		found = append(found, s)
		return nil
	})
	switch {
	case annotator.KindOf(err) != "":
		return nil, err
	case err != nil:
		return nil, annotator.Errorf(annotator.Storage, "read the folder %s: %w", path, err)
	case len(found) == 0:
		return nil, report.nothingFound("the folder %s has no files to import", path)
	}
	if len(list) == 0 && o.Format == Auto {
		found = storyFiles(root, found, report)
	}
	found = inOrder(root, found, list, report)
	for _, s := range found {
		if s.damage != "" {
			return nil, s.unreadable("put a whole copy of the file in its place, or move it out of the folder")
		}
	}
	report.note("%s of the folder %s: %s", annotator.Quantity(len(found), "file"), titleOf(path), taken(root, found))
	return found, nil
}

// Stories returns the files in a folder, not those in folders below it, that are stories by themselves, by name. With a
// format other than Auto, each that can be in it is one.
func Stories(path string, format Format) (files []string, err error) {
	entries, err := os.ReadDir(path)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") || entry.IsDir() {
			continue
		}
		file := filepath.Join(path, entry.Name())
		if _, kind, err := inFolder(file, Options{Format: format}); err != nil {
			return nil, err
		} else if kind == "" {
			files = append(files, file)
		}
	}
	return files, err
}

// inFolder examines a file of a folder, and names its kind if it is no story.
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
	if s.format == EPUB {
		s.format = cmp.Or(packedFormat(s), EPUB)
	}
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
	case kind.name != "":
		return kind.name
	case s.format == SQLite:
		return "a database"
	case s.format == PDF: // mostly made of the other files
		return "a PDF document"
	case s.format == EPUB && ending != ".epub" && !bytes.Contains(head, []byte("application/epub+zip")):
		return "an archive"
	case s.isText() && bytes.IndexByte(head, 0) >= 0 && encodingOf(head, o.Encoding, false) == nil:
		return noText
	case o.Format != Auto:
		return ""
	case s.format == Board && !strings.Contains(text, `"posts"`), s.format == JSONL && !hasPost(text):
		return "no posts"
	case s.format == Text && !slices.Contains(textEndings[:], ending):
		return "neither text nor book by its name"
	case s.format == Text:
		return cmp.Or(markupOf(text).name, besideStory(s.path, text))
	}
	return ""
}

// mostlyProse is the share of prose above which a text may be a story whatever its name is.
const mostlyProse = 0.6

// besideStory returns the kind of a text that is in the same folder as a story. A short text is known by its name,
// others also by their wording or by their lists.
func besideStory(path, text string) string {
	what := ""
	for kind, names := range words().FilesBeside {
		if slices.Contains(names, strings.ToLower(stem(path))) {
			what = kind
		}
	}
	if what == "" || len(text) < headSize/2 && annotator.CountWords(text) <= maxNamedMatter {
		return what
	}
	found := 0
	for _, pattern := range words().Signals["beside"] {
		if pattern.MatchString(text) {
			found++
		}
	}
	if found < 2 && proseShare(text) > mostlyProse {
		return ""
	}
	return what
}

// inOrder sorts the files of a folder: by a list in the folder, else by the weights in front matter,
// else by name. By name, a prologue is first and an epilogue last. What a list does not name is left out.
func inOrder(root string, found []source, list []string, report *Report) []source {
	slices.SortFunc(found, compareFiles)
	place := map[string]int{}
	for i, name := range renamed(root, list, found, report) {
		place[name] = i + 1
	}
	if slices.ContainsFunc(found, func(s source) bool { return place[s.path] > 0 }) {
		slices.SortStableFunc(found, func(a, b source) int { return cmp.Compare(place[a.path], place[b.path]) })
		for place[found[0].path] == 0 {
			name, _ := filepath.Rel(root, found[0].path)
			report.leaveOut("files that the folder's list of chapters does not name", name)
			found = found[1:]
		}
		return found
	}
	weights := map[string]int{}
	for _, s := range found {
		if weight, ok := weightOf(s.path); ok {
			weights[s.path] = weight
		}
	}
	if len(weights)*2 > len(found) {
		slices.SortStableFunc(found, func(a, b source) int {
			return cmp.Or(cmp.Compare(filepath.Dir(a.path), filepath.Dir(b.path)),
				cmp.Compare(weights[a.path], weights[b.path]))
		})
	}
	return found
}

// renamed replaces the files of a list that are not there, by the files of their folders that it does not name, in
// order. It does so only if they are as many.
func renamed(root string, list []string, found []source, report *Report) []string {
	missing, others := []int{}, []string{}
	for i, file := range list {
		if _, err := os.Stat(file); err != nil {
			missing = append(missing, i)
		}
	}
	for _, s := range found {
		if !slices.Contains(list, s.path) && slices.ContainsFunc(missing, func(i int) bool {
			return filepath.Dir(list[i]) == filepath.Dir(s.path)
		}) {
			others = append(others, s.path)
		}
	}
	list = slices.Clone(list)
	for k, i := range missing {
		name, _ := filepath.Rel(root, list[i])
		if len(missing) != len(others) {
			report.leaveOut("files that the folder's list of chapters names and that are not there", name)
			continue
		}
		list[i] = others[k]
		other, _ := filepath.Rel(root, others[k])
		report.note("%s, which the list of chapters names, is not there: %s is read in its place", name, other)
	}
	return list
}

// compareFiles compares the places of two files in a story: by folder, by what their names say, by the numbers in them.
func compareFiles(a, b source) int {
	if c := byNumber(filepath.Dir(a.path), filepath.Dir(b.path)); c != 0 ||
		filepath.Dir(a.path) != filepath.Dir(b.path) {
		return byNumber(a.path, b.path)
	}
	return cmp.Or(cmp.Compare(placeOf(a.path), placeOf(b.path)), byNumber(a.path, b.path))
}

// placeOf is -1 for files that precede the others by their names, 1 for those that follow.
func placeOf(path string) int {
	name := strings.ToLower(stem(path))
	switch v := words(); {
	case slices.Contains(v.FilesFirst, name):
		return -1
	case slices.Contains(v.FilesLast, name):
		return 1
	}
	return 0
}

var summaryLink = regexp.MustCompile(`(?m)^\s*(?:[-*+]\s+|\d+\.\s+)?\[[^\]\n]*\]\(<?([^)>\s]+?)>?\)`)

// listedFiles reads the list of chapters that a folder has: SUMMARY.md as mdBook and GitBook write it, Book.txt as
// Leanpub does.
func listedFiles(root string) []string {
	for _, name := range []string{"SUMMARY.md", "src/SUMMARY.md", "Book.txt", "manuscript/Book.txt"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		head, err := readHead(path)
		if err != nil {
			continue
		}
		var paths []string
		there := 0
		for _, file := range namesIn(name, string(head)) {
			full := filepath.Join(filepath.Dir(path), filepath.FromSlash(file))
			if file != "" && !strings.Contains(file, ":") && !slices.Contains(paths, full) {
				paths = append(paths, full)
				if _, err := os.Stat(full); err == nil {
					there++
				}
			}
		}
		if there > 1 {
			return paths
		}
	}
	return nil
}

// namesIn are the files that a list of chapters names.
func namesIn(name, list string) []string {
	var names []string
	if !strings.HasSuffix(name, ".md") {
		for line := range strings.Lines(list) {
			names = append(names, strings.TrimSpace(line))
		}
		return names
	}
	for _, match := range summaryLink.FindAllStringSubmatch(list, -1) {
		link, _, _ := strings.Cut(match[1], "#")
		if plain, err := url.PathUnescape(link); err == nil {
			names = append(names, plain)
		}
	}
	return names
}

var weightLine = regexp.MustCompile(`(?m)^(?:weight|order|nav_order|sidebar_position)\s*[:=]\s*(-?\d{1,9})\s*$`)

// weightOf is the place that the front matter of a Markdown file gives it.
func weightOf(path string) (int, bool) {
	head, err := readHead(path)
	if err != nil || !bytes.HasPrefix(head, []byte("---\n")) && !bytes.HasPrefix(head, []byte("+++\n")) {
		return 0, false
	}
	front, _, _ := strings.Cut(string(head[4:]), "\n"+string(head[:3]))
	match := weightLine.FindStringSubmatch(front)
	if match == nil {
		return 0, false
	}
	weight, err := strconv.Atoi(match[1])
	return weight, err == nil
}

// hasPost reports whether a file of JSON lines begins with posts. What the program itself writes about a run is none,
// though it has text.
func hasPost(text string) bool {
	body := func(key string) bool { return strings.Contains(text, key) }
	return slices.ContainsFunc([]string{`"body"`, `"text"`, `"content"`, `"mes"`}, body) &&
		!strings.Contains(text, `"trace_type"`)
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

package annotator_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxArchitecture is the most bytes of ARCHITECTURE.md: it is to be read before a first change.
const maxArchitecture = 12 << 10

func readDocument(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documents returns the paths of all documents.
func documents(t *testing.T) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	return paths
}

// TestLinks follows each link between documents, to a heading where it names one.
func TestLinks(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)
	for _, path := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(readDocument(t, path), -1) {
			if strings.Contains(match[1], ":") { // of another site
				continue
			}
			target := path
			if match[1] != "" {
				target = filepath.Join(filepath.Dir(path), match[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if match[2] != "" && !hasHeading(readDocument(t, target), match[2]) {
				t.Errorf("%s: %s has no heading %s", path, target, match[2])
			}
		}
	}
}

// hasHeading reports whether a document has a heading with that anchor.
func hasHeading(text, anchor string) bool {
	removed := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for line := range strings.Lines(text) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			name := removed.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			if strings.ReplaceAll(name, " ", "-") == anchor {
				return true
			}
		}
	}
	return false
}

// TestDecisionsAreListed compares the list of decisions with the folder.
func TestDecisionsAreListed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("docs/decisions/[0-9]*.md")
	if err != nil {
		t.Fatal(err)
	}
	list := readDocument(t, "docs/decisions/README.md")
	for _, file := range files {
		title, _, _ := strings.Cut(strings.TrimPrefix(readDocument(t, file), "# "), "\n")
		if line := "- [" + title + "](" + filepath.Base(file) + ")"; !strings.Contains(list, line) {
			t.Errorf("docs/decisions/README.md has no line %q", line)
		}
	}
}

// TestFoldersAreListed looks in the tables of ARCHITECTURE.md for each folder with code, but for support of tests.
func TestFoldersAreListed(t *testing.T) {
	t.Parallel()
	rows := ""
	for line := range strings.Lines(readDocument(t, "ARCHITECTURE.md")) {
		if strings.HasPrefix(line, "| `") {
			rows += strings.Split(line, " | ")[0]
		}
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && strings.HasPrefix(path, ".") {
			return fs.SkipDir
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		isCode := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") &&
			!strings.HasPrefix(folder, "internal")
		if isCode && !strings.Contains(rows, "`"+folder+"`") && !strings.Contains(rows, "`"+filepath.Base(folder)+"`") {
			t.Errorf("ARCHITECTURE.md has no row for %s", folder)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNamedTestsExist looks for each test that two documents name, and bounds the length of ARCHITECTURE.md.
func TestNamedTestsExist(t *testing.T) {
	t.Parallel()
	if n := len(readDocument(t, "ARCHITECTURE.md")); n > maxArchitecture {
		t.Errorf("ARCHITECTURE.md has %d bytes, more than %d", n, maxArchitecture)
	}
	for _, document := range []string{"ARCHITECTURE.md", "docs/promises.md"} {
		checkNamedTests(t, document)
	}
}

func checkNamedTests(t *testing.T, document string) {
	t.Helper()
	test := regexp.MustCompile("`([\\w./]+)`:? ([A-Z]\\w+(?:, [A-Z]\\w+)*)")
	named := test.FindAllStringSubmatch(readDocument(t, document), -1)
	if len(named) < 10 {
		t.Fatalf("%d names of tests were found in %s", len(named), document)
	}
	for _, match := range named {
		files, err := filepath.Glob(filepath.Join(match[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var tests strings.Builder
		for _, file := range files {
			tests.WriteString(readDocument(t, file))
		}
		for name := range strings.SplitSeq(match[2], ", ") {
			if !strings.Contains(tests.String(), "\nfunc Test"+name+"(") {
				t.Errorf("%s names %s, which is no test of %s", document, name, match[1])
			}
		}
	}
}

// Package prose_test checks how comments and lines of Go are written: see TestProse.
package prose_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxWords   = 25
	maxColumns = 120
	tabWidth   = 4
	maxIndent  = 20 // what a raw string on a line of its own needs
)

// exempted are the folders that do not follow the rules yet. The list only shrinks.
var exempted = []string{
	"tools",
}

var folder = flag.String("folder", "", "print all findings in this folder, and in those below it with /... behind it")

// finding is a place where a text breaks a rule. A hint is only printed.
type finding struct {
	line int
	rule string
	text string
	hint bool
}

// TestProse fails for a comment with a sentence of more than 25 words or a banned phrase, in Go and in migrations.
// It also fails for a line of Go with more than 120 columns. An exempted folder without a finding fails, too.
//
//	go test ./internal/prose -v -folder model/... # what is to be rewritten there
func TestProse(t *testing.T) {
	root := os.DirFS("../..")
	found := map[string]map[string][]finding{} // by folder and file
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if path != "." && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
			return err
		}
		check := checks[filepath.Ext(path)]
		if check == nil {
			return nil
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		if found[dir] == nil {
			found[dir] = map[string][]finding{}
		}
		found[dir][path] = check(t, path, string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		report(t, dir, found[dir])
	}
}

var checks = map[string]func(t *testing.T, path, text string) []finding{".go": goFindings, ".sql": sqlFindings}

func report(t *testing.T, dir string, files map[string][]finding) {
	below, all := strings.CutSuffix(*folder, "/...")
	asked := dir == below || all && strings.HasPrefix(dir, below+"/")
	listed := slices.Contains(exempted, dir)
	broken := 0
	for _, path := range slices.Sorted(maps.Keys(files)) {
		slices.SortStableFunc(files[path], func(a, b finding) int { return a.line - b.line })
		for _, f := range files[path] {
			if !f.hint {
				broken++
			}
			if asked || !listed && !f.hint {
				fmt.Printf("%s:%d: %s: %s\n", path, f.line, f.rule, f.text)
			}
		}
	}
	switch {
	case broken > 0 && !listed:
		t.Errorf("%s: %d findings", dir, broken)
	case broken == 0 && listed:
		t.Errorf("%s: no findings: remove it from exempted", dir)
	}
}

func goFindings(t *testing.T, path, text string) []finding {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var all []finding
	for _, group := range tree.Comments {
		all = append(all, checkComment(set.Position(group.Pos()).Line, commentLines(group))...)
	}
	raw := map[int]bool{}
	if strings.HasSuffix(path, "_test.go") {
		raw = rawLines(text)
	}
	for i, line := range strings.Split(text, "\n") {
		width := utf8.RuneCountInString(line) + (tabWidth-1)*strings.Count(line, "\t")
		if width > maxColumns && !raw[i+1] && !strings.HasPrefix(line, "//go:") {
			rule := fmt.Sprintf("%d columns", width)
			all = append(all, finding{line: i + 1, rule: rule, text: strings.TrimSpace(line)})
		}
	}
	return all
}

// commentLines returns the lines of a group without their markers. A directive becomes an empty line.
func commentLines(group *ast.CommentGroup) (lines []string) {
	for _, comment := range group.List {
		text, block := strings.CutPrefix(comment.Text, "/*")
		if block {
			lines = append(lines, strings.Split(strings.TrimSuffix(text, "*/"), "\n")...)
			continue
		}
		text = strings.TrimPrefix(comment.Text, "//")
		if directive.MatchString(text) {
			text = ""
		}
		lines = append(lines, strings.TrimPrefix(text, " "))
	}
	return lines
}

var directive = regexp.MustCompile(`^([a-z]+:[a-z]|nolint|line )`)

// rawLines returns the numbers of the lines that a raw string makes long. Such a string cannot be broken.
func rawLines(text string) map[int]bool {
	lines := map[int]bool{}
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, 0)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if kind != token.STRING || literal[0] != '`' {
			continue
		}
		for i, line := range strings.Split(literal, "\n") {
			if utf8.RuneCountInString(line) > maxColumns-maxIndent {
				lines[file.Line(pos)+i] = true
			}
		}
	}
}

// sqlFindings reads comments from -- to the end of a line. Whole lines of comment continue the comment above them.
func sqlFindings(_ *testing.T, _, text string) (all []finding) {
	var first int
	var comment []string
	for i, line := range append(strings.Split(text, "\n"), "") {
		code, words, found := strings.Cut(line, "--")
		if !found || strings.TrimSpace(code) != "" {
			all = append(all, checkComment(first, comment)...)
			comment = nil
		}
		if found {
			if comment == nil {
				first = i + 1
			}
			comment = append(comment, strings.TrimPrefix(words, " "))
		}
	}
	return all
}

// checkComment checks a comment, the first line of which has the number first.
func checkComment(first int, lines []string) (all []finding) {
	for _, s := range sentences(lines) {
		add := func(hint bool, format string, args ...any) {
			rule := fmt.Sprintf(format, args...)
			all = append(all, finding{line: first + s.line, rule: rule, text: s.text, hint: hint})
		}
		if n := countWords(s.text); n > maxWords {
			add(false, "%d words", n)
		}
		if phrase := banned.FindString(s.text); phrase != "" {
			add(false, "%q", phrase)
		}
		if phrase := figurative.FindString(s.text); phrase != "" {
			add(true, "%q, if it is an image", phrase)
		}
	}
	return all
}

var (
	banned     = regexp.MustCompile(`(?i)\b(beside|so many|what it was asked for)\b`)
	figurative = regexp.MustCompile(`(?i)\b(stands?|stood|tells?|told)\b`)
)

// sentence is a sentence of a comment and the index of the line on which it begins.
type sentence struct {
	line int
	text string
}

// sentences joins the lines of each paragraph and splits them. Indented lines are code or lists, and end a paragraph.
func sentences(lines []string) (all []sentence) {
	var begun sentence
	end := func() {
		if text := strings.TrimSpace(begun.text); text != "" {
			all = append(all, sentence{line: begun.line, text: text})
		}
		begun = sentence{}
	}
	for i, line := range lines {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "  ") {
			end()
			continue
		}
		for part := range strings.Lines(ending.ReplaceAllString(line+"\n", "$1\n$2")) {
			if begun.text == "" {
				begun.line = i
			}
			begun.text += strings.TrimSuffix(part, "\n") + " "
			if closing.MatchString(part) {
				end()
			}
		}
	}
	end()
	return all
}

var (
	// ending is the end of a sentence before another one on the same line. "e.g." is none.
	ending = regexp.MustCompile(`((?:[^\s.][^\s.]|\s\pL)[.!?]["')]*) +(\S)`)
	// closing is the end of a sentence at the end of a line.
	closing = regexp.MustCompile(`[.!?]["')]*\s*$`)
	// quoted is a text between quotation marks: an example, not words of the sentence.
	quoted = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|“[^”]*”")
	// word is a word of English with the punctuation around it. Code, paths and addresses are none.
	word = regexp.MustCompile(`^[("'‘]*\pL[\pL'’-]*[)"'’]*[.,:;!?…]*[)"'’]*$`)
)

func countWords(text string) (n int) {
	for _, field := range strings.Fields(quoted.ReplaceAllString(text, " ")) {
		if word.MatchString(field) {
			n++
		}
	}
	return n
}

func TestSentencesAreSplitAndCounted(t *testing.T) {
	long := strings.Repeat("word ", maxWords)
	for _, c := range []struct {
		comment string
		want    string
	}{
		{long + "end.", "1: 26 words"},
		{long + "\nend.", "1: 26 words"},
		{"First.\n" + long + "end.", "2: 26 words"},
		{"First. a " + long, "1: 26 words"},
		{"It is i. It is UTF-8. " + long, ""},
		{"A lamp, e.g. " + long, "1: 27 words"},
		{long + "x_y f(x) a/b https://example.org/a 12 \"four words of text\" `code it is`.", ""},
		{long, ""},
		{long + "\n\n" + long, ""},
		{long + "\n\tcode in an indented block\n" + long, ""},
		{"It stands\nbeside it.", `1: "beside", 1: "stands", if it is an image`},
	} {
		var got []string
		for _, f := range checkComment(1, strings.Split(c.comment, "\n")) {
			got = append(got, fmt.Sprintf("%d: %s", f.line, f.rule))
		}
		if joined := strings.Join(got, ", "); joined != c.want {
			t.Errorf("%q: %s, want %s", c.comment, joined, c.want)
		}
	}
}

func TestLongLinesAndCommentsOfFilesAreFound(t *testing.T) {
	long := strings.Repeat("x", maxColumns)
	text := "package p\n\n//go:embed " + long + "\nvar a" + long + " = `" + long + "\n" + long + "x\n`\n" +
		"\nvar b" + long + " = 1 // so many\n"
	for path, want := range map[string][]int{"p.go": {4, 5, 8, 8}, "p_test.go": {8, 8}} {
		if got := linesOf(goFindings(t, path, text)); !slices.Equal(got, want) {
			t.Errorf("%s: lines %d, want %d", path, got, want)
		}
	}
	sql := "-- One.\n-- So many.\nCREATE TABLE t (\n  a, -- beside\n  b -- so\n  -- many\n);\n"
	if got, want := linesOf(sqlFindings(t, "", sql)), []int{2, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("sql: lines %d, want %d", got, want)
	}
}

func linesOf(all []finding) (lines []int) {
	for _, f := range all {
		lines = append(lines, f.line)
	}
	slices.Sort(lines)
	return lines
}

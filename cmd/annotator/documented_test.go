package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

// notRun are the documented commands that TestDocumentedCommands leaves out, with the reason.
var notRun = map[string]string{
	`CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o annotator ./cmd/annotator`: "the gate runs it",
	"go test ./...": "it runs this test",
	"ANNOTATOR_LONG=1 go test -timeout 30m ./...": "it runs this test",
	"annotator serve book.epub --open":            "it serves until it is stopped; TestScripts runs serve",
	"annotator serve --open":                      "it serves until it is stopped; TestScripts runs serve",
}

// runWith are the flags without which a documented command would wait for somebody at the machine.
var runWith = map[string]string{
	"./annotator demo": " --no-open",
}

// documentedServer is the address of a model server in the documents.
const documentedServer = "http://localhost:8000/v1"

// documentedCommand is a command line of a document, with the lines that the document says it prints.
type documentedCommand struct {
	line   string
	prints []string
}

// TestDocumentedCommands runs each command line of the README and the tour, in their order, as a user would. The
// offline model answers, or a scripted server at the address of the documents. What a transcript shows must be printed.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command lines are those of a POSIX shell")
	}
	server := httptest.NewServer(scripted.New(scripted.Options{Model: "qwen3-32b"}))
	t.Cleanup(server.Close)
	listed := map[string]bool{}
	for _, name := range []string{"README.md", "docs/tour.md"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		commands, files := documentedIn(string(text))
		if len(commands) < 10 {
			t.Errorf("%s has %d commands only", name, len(commands))
		}
		for _, c := range commands {
			listed[c.line] = true
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			runDocumented(t, readersFolder(t, files), server.URL+"/v1", commands)
		})
	}
	for _, exceptions := range []map[string]string{notRun, runWith} {
		for line := range exceptions {
			if !listed[line] {
				t.Errorf("no document has the command %q", line)
			}
		}
	}
}

// documentedIn returns the commands of a document, and its files by name. A fenced block without a language has a
// command on each line, or is a transcript, in which "$ " begins a command. A block whose first line is "# NAME" is a
// file.
func documentedIn(text string) (commands []documentedCommand, files map[string]string) {
	files = map[string]string{}
	for _, block := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		first, rest, _ := strings.Cut(block[2], "\n")
		if name, isFile := strings.CutPrefix(first, "# "); isFile {
			files[name] = rest
			continue
		}
		if block[1] != "" {
			continue
		}
		isTranscript := strings.HasPrefix(first, "$ ")
		for line := range strings.Lines(block[2]) {
			line = strings.TrimSuffix(line, "\n")
			command, isCommand := strings.CutPrefix(line, "$ ")
			if isCommand || !isTranscript {
				commands = append(commands, documentedCommand{line: command})
				continue
			}
			last := &commands[len(commands)-1]
			last.prints = append(last.prints, line)
		}
	}
	return commands, files
}

// runDocumented runs the commands of a document one after another, and changes the folder where they do.
func runDocumented(t *testing.T, folder, endpoint string, commands []documentedCommand) {
	t.Helper()
	environment := append(os.Environ(), "HOME="+folder, "XDG_CACHE_HOME="+folder, "XDG_CONFIG_HOME="+folder,
		"VISUAL=", "EDITOR=true")
	for _, c := range commands {
		if _, isLeftOut := notRun[c.line]; isLeftOut {
			continue
		}
		if to, changes := strings.CutPrefix(c.line, "cd "); changes {
			folder = filepath.Join(folder, to)
			continue
		}
		line := strings.ReplaceAll(c.line+runWith[c.line], documentedServer, endpoint)
		shell := exec.CommandContext(t.Context(), "sh", "-c", strings.TrimPrefix(line, "./"))
		shell.Dir, shell.Env = folder, environment
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		printed := strings.Split(string(out), "\n")
		for _, want := range c.prints {
			if want != "..." && !skipTo(&printed, want) {
				t.Errorf("%s does not print %q in its place:\n%s", line, want, out)
			}
		}
	}
}

// skipTo removes the lines up to a line, and reports whether there is such a line.
func skipTo(lines *[]string, want string) bool {
	for i, line := range *lines {
		if line == want {
			*lines = (*lines)[i+1:]
			return true
		}
	}
	return false
}

// readersFolder returns a folder with what a reader of the documents has: the sample, books, a chapter. It also has the
// files that the document shows.
func readersFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(folder, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	sample, err := os.ReadFile("../../testdata/lanterns/lanterns.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	write("testdata/lanterns/lanterns.jsonl", string(sample))
	write("new-chapter.md", "# Chapter 9\n\nOrrin Vane opened the mere-glass door and let Wren Tallow in.\n")
	for name, text := range files {
		write(name, text)
	}
	for i, name := range []string{"book", "book1", "book2", "books/a", "books/b"} {
		write(name+".epub", madeBook(t, i))
	}
	return folder
}

// madeBook returns an EPUB book of a few chapters.
func madeBook(t *testing.T, number int) string {
	t.Helper()
	var book strings.Builder
	w := zip.NewWriter(&book)
	add := func(name, text string) {
		part, err := w.Create(name)
		if err == nil {
			_, err = part.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("mimetype", "application/epub+zip")
	add("META-INF/container.xml", `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">`+
		`<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`)
	manifest, spine := "", ""
	for chapter := 1; chapter <= 4; chapter++ {
		name := fmt.Sprintf("c%d", chapter)
		manifest += fmt.Sprintf(`<item id="%s" href="%[1]s.xhtml" media-type="application/xhtml+xml"/>`, name)
		spine += fmt.Sprintf(`<itemref idref="%s"/>`, name)
		paragraphs := ""
		for p := range 12 {
			paragraphs += fmt.Sprintf("<p>On day %d of voyage %d Captain Ysolde Marrow asked Pike Dobrow for the "+
				"chart of Saltgate, and Dobrow, who had lost it, told Marrow that the sea had %d roads.</p>",
				chapter*12+p, number+1, p+2)
		}
		add(name+".xhtml", fmt.Sprintf(`<html xmlns="http://www.w3.org/1999/xhtml"><head><title>%d</title></head>`+
			`<body><h1>Chapter %[1]d</h1>%s</body></html>`, chapter, paragraphs))
	}
	add("book.opf", fmt.Sprintf(`<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">`+
		`<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">book-%d</dc:identifier>`+
		`<dc:title>Voyage %[1]d</dc:title><dc:language>en</dc:language></metadata><manifest>%s</manifest>`+
		`<spine>%s</spine></package>`, number+1, manifest, spine))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return book.String()
}

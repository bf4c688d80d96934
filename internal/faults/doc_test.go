package faults_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "regenerate the document")

const document = "../../docs/faults.md"

// TestDocument compares docs/faults.md with the tables of these tests.
func TestDocument(t *testing.T) {
	t.Parallel()
	want := render()
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/faults.md differs from the tests; regenerate it with `go test ./internal/faults -run Document "+
			"-update` (-want +got):\n%s", diff)
	}
}

// TestGuardsExist expects each test that the document names.
func TestGuardsExist(t *testing.T) {
	t.Parallel()
	for _, g := range append(systemGuards(), securityGuards()...) {
		if len(g.tests) == 0 && g.untested == "" {
			t.Errorf("%s: neither a test nor a reason why there is none", g.n)
		}
		for _, name := range g.tests {
			folder, test, _ := strings.Cut(name, ".")
			if !declares(t, filepath.Join("..", "..", folder), test) {
				t.Errorf("%s: there is no %s in %s", g.n, test, folder)
			}
		}
	}
}

// declares reports whether a folder has a test function of that name.
func declares(t *testing.T, folder, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	declaration := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(test) + `\(`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if declaration.Match(text) {
			return true
		}
	}
	return false
}

// render writes the document.
func render() string {
	var b strings.Builder
	rows := catalogueRows()
	forms, cells, others := 0, 0, 0
	for i := range rows {
		forms += len(rows[i].forms)
		for _, c := range rows[i].cells() {
			if cells += len(c); c[0].wire.name != wires()[0].name {
				others += len(c)
			}
		}
	}
	fmt.Fprintf(&b, introduction, len(rows), forms, cells, others, 2*len(rows))
	b.WriteString("\n| # | What goes wrong | Action | Once | Three times | For ever |\n|---|---|---|---|---|---|\n")
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s |\n", r.n, r.words(), r.action, inWords(r.ends[0]),
			inWords(r.ends[1]), inWords(r.ends[2]))
	}
	b.WriteString(legend)
	b.WriteString("\n## Database and operating system\n" + systemIntroduction)
	renderGuards(&b, systemGuards())
	b.WriteString("\n## Security\n\n")
	renderGuards(&b, securityGuards())
	return b.String()
}

// words describes a row's fault, and whether it occurs only with or without streaming.
func (r *row) words() string {
	switch r.only {
	case streamed:
		return r.fault + " (in streams)"
	case whole:
		return r.fault + " (not in streams)"
	}
	return r.fault
}

// inWords describes the results of runs, from the letters for the first, a middle and the last call.
func inWords(letters string) string {
	words := map[byte]string{'R': "recorded", 'Q': "quarantined", 'H': "halted"}
	if len(letters) == 1 || letters[0] == letters[1] && letters[1] == letters[2] {
		return words[letters[0]]
	}
	var parts []string
	for i, place := range places {
		parts = append(parts, place+": "+words[letters[i]])
	}
	if letters[1] == letters[2] {
		parts = []string{parts[0], "else: " + words[letters[1]]}
	}
	return strings.Join(parts, ", ")
}

func renderGuards(b *strings.Builder, guards []guard) {
	b.WriteString("| # | What goes wrong | What the program does | Shown by |\n|---|---|---|---|\n")
	for _, g := range guards {
		var tests []string
		for _, name := range g.tests {
			tests = append(tests, "`"+name+"`")
		}
		shown := strings.TrimSpace(g.untested + " " + strings.Join(tests, ", "))
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", g.n, g.fault, g.does, shown)
	}
}

const introduction = `# Faults

What can go wrong between a run, its model server and its machine, and how the program reacts. A test writes this
document and compares it with the code:

` + "```" + `
go test ./internal/faults                                       # a sample of the cells
ANNOTATOR_LONG=1 go test ./internal/faults                      # every cell
ANNOTATOR_LONG=1 go test ./internal/faults -run 'Catalogue/54'  # one row
go test ./internal/faults -run Document -update                 # this document
` + "```" + `

## The endpoint

Each cell reads a story of four scenes in ten calls, with tool calls in each scene. The %d faults of the table have %d
forms. A fault occurs at the first call, at one in the middle of a scene, or at the last; once, for three calls, or from
then on. Every other of these cells is streamed, so that each call and each number of times occurs with streaming and
without. The further forms of a fault occur in the middle only, streamed. A fault that exists on every wire also occurs
in its first form on the other three, in the middle, once and from then on. That makes %d cells, %d of them on other
wires than chat completions.

In each cell the run ends in one of three ways: all scenes are recorded; some are quarantined with the reason and the
server's answer; or the run halts with the reason and can be resumed. The run then continues with a working server,
including ` +
	"`annotator retry`" + `. In the end every scene is recorded, and the codex equals that of the uninterrupted run,
revision by revision. The journal is equal too, row by row, if the model did not cause the fault. After every run
` +
	"`verify`" +
	` finds nothing, and each request is recorded as a call with its outcome and decision. The server never handles
two requests at once and receives at most 200, and no run takes longer than three hours. The cells use a simulated
clock, so they test the default policy with its waits of a minute and its limit of 45 minutes.

The first form of each fault also occurs, permanently, in auxiliary calls: the curator's questions and the summaries.
That makes %d more cells. There the run completes, by rule where no usable answer comes, or halts; no scene fails
because of them. If three questions of a kind in a row fail because of the server, the curator halts the run before the
fourth, and summaries are made by rule for 50 scenes before the model is asked again.

The numbers are those of the catalogue from which this table grew.
`

const legend = `
Actions:

- **retry** the same request, a limited number of times, with growing waits; from the second failure on, a probe of one
  token must be answered first
- **wait** the same, without charging the scene, for at most 45 minutes, then halt; a wait ends when a server answers
  that did not answer at its beginning (docs/servers.md)
- **shrink** the prompt, strictly smaller each time
- **shrink reply** request fewer tokens
- **re-ask** the model is told what was wrong
- **adapt** later requests are written differently
- **quarantine** the scene is refused and the next one is read
- **halt** the run ends and can be resumed
- **accept** it is not a fault
- **accept and note** it is harmless and recorded in the journal
- **prevent** no request can trigger the fault

"For ever" from the first call on affects four scenes in a row. The run halts after three consecutive quarantined
scenes, so that a broken server does not cost a whole book.
`

const systemIntroduction = `
Separate tests cover these. ` +
	"`internal/faults.TestFailingSystemHaltsTheRun`" + ` runs the program in a child process whose system calls
begin to fail during the run, by a kernel filter (seccomp). To SQLite this is a failing disk.

` +
	"`internal/faults.TestPowerFails`" + ` has a child import a source, create a database, ` +
	`read a story in two runs, copy, branch
and export it. It records each write, sync and rename in the kernel's order (ptrace) and derives the possible disk
states after a power cut at any of them. Synced data is present. Of unsynced data each write and each name is
present or not, independently; a write may be torn at every 512-byte sector, and a sector may hold anything. From each
of these disks the run continues to the same end, and everything reported as done before the cut is present.
` + "`go test ./internal/faults -run PowerFails -cuts 3000`" + ` tries more of them.

`

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

var update = flag.Bool("update", false, "write the generated document anew")

const document = "../../docs/faults.md"

// TestDocument holds docs/faults.md against the tables of these tests.
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
		t.Errorf("docs/faults.md is not what the tests say; write it anew with `go test ./internal/faults -run Document -update` (-want +got):\n%s", diff)
	}
}

// TestGuardsExist looks for each test that the document names.
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
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s |\n", r.n, r.words(), r.action, inWords(r.ends[0]), inWords(r.ends[1]), inWords(r.ends[2]))
	}
	b.WriteString(legend)
	b.WriteString("\n## Database and operating system\n" + systemIntroduction)
	renderGuards(&b, systemGuards())
	b.WriteString("\n## Security\n\n")
	renderGuards(&b, securityGuards())
	return b.String()
}

// words tells a row's fault, and where it shows only.
func (r *row) words() string {
	switch r.only {
	case streamed:
		return r.fault + " (in streams)"
	case whole:
		return r.fault + " (not in streams)"
	}
	return r.fault
}

// inWords says how runs end, from the letters for the first, a middle and the last call.
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

What can go wrong between a run, its model server and its machine, and what becomes of it. This document is written by its
test, and held equal to it:

` + "```" + `
go test ./internal/faults                                           # a sample of the cells
ANNOTATOR_LONG=1 go test ./internal/faults                          # every cell
ANNOTATOR_LONG=1 go test ./internal/faults -run 'Catalogue/54'      # one row
go test ./internal/faults -run Document -update                     # this document
` + "```" + `

## The endpoint

A story of four scenes is read, ten calls long, with tool calls in each scene. The %d faults of the table come in %d forms. Each
strikes at the first call, at one in the middle of a scene, and at the last; once, three calls running, and from there on for ever;
streamed and not. (The further forms of a fault strike in the middle only, streamed. Where a fault shows on every wire, its first form strikes
the other three in the middle, too, once and for ever.) That makes %d cells, %d of them on other wires than chat completions.

In each cell the run ends in one of three ways: all scenes are recorded; or some are quarantined with the reason and with what the server
sent; or it has halted, says why, and can be resumed. Then it goes on with a sound server, ` + "`annotator retry`" + ` included. In the end every
scene is recorded, and the codex is that of the undisturbed run, revision by revision; so is the journal, row by row, where the fault is
none of the model's doing. After every run ` + "`verify`" + ` finds nothing, and each request is on record as a call, with its outcome and what was decided. The
server is never at work on two requests at once, is asked no more than 200 times, and no run takes longer than three hours: the cells have a
clock of their own, so the policy that is tried is the one in force, with its pauses of a minute and its patience of 45.

The first form of each fault also strikes what is asked beside the story, where no scene is at stake: the curator's questions and the
summaries, for ever, %d cells more. There the run goes on to its end, by rule where no usable answer comes, or halts; it is never a scene
that pays. Where the server was not well at three questions of a kind in a row, the curator has the run halt before the fourth, and
summaries are made by rule for 50 scenes before the model is asked for one again.

The numbers are those of the catalogue from which this table grew.
`

const legend = `
Actions: **retry** the same request, bounded, with longer and longer pauses; from the second failure on, a probe of one token has to be
answered first · **wait** the same, without charging the scene, for 45 minutes, then halt · **shrink** the prompt, strictly smaller each time · **shrink reply** fewer tokens asked for · **re-ask** the model is
told what was wrong · **adapt** the request is written otherwise from there on · **quarantine** the scene is refused and the next one read ·
**halt** resumable · **accept** it is no fault · **accept and note** it does no harm, and stands in the journal · **prevent** no request is
such that the fault could occur.

"For ever" from the first call on means four scenes in a row: the run halts when three have been quarantined one after the other, rather than
refuse a whole book to a server that is broken.
`

const systemIntroduction = `
These are shown by tests of their own. ` + "`internal/faults.TestFailingSystem`" + ` runs the program in a child process whose system calls begin to
fail in the middle of the run, by a filter in the kernel (seccomp): to SQLite that is the disk.

` + "`internal/faults.TestPowerFails`" + ` has a child import a source, make a database and read a story in two sittings, copy, branch and export it,
and writes down each of its writes, syncs and renames as the kernel does them (ptrace). From that it makes the disk as a power cut would
leave it after any of them. What was synced is there. What was not is there, or not, each write and each name by itself; a write may be torn at
every sector of 512 bytes, and a sector hold anything. From each of these disks the run goes on to the same end, and what
was said to be done before the cut is there. ` + "`go test ./internal/faults -run PowerFails -cuts 3000`" + ` tries more of them.

`

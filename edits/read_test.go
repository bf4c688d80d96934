package edits_test

import (
	"strings"
	"testing"

	"annotator"
	"annotator/edits"

	"pgregory.net/rapid"
)

// TestWrongFilesAreRefused: what is not understood is named with its line.
func TestWrongFilesAreRefused(t *testing.T) {
	t.Parallel()
	const head = "format: annotator-glossary\nversion: 1\n"
	for text, want := range map[string]string{
		"":                                   "line 1: the file is empty",
		"a: [":                               "line 1: did not find expected node content",
		"just words":                         "line 1: this is no export of a codex",
		head:                                 "it has no list of entries",
		"format: other\nentries: []":         `line 1: the format is "other"`,
		"version: 2\nentries: []":            "line 1: version 2 is not known",
		head + "colour: red\nentries: []":    `line 3: there is no field "colour"`,
		"entries: []\nentries: []":           `line 2: the field "entries" comes twice`,
		"entries:\n- id: 1\n  colour: red":   `line 3: there is no field "colour"`,
		"entries:\n- id: 1\n  id: 2":         `line 3: the field "id" comes twice`,
		"entries:\n- id: one":                `line 2: "id" is a number, and not "one"`,
		"entries:\n- id: 1\n- id: 1":         "line 3: entry 1 is in line 2 already",
		"entries:\n- id: 1\n  locked: maybe": `"locked" is true or false`,
		"entries:\n- id: 1\n  tags: ship":    `"tags" is a list`,
		"entries:\n- id: 1\n  claims:\n  - id: 3\n  - id: 3":     "line 5: fact 3 is in line 4 already",
		"entries:\n- id: 1\n  claims:\n  - {id: 3, colour: red}": `there is no field "colour" in "claims/0"`,
		"entries: &a\n- *a":                         "alias of YAML",
		"entries: []\n---\nentries: []":             "line 3: another document begins here",
		`{"entries": [` + "\n" + `{"colour": 1}]}`:  `line 2: there is no field "colour"`,
		`{"entries": [`:                             "the file ends too early",
		`{"entries": []} 1`:                         "there is more after the end",
		`{"entries": ` + strings.Repeat("[", 10000): "lists and maps lie in each other",
		"PK\x03\x04":                                "this is an archive",
		"csv:id,colour\n1,red\n":                    `there is no column "colour"`,
		"csv:id,id\n1,1\n":                          `the column "id" comes twice`,
		"csv:entry,name\n1,red\n":                   `there is no column "entry"`,
		"csv:term\nDawn\n":                          `there is no column "id"`,
		"csv:id,term\n1\n":                          "line 2: wrong number of fields",
		"csv:id,term\n1,Dawn\nx,Mik\n":              `line 3: id: "x" is no number`,
		"csv:id,term\n1,Dawn\n1,Mik\n":              "line 3: entry 1 is in line 2 already",
		"csv:id,term\n1,\xff\n":                     "not in UTF-8",
		strings.Repeat(" ", edits.MaxSize+1):        "at most 33554432 bytes are read",
	} {
		name := "f.yaml"
		if rest, isTable := strings.CutPrefix(text, "csv:"); isTable {
			name, text = "f.csv", rest
		}
		_, err := edits.Read(name, []byte(text))
		if annotator.KindOf(err) != annotator.Misused || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, and not %q", text, err, want)
		}
	}
}

// TestTablesOfOtherProgramsAreRead reads what spreadsheets make of a table.
func TestTablesOfOtherProgramsAreRead(t *testing.T) {
	t.Parallel()
	for _, table := range []string{
		"id;revisions;term;names;locked\n1;9;Dawn;\"a\nb\";FALSE\n",
		"\uFEFFid,revisions,term,names,locked\r\n1,9,Dawn,\"a\r\nb\",false\r\n",
		"id\trevisions\tterm\tnames\tlocked\n1\t9\tDawn\t\"a\nb\"\tfalse\n",
	} {
		f, err := edits.Read("f.csv", []byte(table))
		if err != nil || len(f.IDs()) != 1 || f.IDs()[0] != 1 {
			t.Errorf("%q: %v, %v", table, f, err)
		}
	}
}

// FuzzRead: no file makes the reader or the comparison panic, and an error is the file's.
func FuzzRead(f *testing.F) {
	f.Add("f.yaml", "entries:\n- id: 1\n  term: Dawn\n  claims:\n  - id: 1\n    text: x\n    until: null\n- id: 2")
	f.Add("f.json", `{"as_of": null, "entries": [{"id": 1, "tags": ["a"], "aliases": [{"name": "x"}]}]}`)
	f.Add("f.csv", "id,revisions,term,tags,names,merged_into\n1,3,Dawn,a,\"x\ny\",2\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		file, err := edits.Read(name, []byte(text))
		if err != nil {
			if annotator.KindOf(err) != annotator.Misused {
				t.Fatalf("%v", err)
			}
			return
		}
		m := rapid.Custom(newMemory).Example(1)
		m.TB = t
		plan, err := edits.Compare(file, m.codex())
		if err != nil {
			t.Fatal(err)
		}
		for i := range plan.Changes {
			if op := plan.Changes[i].Operation; op.Do != annotator.DeedSplit {
				m.perform(&op)
			}
		}
	})
}

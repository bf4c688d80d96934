package exporters_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"annotator"
	"annotator/exporters"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestTablesGiveTheTextsBack: no cell is a formula, also if a spreadsheet splits cells at semicolons or tabs. Without
// the apostrophes of formulas, each text is unchanged.
func TestTablesGiveTheTextsBack(t *testing.T) {
	t.Parallel()
	runs := regexp.MustCompile(`^[\t\r\n]*"*[=+\-@＝＋－＠]`)
	rapid.Check(t, func(t *rapid.T) {
		doc := document(t)
		got := map[string][]string{}
		for _, file := range unzip(t, export(t, named(t, "csv"), &doc)) {
			rows, err := csv.NewReader(bytes.NewReader(file.Data)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, separators := range []string{";\r\n", "\t\r\n"} {
				for cell := range strings.FieldsFuncSeq(string(file.Data),
					func(r rune) bool { return strings.ContainsRune(separators, r) }) {
					if runs.MatchString(cell) {
						t.Fatalf("%s, separators %q: %q", file.Name, separators, cell)
					}
				}
			}
			for _, row := range rows[1:] {
				for i, cell := range row {
					if runs.MatchString(cell) {
						t.Fatalf("%s, %s: %q", file.Name, rows[0][i], cell)
					}
					cell = exporters.Unguarded(cell)
					column := strings.TrimSuffix(file.Name, ".csv") + " " + rows[0][i]
					got[column] = append(got[column], cell)
				}
			}
		}
		want := map[string][]string{}
		for _, e := range doc.Entries {
			want["entries term"] = append(want["entries term"], e.Term)
			want["entries definition"] = append(want["entries definition"], e.Definition)
			for _, a := range e.Aliases {
				want["names name"] = append(want["names name"], a.Name)
			}
			for _, c := range e.Claims {
				want["claims text"] = append(want["claims text"], c.Text)
				for _, v := range c.Evidence {
					want["evidence quote"] = append(want["evidence quote"], v.Quote)
					want["evidence post"] = append(want["evidence post"], fmt.Sprint(v.Post))
				}
			}
		}
		for column, texts := range want {
			for i := range texts {
				texts[i] = strings.ReplaceAll(texts[i], "\r\n", "\n") // as the reader reads line ends
			}
			if diff := cmp.Diff(texts, got[column]); diff != "" {
				t.Fatalf("%s: %s", column, diff)
			}
		}
	})
}

// TestFormulasOfEveryKindAreText tests the characters that begin a formula, at the places where a cell may begin.
func TestFormulasOfEveryKindAreText(t *testing.T) {
	t.Parallel()
	for _, sign := range strings.Split("= + - @ ＝ ＋ － ＠", " ") {
		for _, before := range []string{"", "'", "x;", "x\t", "x\n", "x;\"", "x;'\"", ";;"} {
			text := before + sign + "1+1"
			doc := exporters.Build(exporters.Story{},
				[]annotator.Entry{{ID: 1, Term: text, Status: annotator.Confirmed}}, position)
			for _, file := range unzip(t, export(t, named(t, "csv"), &doc)) {
				rows, err := csv.NewReader(bytes.NewReader(file.Data)).ReadAll()
				if err != nil {
					t.Fatal(err)
				}
				if file.Name != "entries.csv" {
					continue
				}
				if strings.Count(rows[1][1], "'") != strings.Count(text, "'")+1 {
					t.Errorf("%q became %q", text, rows[1][1])
				}
				if got := exporters.Unguarded(rows[1][1]); got != text {
					t.Errorf("%q is read back as %q", text, got)
				}
			}
		}
	}
}

func TestTablesOfAnEmptyCodexHaveHeaders(t *testing.T) {
	t.Parallel()
	doc := exporters.Build(exporters.Story{}, nil, position)
	for _, file := range unzip(t, export(t, named(t, "csv"), &doc)) {
		if bytes.Count(file.Data, []byte("\n")) != 1 {
			t.Errorf("%s: %q", file.Name, file.Data)
		}
	}
}

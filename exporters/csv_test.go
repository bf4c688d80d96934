package exporters_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"annotator/exporters"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestTablesGiveTheTextsBack: no cell is a formula, and without the apostrophe before what would be one, each text is as
// it was.
func TestTablesGiveTheTextsBack(t *testing.T) {
	t.Parallel()
	guarded := regexp.MustCompile(`^'+[=+\-@\t\r\n]`)
	rapid.Check(t, func(t *rapid.T) {
		doc := document(t)
		got := map[string][]string{}
		for _, file := range unzip(t, export(t, named(t, "csv"), &doc)) {
			rows, err := csv.NewReader(bytes.NewReader(file.Data)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows[1:] {
				for i, cell := range row {
					if regexp.MustCompile(`^[=+@\t\r]`).MatchString(cell) || strings.HasPrefix(cell, "-") && !isNumber(cell) {
						t.Fatalf("%s, %s: %q", file.Name, rows[0][i], cell)
					}
					if guarded.MatchString(cell) {
						cell = cell[1:]
					}
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

func isNumber(text string) bool {
	var n int64
	_, err := fmt.Sscan(text, &n)
	return err == nil && fmt.Sprint(n) == text
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

package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// writeDocument replaces the tables of a document between <!-- name --> and <!-- end -->.
func writeDocument(path string, tables map[string]string) error {
	if path == "-" {
		for name, text := range tables {
			fmt.Printf("%s\n\n%s\n", name, text)
		}
		return nil
	}
	document, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	for name, text := range tables {
		begin, end := []byte("<!-- "+name+" -->\n"), []byte("<!-- end -->")
		before, rest, found := bytes.Cut(document, begin)
		_, after, closed := bytes.Cut(rest, end)
		if !found || !closed {
			return fmt.Errorf("%s has no place for the table %q", path, name)
		}
		document = bytes.Join([][]byte{before, begin, []byte("\n" + text + "\n"), end, after}, nil)
	}
	return os.WriteFile(path, document, 0o644)
}

// markdown renders a table.
func markdown(head []string, rows [][]string) string {
	var text strings.Builder
	line := func(cells []string) { text.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	text.WriteString("|" + strings.Repeat(" ---: |", len(head)) + "\n")
	for _, row := range rows {
		line(row)
	}
	return text.String()
}

// aim renders a figure, and whether it meets its aim.
func aim(figure, most float64, format string) string {
	verdict := "met"
	if figure > most {
		verdict = "missed"
	}
	return fmt.Sprintf(format+" (%s)", figure, verdict)
}

// count writes a number with commas between its thousands.
func count(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// tierOrder is the order in which tiers are listed.
const tierOrder = "0.5 1 2 3 4 5"

func costTable(costs []*cost) string {
	var rows [][]string
	for _, c := range costs {
		scenes := float64(c.scenes)
		var tiers []string
		for tier := range strings.FieldsSeq(tierOrder) {
			if n := c.tiers[tier]; n > 0 {
				tiers = append(tiers, fmt.Sprintf("%s: %d", tier, n))
			}
		}
		rows = append(rows, []string{
			count(int64(c.budget)), c.name, fmt.Sprintf("%.0f", float64(c.prompt)/scenes),
			fmt.Sprintf("%.0f", float64(c.uncached)/scenes),
			fmt.Sprintf("%.2f", float64(c.uncached)/float64(c.floor)),
			fmt.Sprintf("%.2f", float64(c.calls+c.summaries)/scenes),
			strings.Join(tiers, ", "), fmt.Sprintf("%.1f %%", 100-100*float64(c.again)/float64(max(c.asked, 1))),
			fmt.Sprint(c.refused),
		})
	}
	return markdown([]string{
		"window", "policy", "prompt tokens a scene", "uncached a scene", "uncached / floor", "calls a scene",
		"compactions by tier",
		"summaries' prompts cached", "scenes refused",
	}, rows)
}

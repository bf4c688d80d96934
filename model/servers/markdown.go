package servers

import (
	"fmt"
	"strings"
)

// Rows returns a header, and the parsers of each family on each server that has parsers. An empty cell means none.
func (t *Table) Rows() (rows [][]string) {
	head := []string{"family"}
	for i := range t.Servers {
		if s := &t.Servers[i]; s.Tools != "" {
			head = append(head, s.Name+": calls", s.Name+": thoughts")
		}
	}
	rows = append(rows, head)
	for i := range t.Families {
		f := &t.Families[i]
		row := []string{f.Name}
		for j := range t.Servers {
			if s := &t.Servers[j]; s.Tools != "" {
				row = append(row, f.Parsers[s.Name].Tools, f.Parsers[s.Name].Reasoning)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// Markdown returns the table as a part of docs/servers.md: the commands of each server, and the parsers of each family.
func (t *Table) Markdown(context int) string {
	var b strings.Builder
	for i := range t.Servers {
		s := t.Servers[i].Start(UnknownModel, nil, context)
		fmt.Fprintf(&b, "### %s\n\n```\n%s\n```\n\n", s.Server, strings.Join(s.Commands, "\n"))
		if s.Tried == "" {
			b.WriteString("From documentation; not tried.")
		} else {
			fmt.Fprintf(&b, "Tried: %s.", s.Tried)
		}
		fmt.Fprintf(&b, " Sources: <%s>.\n\n", strings.Join(s.Sources, ">, <"))
		for _, note := range s.Notes {
			fmt.Fprintf(&b, "- %s\n", note)
		}
		b.WriteString("\n")
	}
	b.WriteString("### Parsers of each family\n\n")
	for i, row := range t.Rows() {
		for j := range row {
			if i > 0 && j > 0 && row[j] != "" {
				row[j] = "`" + row[j] + "`"
			}
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(row)))
		}
	}
	return b.String()
}

package eval

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"regexp"
	"slices"
	"strings"

	"annotator"
)

// FromPDNC reads the table of characters of a novel of the Project Dialogism Novel Corpus (Vishnubhotla, Hammond and
// Hirst 2022). This is its file character_info.csv, with the columns Main Name, Aliases and Category. An error is
// Misused.
func FromPDNC(text []byte) (*Gold, error) {
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	in.FieldsPerRecord = -1
	rows, err := in.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, annotator.Errorf(annotator.Misused, "the table of characters cannot be read: %w", err)
	}
	name, aliases := slices.Index(rows[0], "Main Name"), slices.Index(rows[0], "Aliases")
	if name < 0 || aliases < 0 {
		return nil, annotator.Errorf(annotator.Misused, "the table of characters has no columns Main Name and Aliases")
	}
	category := slices.Index(rows[0], "Category")
	g := &Gold{}
	for _, row := range rows[1:] {
		// _narr and _unknowable are no characters
		if len(row) <= max(name, aliases) || strings.HasPrefix(row[name], "_") {
			continue
		}
		e := Entity{Name: row[name], Kind: "person"}
		if 0 <= category && category < len(row) {
			e.Importance = row[category]
		}
		for _, alias := range quoted.FindAllStringSubmatch(row[aliases], -1) {
			e.Aliases = append(e.Aliases, Name(strings.ReplaceAll(alias[1]+alias[2], `\'`, `'`)))
		}
		g.Entities = append(g.Entities, e)
	}
	return g, g.check()
}

// quoted matches the strings of a set as Python writes it.
var quoted = regexp.MustCompile(`'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"`)

// FromLitBank reads an annotation of entities of LitBank (Bamman, Popat and Shen 2019) in the standoff form of brat.
// Its things are the mentions whose last word begins with a capital. The same words are the same thing. An error is
// Misused.
func FromLitBank(text []byte) (*Gold, error) {
	g, at := &Gold{}, map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		parts := strings.SplitN(lines.Text(), "\t", 3)
		if len(parts) < 3 || !strings.HasPrefix(parts[0], "T") {
			continue
		}
		kind, _, _ := strings.Cut(parts[1], " ")
		name := strings.TrimSpace(parts[2])
		fields := strings.Fields(name)
		if len(fields) == 0 || strings.ToLower(fields[len(fields)-1][:1]) == fields[len(fields)-1][:1] {
			continue
		}
		if key := kind + " " + name; at[key] == 0 {
			g.Entities = append(g.Entities, Entity{Name: name, Kind: kindOf(kind)})
			at[key] = len(g.Entities)
		}
	}
	if lines.Err() != nil {
		return nil, annotator.Errorf(annotator.Misused, "the annotation cannot be read: %w", lines.Err())
	}
	return g, g.check()
}

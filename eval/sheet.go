package eval

import (
	"encoding/csv"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"annotator"
)

// A sheet is a table of sampled statements, on which a judge answers a question in each of the last columns.
var (
	given     = []string{"entry", "fact", "term", "text", "kind", "speaker", "place", "quotes"}
	questions = []string{"supported", "kind_right", "quote_bears", "repeated", "stale"}
)

// Answers of a judge: yes counts 1, partly 0.5 and no 0. An empty cell is not counted.
var answers = map[string]float64{"yes": 1, "y": 1, "1": 1, "partly": .5, "no": 0, "n": 0, "0": 0}

// Sample draws statements that hold, evenly among all, in the order of the codex. The same seed draws the same.
func Sample(entries []Entry, n int, seed uint64) []Statement {
	var all []Statement
	for i := range entries {
		for _, s := range entries[i].Facts {
			if s.Open {
				all = append(all, s)
			}
		}
	}
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(all))
	order = order[:min(n, len(order))]
	slices.Sort(order)
	sample := make([]Statement, len(order))
	for i, at := range order {
		sample[i] = all[at]
	}
	return sample
}

// WriteSheet writes a sheet as CSV with a header, its answers empty.
func WriteSheet(w io.Writer, sample []Statement) error {
	out := csv.NewWriter(w)
	if err := out.Write(append(slices.Clone(given), questions...)); err != nil {
		return err
	}
	for i := range sample {
		s := &sample[i]
		var quotes []string
		for _, q := range s.Quotes {
			quotes = append(quotes, "[post "+strconv.FormatInt(q.Post, 10)+"] "+q.Text)
		}
		row := []string{
			strconv.FormatInt(s.Entry, 10), strconv.FormatInt(s.ID, 10), s.Term, s.Text, s.Kind, s.Speaker, s.Position,
			strings.Join(quotes, "\n"),
		}
		for i := range row {
			row[i] = literal(row[i])
		}
		if err := out.Write(append(row, make([]string, len(questions))...)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// literal keeps a spreadsheet from taking a text for a formula.
func literal(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// ReadSheet returns a figure for each question of a sheet that has answers. An error is Misused, and names the line.
func ReadSheet(r io.Reader) ([]Figure, error) {
	in := csv.NewReader(r)
	header, err := in.Read()
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "the sheet has no header: %w", err)
	}
	units := make([][]unit, len(header))
	for {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, annotator.Errorf(annotator.Misused, "the sheet: %w", err)
		}
		for i, question := range header {
			answer := strings.ToLower(strings.TrimSpace(row[i]))
			if !slices.Contains(questions, question) || answer == "" {
				continue
			}
			value, ok := answers[answer]
			if !ok {
				line, _ := in.FieldPos(i)
				return nil, annotator.Errorf(annotator.Misused, "line %d of the sheet: %.40q is no answer to %s", line,
					row[i], question).WithAdvice("answer yes, partly or no")
			}
			units[i] = append(units[i], unit{part: value, whole: 1})
		}
	}
	var figures []Figure
	for i, question := range header {
		if units[i] != nil {
			figures = append(figures, figure("judged: "+strings.ReplaceAll(question, "_", " "), units[i]))
		}
	}
	if figures == nil {
		return nil, annotator.Errorf(annotator.Misused, "the sheet has no answers").
			WithAdvice("fill its columns %s with yes, partly or no", strings.Join(questions, ", "))
	}
	return figures, nil
}

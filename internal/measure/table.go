package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// writeDocument puts the tables in the place of those that stand in a document between <!-- name --> and <!-- end -->.
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

func processorTable(stories []*outcome) string {
	var rows [][]string
	for _, o := range stories {
		n := float64(o.scenes)
		row := []string{
			count(int64(o.scenes)), fmt.Sprintf("%.2f", millis(o.program.Processor)/n), "not run", "", aim(o.program.flatness(), 1.1, "%.2f"),
			fmt.Sprintf("%.0f", float64(o.program.Objects)/n), fmt.Sprintf("%.0f", float64(o.program.Allocated)/n/1e3),
		}
		if o.loop != nil {
			row[2] = fmt.Sprintf("%.2f", millis(o.loop.Processor)/n)
			row[3] = aim(ratio(o.program.Processor, o.loop.Processor), 2.5, "%.2f")
		}
		rows = append(rows, row)
	}
	return markdown([]string{
		"scenes", "program, ms a scene", "bare loop, ms", "ratio (aim 2.5)", "ninth tenth / second (aim 1.1)", "objects allocated a scene", "KB allocated",
	}, rows)
}

// flatness is what the ninth tenth of the scenes costs to what the second does. The first and the last are not alike: at the end
// of the first thread there is nothing for the curator to judge, and at the story's end there are two threads.
func (w *walked) flatness() float64 { return ratio(w.Tenths[8], w.Tenths[1]) }

func storageTable(stories []*outcome) string {
	var rows [][]string
	for _, o := range stories {
		n := float64(o.scenes)
		rows = append(rows, []string{
			count(int64(o.scenes)), fmt.Sprintf("%.1f", float64(o.database)/n/1e3), fmt.Sprintf("%.1f", float64(o.facts.messages)/n/1e3),
			aim(float64(o.database)/float64(o.facts.messages), 2, "%.2f"),
		})
	}
	return markdown([]string{"scenes", "database, KB a scene", "messages, KB a scene", "ratio (aim 2)"}, rows)
}

// bytesPerToken is the scripted endpoint's.
const bytesPerToken = 4

func resumeTable(stories []*outcome) string {
	var rows [][]string
	for _, o := range stories {
		most := 60 + 3*float64(o.budget*bytesPerToken)/1e6
		rows = append(rows, []string{
			count(int64(o.scenes)), aim(millis(o.resume.Start), 30, "%.1f"), fmt.Sprintf("%.1f", millis(o.resume.Waited)), aim(float64(o.program.PeakMemory)/1e6, most, "%.1f"), fmt.Sprintf("%.1f", most),
		})
	}
	return markdown([]string{"scenes", "resume, ms of processor (aim 30)", "on the clock", "peak memory, MB", "aim, MB"}, rows)
}

func tokenTable(windows []*outcome) string {
	var rows [][]string
	for i, o := range windows {
		n, f := float64(o.scenes), o.facts
		each := func(tokens int64) string { return count(int64(float64(tokens)/n + 0.5)) }
		rows = append(rows, []string{
			count(int64(o.budget)), aim(float64(f.calls)/n, 1.3, "%.2f"), each(f.prompt), each(f.floor), each(f.entries), each(f.results),
			each(f.annotate), each(f.summarise), each(f.curate),
			aim(float64(f.uncached())/float64(f.floor), []float64{1.4, 1.15}[i], "%.2f"), fmt.Sprintf("%.0f", float64(f.summaries)/n*1e3), cachedShare(f),
		})
	}
	return markdown([]string{
		"context budget", "calls a scene (aim 1.3)", "prompt tokens", "floor: the scene", "entries shown", "tools' results", "uncached: annotation", "summaries",
		"curator", "all uncached / floor (aims 1.4, 1.15)", "summaries per 1,000 scenes", "of their prompts cached (aim 99 %)",
	}, rows)
}

func cachedShare(f facts) string {
	if f.summaryPrompt == 0 {
		return "none made"
	}
	return fmt.Sprintf("%.1f %%", 100-100*float64(f.summarise)/float64(f.summaryPrompt))
}

func matchingTable(timings []timing) string {
	var rows [][]string
	for _, t := range timings {
		rows = append(rows, []string{
			count(int64(t.entries)), micros(t.each), times(t.each, timings[0].each, 4), fmt.Sprintf("%.0f", millis(t.fill)),
		})
	}
	return markdown([]string{"names", "to match a scene of 2,000 words, us", "times the first (aim 4)", "to fill the index, ms"}, rows)
}

func searchTable(timings []timing) string {
	var rows [][]string
	for _, t := range timings {
		rows = append(rows, []string{
			count(int64(t.entries)), micros(t.each), times(t.each, timings[0].each, 2), micros(t.common), times(t.common, timings[0].common, 2),
			fmt.Sprintf("%.0f", millis(t.fill)),
		})
	}
	return markdown([]string{
		"entries", "to search for a name of two rare words, us", "times the first (aim 2)", "for one of the form The ... of ..., us",
		"times the first (aim 2)", "to write the entries, ms",
	}, rows)
}

func micros(d time.Duration) string { return fmt.Sprintf("%.0f", float64(d)/float64(time.Microsecond)) }

// times is how many times as long as the first something takes.
func times(d, first time.Duration, most float64) string {
	if d == first {
		return "1"
	}
	return aim(ratio(d, first), most, "%.2f")
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// count writes a number with commas between its thousands.
func count(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// machine describes the machine that the figures were measured on.
func machine() string {
	return fmt.Sprintf("%d processors, %s, %s/%s", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
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
			count(int64(c.budget)), c.name, fmt.Sprintf("%.0f", float64(c.prompt)/scenes), fmt.Sprintf("%.0f", float64(c.uncached)/scenes),
			fmt.Sprintf("%.2f", float64(c.uncached)/float64(c.floor)), fmt.Sprintf("%.2f", float64(c.calls+c.summaries)/scenes),
			strings.Join(tiers, ", "), fmt.Sprintf("%.1f %%", 100-100*float64(c.again)/float64(max(c.asked, 1))), fmt.Sprint(c.refused),
		})
	}
	return markdown([]string{
		"window", "policy", "prompt tokens a scene", "uncached a scene", "uncached / floor", "calls a scene", "compactions by tier",
		"summaries' prompts cached", "scenes refused",
	}, rows)
}

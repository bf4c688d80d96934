package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"annotator"
	"annotator/corpus/ingest"
	"annotator/storage"
)

func (r rawReply) print(w io.Writer) {
	if fileOf(w) != nil && terminalWidth(w) > 0 {
		r = rawReply(clean(string(r)) + "\n")
	}
	_, _ = io.WriteString(w, string(r))
}

// print prints the status for people. It omits rows without a text.
func (s *status) print(w io.Writer) {
	rows := [][]string{
		{"story", shorten(s.Story.Title, 100)},
		{"database", oneLine(s.Database)},
		{"corpus", oneLine(s.Story.Corpus)},
		{"import", shorten(s.Story.Import, 300)},
		{"run", shorten(s.run(), 300)},
		{"model", oneLine(s.modelAndEndpoint())},
		{"scenes", s.scenes()},
		{"not asked", s.unasked()},
		{"chapters", fmt.Sprintf("%d of %d", s.Story.ThreadsDone, s.Story.Threads)},
		{"entries", s.entries()},
		{"quotes", s.quotes()},
		{"calls", fmt.Sprintf("%d ok, %d failed, %d lost", s.Calls.OK, s.Calls.Failed, s.Calls.Lost)},
		{"tokens", strings.Replace(tokens(s.Tokens.usage()), " tokens", "", 1)},
		{"probes", s.probes()},
		{"per scene", s.average()},
		{"follow-ups", s.followUps()},
		{"compactions", s.compactions()},
		{"edits", s.pendingEdits()},
		{"questions", s.questions()},
		{"started", localTime(s.Started.UnixMilli())},
		{"updated", localTime(s.Updated.UnixMilli())},
	}
	for _, warning := range s.Warnings {
		rows = append(rows, []string{"warning", shorten(warning, 300)})
	}
	for _, r := range s.Edits.Refused {
		rows = append(rows, []string{"refused edit", shorten(r.Edit+": "+r.Reason, 300)})
	}
	if s.SecondsLeft > 0 {
		left := seconds(s.SecondsLeft)
		rows = append(rows, []string{"time", timeLeft(left, s.Ends.Add(-left).Local())})
	}
	if wait := s.Waiting; wait != nil {
		rows = append(rows, []string{"waiting", shorten("since "+localTime(wait.Since.UnixMilli())+": "+wait.Reason,
			300)})
	}
	printTable(w, slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" }))
	s.printQuarantined(w)
}

// pendingEdits lists the edits that wait; empty if there are none.
func (s *status) pendingEdits() string {
	if len(s.Edits.Pending) == 0 {
		return ""
	}
	return shorten(fmt.Sprintf("%d wait: %s", len(s.Edits.Pending), strings.Join(s.Edits.Pending, "; ")), 300)
}

// questions counts the questions that wait for a person; empty if there are none.
func (s *status) questions() string {
	if s.Edits.Questions == 0 {
		return ""
	}
	return annotator.Quantity(s.Edits.Questions, "question") + " of the model wait for an answer"
}

// probes counts the probes; empty if there were none.
func (s *status) probes() string {
	if s.Probes.Calls == 0 {
		return ""
	}
	return annotator.Quantity(s.Probes.Calls, "call") + ", " + tokens(s.Probes.Tokens.usage())
}

// importSummary returns how much of its source a corpus has; "" if the corpus is missing or does not record it.
func importSummary(ctx context.Context, run *storage.RunStatus, database string) string {
	path := corpusOfRun(run, database)
	if path == "" {
		return ""
	}
	account, err := ingest.AccountOf(ctx, path)
	if err != nil {
		return ""
	}
	return account.Summary()
}

func (s *status) run() string {
	switch {
	case s.Running && s.Scenes.Open > 0:
		return fmt.Sprintf("running (%s), %s in %s", s.Holder, s.State, s.openPlace)
	case s.Running:
		return fmt.Sprintf("in use by %s", s.Holder)
	case s.Halted != "":
		return "halted: " + s.Halted
	case s.Scenes.Left == 0:
		return "finished"
	}
	return "stopped; run again to resume"
}

// scenes counts quarantined scenes as done.
func (s *status) scenes() string {
	done, of := s.Scenes.Recorded+s.Scenes.Quarantined, ""
	if s.Scenes.Quarantined > 0 {
		of = " of them"
	}
	return fmt.Sprintf("%d of %d (%d %%), %d%s quarantined", done, s.Scenes.Total,
		annotator.Percent(done, s.Scenes.Total), s.Scenes.Quarantined, of)
}

// unasked counts the scenes that were recorded without a request; empty if there are none.
func (s *status) unasked() string {
	var reasons []string
	for _, r := range s.Scenes.Unasked {
		reasons = append(reasons, fmt.Sprintf("%s with %s", annotator.Quantity(r.Count, "scene"), r.Reason))
	}
	return strings.Join(reasons, ", ")
}

// followUps describes the results of follow-up requests; empty if there were none.
func (s *status) followUps() string {
	f := &s.FollowUps
	if f.Edits+f.Nothing+f.LeftOut == 0 {
		return ""
	}
	text := fmt.Sprintf("%d brought edits, %d nothing, %d left out", f.Edits, f.Nothing, f.LeftOut)
	if f.End {
		text += "; they are left out now, and tried again in every tenth scene"
	}
	return text
}

func (s *status) modelAndEndpoint() string {
	switch s.Endpoint {
	case "":
		return "none has been found yet"
	case offlineEndpoint:
		return s.Model + ", the offline model"
	}
	return s.Model + " at " + s.Endpoint
}

func (s *status) entries() string {
	counts := make([]string, len(statuses))
	for i, status := range statuses {
		counts[i] = fmt.Sprintf("%d %s", s.Entries[status], status)
	}
	return strings.Join(counts, ", ") + "; " + annotator.Quantity(s.Revisions, "revision")
}

// quotes counts the quotations; empty if there are none.
func (s *status) quotes() string {
	q := s.Quotes
	var text string
	switch {
	case q.Total == 0:
		return ""
	case q.Weak == 0:
		text = fmt.Sprintf("%d, none weak", q.Total)
	default:
		text = fmt.Sprintf("%d, %d weak (%d %%): they lack words of their fact", q.Total, q.Weak,
			annotator.Percent(q.Weak, q.Total))
	}
	if q.Former > 0 {
		text += fmt.Sprintf("; %d of text that the source no longer has: `annotator review` asks about them", q.Former)
	}
	return text
}

func (s *status) average() string {
	a := &s.PerScene
	number := func(n float64) string { return shortNumber(int(n)) }
	uncached := ""
	if a.Uncached != nil {
		uncached = " (" + number(*a.Uncached) + " uncached)"
	}
	text := fmt.Sprintf("%.1f calls, %s tokens in%s, %s out", a.Calls, number(a.Prompt), uncached, number(a.Completion))
	if a.Seconds > 0 { // known after two scenes
		text += ", " + duration(seconds(a.Seconds))
	}
	return text
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (s *status) printQuarantined(w io.Writer) {
	if len(s.Quarantined) == 0 {
		return
	}
	const shown = 20
	rows := [][]string{{"quarantined"}}
	for _, q := range s.Quarantined[:min(len(s.Quarantined), shown)] {
		rows = append(rows, []string{
			q.Place, shorten(q.Reason, 160),
		})
	}
	if more := len(s.Quarantined) - shown; more > 0 {
		rows = append(rows, []string{fmt.Sprintf("and %d more; --json lists all", more)})
	}
	fmt.Fprintln(w)
	printTable(w, rows)
	fmt.Fprintf(w, "\nretry them with: annotator retry --db %s\n", quoted(s.Database))
}

// compactions returns the number of compactions by tier, with the average tokens before and after.
func (s *status) compactions() string {
	var tiers []string
	for _, t := range s.ByTier {
		tiers = append(tiers, fmt.Sprintf("tier %s: %d, from %d to %d tokens", t.Tier, t.Count, t.Before, t.After))
	}
	if len(tiers) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%s)", s.Compactions, strings.Join(tiers, "; "))
}

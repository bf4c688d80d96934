package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"annotator/model/doctor"
)

// doctorView shows people an examination while it is made: a line a check, and below what can be done.
type doctorView struct {
	*app
	quiet  bool // it is printed as JSON, when it is over
	colour bool
	width  int // columns of the terminal; 0: lines may be as long as they are

	skipped []doctor.Finding // not shown yet: where many have one reason, they have one line
}

// The columns before what was seen, with the blanks behind them.
const (
	stateColumn = 9
	checkColumn = 25
	tookColumn  = 8
)

func (v *doctorView) open(address, wire string) {
	if v.quiet {
		return
	}
	if v.isTerminal(v.out) {
		v.colour = v.getenv("NO_COLOR") == ""
		v.width = cmp.Or(terminalWidth(v.out), 80)
	}
	fmt.Fprintf(v.out, "%s, wire %s\n\n", oneLine(address), wire)
}

// mostSeen is how much of what a server says is shown, in characters.
const mostSeen = 300

func (v *doctorView) finding(f *doctor.Finding) {
	if v.quiet {
		return
	}
	if len(v.skipped) > 0 && (f.State != doctor.Skipped || f.Seen != v.skipped[0].Seen) {
		v.flush()
	}
	if f.State == doctor.Skipped {
		v.skipped = append(v.skipped, *f)
		return
	}
	v.line(f)
}

// flush shows what was skipped.
func (v *doctorView) flush() {
	const few = 2
	if len(v.skipped) > few {
		v.skipped = []doctor.Finding{{Check: count(len(v.skipped), "check"), State: doctor.Skipped, Seen: v.skipped[0].Seen}}
	}
	for i := range v.skipped {
		v.line(&v.skipped[i])
	}
	v.skipped = nil
}

func (v *doctorView) line(f *doctor.Finding) {
	took := ""
	if f.Took >= time.Millisecond {
		took = span(f.Took)
	}
	head := v.coloured(f.State) + fmt.Sprintf("%*s%-*s%*s  ", stateColumn-len(f.State), "", checkColumn, f.Check, tookColumn-2, took)
	seen := v.wrapped(shortened(f.Seen, mostSeen), stateColumn+checkColumn+tookColumn)
	if strings.HasPrefix(seen, "\n") {
		head = strings.TrimRight(head, " ")
	}
	fmt.Fprintln(v.out, head+seen)
}

func (v *doctorView) coloured(s doctor.State) string {
	code := map[doctor.State]string{doctor.OK: "32", doctor.Missing: "33", doctor.Failed: "31"}[s]
	if !v.colour || code == "" {
		return string(s)
	}
	return "\x1b[" + code + "m" + string(s) + "\x1b[0m"
}

// wrapped breaks a text that begins in a column so that it stays in it. Where little room is left beside the column, it begins on
// a line of its own.
func (v *doctorView) wrapped(text string, column int) string {
	const leastRoom, shallow = 30, 4
	if v.width == 0 || column+columns(text) < v.width {
		return text
	}
	before := ""
	if v.width-column < leastRoom {
		column = shallow
		before = "\n" + strings.Repeat(" ", column)
	}
	return before + strings.Join(broken(text, max(v.width-column-1, leastRoom)), "\n"+strings.Repeat(" ", column))
}

// close tells what can be done, and what follows of it all.
func (v *doctorView) close(r *doctor.Report) error {
	v.flush()
	for _, remedy := range r.Remedies {
		fmt.Fprintln(v.out)
		fmt.Fprintln(v.out, v.wrapped(fmt.Sprintf("To mend %s: %s.", strings.Join(remedy.Checks, ", "), remedy.Does), 0))
		for _, start := range remedy.Starts {
			fmt.Fprintf(v.out, "  %-11s%s\n", start.Server, v.wrapped(start.With, 13))
		}
	}
	absent := 0
	for i := range r.Findings {
		if r.Findings[i].State == doctor.Missing {
			absent++
		}
	}
	if !r.Works() {
		return nil // the error tells
	}
	verdict := "a run would work"
	if absent > 0 {
		verdict += ", without " + count(absent, "thing") + " that it could use"
	}
	_, err := fmt.Fprintf(v.out, "\n%s: %s\n", oneLine(r.Model), verdict)
	return err
}

// diagnosis is an examination as `doctor --json` prints it. It only ever gains fields.
type diagnosis struct {
	Endpoint string            `json:"endpoint"`
	Wire     string            `json:"wire"`
	Model    string            `json:"model"`
	Server   string            `json:"server"` // empty where it was not recognised
	Version  string            `json:"version"`
	Works    bool              `json:"works"` // a run would
	Checks   []diagnosedCheck  `json:"checks"`
	Remedies []diagnosedRemedy `json:"remedies"`
}

type diagnosedCheck struct {
	Check   string       `json:"check"`
	State   doctor.State `json:"state"`
	Seen    string       `json:"seen"`
	Seconds float64      `json:"seconds"`
}

type diagnosedRemedy struct {
	Does   string           `json:"does"`
	Checks []string         `json:"checks"`
	Start  []diagnosedStart `json:"start"`
}

type diagnosedStart struct {
	Server string `json:"server"`
	With   string `json:"with"`
}

func newDiagnosis(address, wire string, r *doctor.Report) *diagnosis {
	d := &diagnosis{
		Endpoint: address, Wire: wire, Model: r.Model, Server: r.Server.Name, Version: r.Server.Version, Works: r.Works(),
		Checks: []diagnosedCheck{}, Remedies: []diagnosedRemedy{},
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		d.Checks = append(d.Checks, diagnosedCheck{f.Check, f.State, f.Seen, f.Took.Seconds()})
	}
	for _, remedy := range r.Remedies {
		shown := diagnosedRemedy{Does: remedy.Does, Checks: remedy.Checks, Start: []diagnosedStart{}}
		for _, start := range remedy.Starts {
			shown.Start = append(shown.Start, diagnosedStart(start))
		}
		d.Remedies = append(d.Remedies, shown)
	}
	return d
}

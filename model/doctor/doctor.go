// Package doctor examines an endpoint before a run: whether it answers, calls tools, keeps the whole prompt and counts
// tokens. For what is missing, it names the options with which the server must be started. It sends the requests of a
// run, through the same client.
//
// A check that is made has one of three results: ok, missing or failed. A run works without what is missing, at a cost
// that the finding names. No run works if a check failed. The checks are one table, in order: later ones build on
// earlier ones.
package doctor

import (
	"context"
	"time"

	"annotator"
	"annotator/budget"
	"annotator/model"
	"annotator/model/endpoint"
)

// Endpoint is the endpoint to be examined, with the settings and texts of a run.
type Endpoint struct {
	Wire     model.Wire
	WireName string           // as --wire has it
	Beside   *endpoint.Client // for other URLs of the server; nil if it has none
	Keyed    bool             // an API key is sent

	Model       string         // empty: the first that is listed
	Budget      budget.Budget  // of a run, by its settings
	Contexts    map[string]int // tokens that models take, as configured
	Temperature float64
	Stream      bool

	System string // the system prompt of a run
	Scene  string // as a run shows one
	Tools  []annotator.ToolDefinition

	// Prefix returns the tokens of system prompt and tools. The tokens per character are those of the counted prompt,
	// or estimated if that is nil.
	Prefix func(counted *annotator.Call) int

	// Measure returns the characters of a run's prompt with these messages. They are recorded with a request that has a
	// whole conversation, and its token count improves later estimates. If nil, they are not recorded. See
	// annotator.Call.
	Measure func([]annotator.Message) [4]int

	Timeout  time.Duration    // for each check; 0: those of the client alone
	Now      func() time.Time // for measuring
	Begun    bool             // the run has earlier replies, so the form of the tools must not change
	Measured bool             // the parts that the template renders are known
}

// State is the result of a check.
type State string

// The states.
const (
	OK      State = "ok"
	Missing State = "missing" // a run works without it
	Failed  State = "failed"  // no run works
	Skipped State = "skipped" // the check could not be made, or does not apply
)

// Finding is the result of one check.
type Finding struct {
	Check string
	State State
	Seen  string        // a description on one line; may contain text of the server
	Took  time.Duration // by all requests of the check

	Reason annotator.Reason // for advice; may be empty

	remedy remedy // empty if the state is OK or nothing helps
}

// Report is the result of an examination.
type Report struct {
	Model    string // that was examined; empty where none was found
	Server   Server // as far as it was recognised
	Findings []Finding
	Remedies []Remedy // for what is missing or has failed, in the order of the findings

	Capabilities *model.Capabilities // as a run learns them
}

// Works reports whether a run would work.
func (r *Report) Works() bool {
	for i := range r.Findings {
		if r.Findings[i].State == Failed {
			return false
		}
	}
	return true
}

// Preflight makes the checks that decide whether a run can begin, through the client of the run. The client waits for a
// server that is loading, records each request, and keeps what it learns. The error is the client's and stops the run.
func Preflight(ctx context.Context, p *Endpoint, client *model.Client) (findings []Finding, err error) {
	e := &examination{Endpoint: p, stream: p.Stream, client: client, stage: answered}
	for i := range checks {
		if !checks[i].decides {
			continue
		}
		f := e.check(ctx, &checks[i])
		if e.err != nil {
			return findings, e.err
		}
		findings = append(findings, f)
		if f.State == Failed {
			break
		}
	}
	return findings, nil
}

// Remedy describes what helps; empty if nothing does.
func (f *Finding) Remedy() string { return string(f.remedy) }

// Examine makes all checks. It passes each finding to found, on the goroutine of the caller. If the context ends, it
// returns its error, and a report with the findings so far.
func Examine(ctx context.Context, p *Endpoint, found func(*Finding)) (*Report, error) {
	report := Report{Capabilities: &model.Capabilities{Budget: p.Budget}}
	e := &examination{Endpoint: p, stream: p.Stream, client: &model.Client{
		Wire: p.Wire, Model: p.Model, Policy: new(model.Policy), Capabilities: report.Capabilities,
	}}
	for i := range checks {
		f := e.check(ctx, &checks[i])
		if ctx.Err() != nil {
			return &report, ctx.Err()
		}
		report.Findings = append(report.Findings, f)
		found(&f)
	}
	report.Model, report.Server = e.client.Model, e.server
	report.Remedies = e.server.remedies(report.Findings)
	return &report, nil
}

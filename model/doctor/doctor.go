// Package doctor examines an endpoint before a run: whether it answers, calls tools, keeps the whole prompt and counts
// tokens, and what its server has to be started with where something is missing. It sends what a run sends, through the
// same client.
//
// A check has one of three results: ok; missing, which a run does without, at a cost that the finding names; or failed,
// with which no run would work. The checks are one table, in order: later ones build on earlier ones.
package doctor

import (
	"context"
	"time"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
)

// Endpoint is what is examined, with what a run would send.
type Endpoint struct {
	Wire     model.Wire
	WireName string           // as --wire has it
	Beside   *endpoint.Client // the same endpoint, for other addresses of the server; nil where there are none
	Keyed    bool             // an API key is sent

	Model string // empty: the first that is listed
	// Budget returns the tokens of prompt and reply together that a run takes of a model with so many; 0: it is not
	// known.
	Budget      func(context int) int
	Contexts    map[string]int // tokens that models take, as configured
	MaxTokens   int            // of a reply
	Temperature float64
	Stream      bool

	System string // the system prompt of a run
	Scene  string // as a run shows one
	Tools  []annotator.ToolDefinition

	// Fits tells why no run would begin with so many tokens of context, 0: the budget. The error is nil where one
	// would. A prompt that the server has counted tells how many tokens its characters are; nil: that is estimated. A
	// run judges that by itself.
	Fits func(context int, counted *annotator.Call) error

	// Measure returns the characters of a run's prompt with these messages, for the record of the one that shows a
	// whole conversation: estimates learn from its count. Nil: it is recorded without. See annotator.Call.
	Measure func([]annotator.Message) [4]int

	Timeout  time.Duration    // for each check; 0: those of the client alone
	Now      func() time.Time // for measuring
	Begun    bool             // requests of the run were answered before: the tools are not marked otherwise
	Measured bool             // what the template renders is known
}

// State is the result of a check.
type State string

// The states.
const (
	OK      State = "ok"
	Missing State = "missing" // a run does without
	Failed  State = "failed"  // a run would not work
	Skipped State = "skipped" // the check could not be made, or does not apply
)

// Finding is what one check found.
type Finding struct {
	Check string
	State State
	Seen  string        // in words, on one line; with text of the server as it came
	Took  time.Duration // by all requests of the check

	Reason annotator.Reason // from which a program makes advice; may be empty

	remedy remedy // what would help, where the state is not OK
}

// Report is the result of an examination.
type Report struct {
	Model    string // that was examined; empty where none was found
	Server   Server // as far as it was recognised
	Findings []Finding
	Remedies []Remedy // for what is missing or has failed, in the order of the findings

	Capabilities *model.Capabilities // as a run would learn them
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

// Preflight makes the checks that decide whether a run can begin, through the client of the run: it waits for a server
// that is loading, records each request, and keeps what is learned. The error is the client's, for which the run stops.
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

// Remedy is what would help, in words; empty where there is nothing.
func (f *Finding) Remedy() string { return string(f.remedy) }

// Examine makes all checks. It passes each finding to found, on the goroutine of the caller. The error is that of the
// context, where it has ended; the report then holds the findings so far.
func Examine(ctx context.Context, p *Endpoint, found func(*Finding)) (*Report, error) {
	report := Report{Capabilities: new(model.Capabilities)}
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

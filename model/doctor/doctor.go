// Package doctor examines an endpoint before a run does: whether it answers, calls tools, keeps what it is told, counts tokens,
// and what its server has to be started with where something is missing. It asks what a run asks, over the run's own wire.
//
// What is found is one of three: it works; it is missing, and a run does without, at a cost that is told; or it has failed, and
// a run would not work. The checks are one table, in the order in which they are made, for later ones build on earlier ones.
package doctor

import (
	"context"
	"time"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
)

// Endpoint is what is examined, with what a run would ask of it.
type Endpoint struct {
	Wire     model.Wire
	WireName string           // as --wire has it
	Beside   *endpoint.Client // the same endpoint, for what stands beside the wire; nil where nothing does
	Keyed    bool             // a key is sent

	Model       string         // empty: the first that is listed
	Budget      int            // tokens of prompt and reply together, as configured
	Contexts    map[string]int // tokens that models take, as configured
	MinContext  int            // tokens of context below which no run begins
	MaxTokens   int            // of a reply
	Temperature float64
	Stream      bool

	System string // the system prompt of a run
	Scene  string // as a run shows one
	Tools  []annotator.ToolDefinition

	Timeout time.Duration    // for each check
	Now     func() time.Time // for measuring
}

// State says how a check ended.
type State string

// The states.
const (
	OK      State = "ok"
	Missing State = "missing" // a run does without
	Failed  State = "failed"  // a run would not work
	Skipped State = "skipped" // it could not be looked for, or there is no such thing here
)

// Finding is what one check found.
type Finding struct {
	Check string
	State State
	Seen  string        // in words, on one line; what a server said is in it as it came
	Took  time.Duration // all requests together

	remedy remedy
}

// Report is an examination.
type Report struct {
	Model    string // the one that was asked; empty where none was found
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

// Examine makes all checks. Each finding is told as it is made, on the caller's goroutine. The error is that of the context,
// where it has ended; the report holds what was found until then.
func Examine(ctx context.Context, p *Endpoint, tell func(*Finding)) (*Report, error) {
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
		tell(&f)
	}
	report.Model, report.Server = e.client.Model, e.server
	report.Remedies = e.server.remedies(report.Findings)
	return &report, nil
}

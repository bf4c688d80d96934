// Package runner is the machine that reads a story. The table of transitions is annotator.Transitions. From it, step
// reads the next state for the event of a state's handler. Each handler has a file, named after its state. Handlers
// decide what happens, storage records what happened, and a resumed run depends on the record alone.
package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"annotator"
	"annotator/budget"
	"annotator/codex"
	"annotator/context/compaction"
	"annotator/context/prompt"
	"annotator/context/tokens"
	"annotator/corpus"
	"annotator/curator"
	"annotator/model"
	"annotator/policy"
	"annotator/runner/entries"
	"annotator/storage"
	"annotator/tools"
)

// Config is the configuration of a run.
type Config struct {
	Identity prompt.Identity
	Kinds    []string // of entries that the codex may have, as tags; nil: all
	// Fields are those that the user wants entries to have; nil: none.
	Fields []codex.UserField
	// Seed is the entries that the run begins with, an operation of annotator.DeedSeed; nil: none.
	Seed     *annotator.Operation
	Endpoint string // as the user named it
	Model    string // as the endpoint names it; empty: the first that the endpoint lists
	// tokens of prompt and reply together; 0: those that the run began with, at first by the model's context
	ContextBudget      int
	MaxContext         map[string]int     // by model: its context in tokens, if that is less than the endpoint says
	MaxTokens          int                // of a reply; 0: by the context budget
	SafetyMargin       int                // tokens that stay free after the reply
	Margins            map[string]int     // by model, in place of SafetyMargin
	HighWater          map[string]float64 // by model, in place of Compaction.High
	TokenRatio         map[string]float64 // by model: see tokens.Counter
	Compaction         compaction.Policy
	NoThreadSummaries  bool // do not have threads summarised at their end
	SummaryTokens      int  // of the reply with a summary
	SummonTokens       int  // of a snapshot's answer
	SummonQuestions    int  // to snapshots, for each scene
	Curator            curator.Settings
	RelevantShare      float64 // share of the context budget for the entries that a scene names
	Temperature        float64
	SummaryTemperature float64
	Stream             bool
	Governance         policy.Level
	Policy             *policy.Policy `json:"-"`
	EditCap            int            // destructive edits for each scene, under any policy
	ToolRounds         int            // replies with tool calls, for each scene
	Preflight          bool           // test the server with a short conversation before the first scene
	StrictModel        bool           // halt if another model answers than the one asked
	SceneBytes         int            // a longer run of posts is split
	Limit              int            // scenes to read in this run; 0: all
	Bounds             Bounds
	Accept             map[string]bool // changes that the user has agreed to: model, prompt, counts
	Retry              model.Policy

	// Advise completes an error for people by what to do next. The run records, publishes and returns errors so. Nil:
	// as they are.
	Advise func(error) error `json:"-"`
}

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{
		Identity:     prompt.Defaults(),
		SafetyMargin: 512, RelevantShare: 0.15,
		Compaction: compaction.Auto(), SummaryTokens: 1_500, SummaryTemperature: 0.3, SummonTokens: 1_024,
		SummonQuestions: 6,
		Curator:         curator.Settings{Prompt: curator.Shared, Batch: 16, MaxTokens: 256, Temperature: 0.3},
		Temperature:     0.4, Stream: true, Governance: policy.Off, Policy: policy.Default(), EditCap: 24,
		ToolRounds: 10,
		SceneBytes: 48_000, Retry: model.DefaultPolicy(),
	}
}

// Runner reads one story.
type Runner struct {
	reading

	// Turn is called before each scene, and waits until the story may go on. Nil: at once.
	Turn func(context.Context) error

	bus         Publisher
	interrupt   chan struct{} // closed by Stop
	stopOnce    sync.Once
	progress    progress
	failures    failures
	failure     error            // for which the machine halts
	bound       *annotator.Error // that the run has reached; nil: none
	warnedOfWAL bool
	changesWait bool // a scene is open, and the source may have changed
	yieldKnown  bool // it needs no further check
}

// progress counts scenes.
type progress struct {
	total  int // of the story
	done   int // in this run and before
	read   int // in this run
	resume int // number of the scene that a former process left open; 0 for none
}

// New returns a runner over an open store and corpus.
func New(
	config Config, store *storage.DB, source *corpus.DB, wire model.Wire, registry *tools.Registry, bus Publisher,
) *Runner {
	r := &Runner{bus: bus, interrupt: make(chan struct{})}
	r.session = session{
		Store: store, config: config, corpus: source, tools: registry, names: entries.NewNames(store, source),
		publish: r.publishNotice,
	}
	r.Client = &model.Client{
		Wire: wire, Endpoint: config.Endpoint, Model: config.Model, Policy: &r.config.Retry,
		Capabilities: &model.Capabilities{Budget: budget.Budget{
			MaxReply: config.MaxTokens,
			Margin:   config.SafetyMargin,
		}},
		Recorder: store.Calls, Notify: r.publish, Now: time.Now, Random: rand.Float64, Interrupt: r.interrupt,
		Estimate:     EstimateReply,
		IgnoreCounts: config.Accept["counts"], StrictModel: config.StrictModel, OnAdapt: r.recordWorkarounds,
	}
	r.window = r.newWindow()
	return r
}

// EstimateReply estimates the tokens of a reply. See model.Client.
func EstimateReply(reply *model.Reply) int {
	estimate := tokens.Estimate(reply.Text) + tokens.Estimate(reply.Reasoning)
	for i := range reply.Calls {
		estimate += tokens.Estimate(reply.Calls[i].Arguments) + tokens.PerCall
	}
	return estimate
}

// Stop ends the run after the checkpoint of the present scene. It does not wait for that. It may be called from any
// goroutine, and more than once.
func (r *Runner) Stop() { r.stopOnce.Do(func() { close(r.interrupt) }) }

// stopped reports whether Stop was called.
func (r *Runner) stopped() bool {
	select {
	case <-r.interrupt:
		return true
	default:
		return false
	}
}

// Run reads the story until its end, the limit, a call of Stop, or a failure. A nil error means that every scene was
// recorded. Otherwise the kind of the error says how the run ended. NoCalls: finished, but no reply of the whole run
// made a call. Quarantined: finished, but scenes were refused. Bounded, Interrupted, or the kind of the failure. A
// cancelled context ends the run at once. In each case the next run resumes.
func (r *Runner) Run(ctx context.Context) error {
	r.publish(annotator.Notice{Kind: annotator.NoticeStart})
	defer r.stopInTime()()
	r.Store.OnWait = r.warnOfReaders
	state := annotator.StateInit
	for state != annotator.StateExit {
		next, err := r.step(ctx, state)
		if err != nil {
			return err
		}
		state = next
	}
	return r.finish()
}

// step runs the handler of a state and looks up the next state. An error of the handler is the event that it failed.
func (r *Runner) step(ctx context.Context, state annotator.State) (annotator.State, error) {
	r.Store.State = state
	event, err := handlers()[state](r, ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // not where the handler has noticed it
	}
	if err != nil {
		r.failure, event = err, annotator.EventFailed
	}
	next, ok := annotator.Next(state, event)
	if !ok {
		return "", fmt.Errorf("the table has no transition from %s at %q: %w", state, event, r.failure)
	}
	r.publish(annotator.Notice{Kind: annotator.NoticeTransition, State: state, Event: event, Next: next})
	return next, nil
}

// handlers returns the handler of each state. EXIT has none.
func handlers() map[annotator.State]func(*Runner, context.Context) (annotator.Event, error) {
	return map[annotator.State]func(*Runner, context.Context) (annotator.Event, error){
		annotator.StateInit:       (*Runner).initial,
		annotator.StateIdle:       (*Runner).idle,
		annotator.StateNoMore:     (*Runner).noMore,
		annotator.StateCompacting: (*Runner).compacting,
		annotator.StatePreparing:  (*Runner).preparing,
		annotator.StateCalling:    (*Runner).calling,
		annotator.StateRetrying:   (*Runner).retrying,
		annotator.StateHalting:    (*Runner).halting,
		annotator.StateProcessing: (*Runner).processing,
		annotator.StateToolExec:   (*Runner).toolExec,
		annotator.StateParsing:    (*Runner).parsing,
		annotator.StateRecording:  (*Runner).recording,
		annotator.StateBoundary:   (*Runner).boundary,
		annotator.StateCurating:   (*Runner).curating,
		annotator.StateCheckpoint: (*Runner).checkpoint,
	}
}

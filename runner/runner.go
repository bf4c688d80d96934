// Package runner is the machine that walks a story: step.go runs the table of transitions, and each state has a handler in a
// file of its own. Handlers decide what happens; storage keeps what happened.
package runner

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"annotator"
	"annotator/context/compaction"
	"annotator/context/mention"
	"annotator/context/prompt"
	"annotator/context/window"
	"annotator/corpus"
	"annotator/curator"
	"annotator/model"
	"annotator/policy"
	"annotator/storage"
	"annotator/tools"
)

// Config is what a run can be told.
type Config struct {
	Identity           prompt.Identity
	Endpoint           string         // as the user knows it; for the record
	Model              string         // as the endpoint knows it; empty: the first that the endpoint lists
	ContextBudget      int            // tokens of prompt and reply together
	MaxContext         map[string]int // by model: the most tokens that it takes, where that is less than the endpoint says
	MaxTokens          int            // of a reply
	SafetyMargin       int            // tokens kept free beside the reply
	Compaction         compaction.Policy
	SummaryTokens      int // of a summary's reply
	SummonTokens       int // of a summoned snapshot's answer
	SummonQuestions    int // that a scene may ask of snapshots
	Curator            curator.Settings
	RelevantShare      float64 // share of the context budget that relevant entries may take
	Temperature        float64
	SummaryTemperature float64
	Stream             bool
	Governance         policy.Level    // how far the policy of the tools is gone by
	Policy             *policy.Policy  `json:"-"`
	EditCap            int             // edits that take something away from the codex, a scene; whatever the policy says
	ToolRounds         int             // replies with tool calls a scene may have
	Preflight          bool            // try the server with a short conversation before the first scene
	StrictModel        bool            // halt where another model answers than the one that was asked
	SceneBytes         int             // a longer run of posts is read in parts
	Limit              int             // scenes to read in this run; 0: all
	Accept             map[string]bool // what the user has agreed to: model, prompt, counts
	Retry              model.Policy
}

// Defaults returns the configuration that is in force where nothing else is said.
func Defaults() Config {
	return Config{
		Identity:      prompt.Defaults(),
		ContextBudget: 32_768, MaxTokens: 3_072, SafetyMargin: 512, RelevantShare: 0.15,
		Compaction: compaction.Auto(), SummaryTokens: 1_500, SummaryTemperature: 0.3, SummonTokens: 1_024, SummonQuestions: 6,
		Curator:     curator.Settings{Prompt: curator.Shared, Batch: 8, MaxTokens: 256, Temperature: 0.3},
		Temperature: 0.4, Stream: true, Governance: policy.Off, Policy: policy.Default(), EditCap: 12, ToolRounds: 10, SceneBytes: 48_000, Retry: model.DefaultPolicy(),
	}
}

// Runner walks one story.
type Runner struct {
	Config Config
	Store  *storage.DB
	Corpus *corpus.DB
	Wire   model.Wire
	Tools  *tools.Registry
	Bus    Publisher
	Now    func() time.Time
	Random func() float64 // of [0, 1): the jitter of waiting

	stop         atomic.Bool
	hurry        chan struct{} // closed by Stop
	failure      error         // why the machine halts
	window       *window.Window
	names        *mention.Cache // of all live entries
	open         int            // scene to go on with
	total        int
	done         int // scenes done, in this run and before
	read         int // scenes done in this run
	failures     failures
	moved        bool               // the run goes on with another model, endpoint or prompt
	capabilities model.Capabilities // of the server, as far as they are known
	logTold      bool               // a word was given on a write-ahead log that grows
	day          *day
}

// New returns a runner over an open store and corpus.
func New(config Config, store *storage.DB, source *corpus.DB, wire model.Wire, registry *tools.Registry, bus Publisher) *Runner {
	r := &Runner{
		Config: config, Store: store, Corpus: source, Wire: wire, Tools: registry, Bus: bus,
		Now: time.Now, Random: rand.Float64, hurry: make(chan struct{}), names: mention.NewCache(store.Glossary),
	}
	r.window = r.newWindow()
	return r
}

// Stop asks the machine to end at the next quiet moment: when the open scene is checkpointed. It does not wait for that,
// and may be called from any goroutine, more than once.
func (r *Runner) Stop() {
	if r.stop.CompareAndSwap(false, true) {
		close(r.hurry)
	}
}

// Run walks the story until it is told, the limit is reached, Stop is called, or nothing more can be done. The error's
// kind says how it ended: nil, Quarantined (done, but scenes were refused), Interrupted, or what failed. A cancelled
// context ends it at once; the next run resumes.
func (r *Runner) Run(ctx context.Context) error {
	r.publish(annotator.Notice{Kind: annotator.NoticeStart})
	state := annotator.StateInit
	for state != annotator.StateExit {
		next, err := r.step(ctx, state)
		if err != nil {
			return err
		}
		state = next
	}
	return r.ending()
}

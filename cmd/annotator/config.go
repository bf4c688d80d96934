package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"annotator"
	"annotator/corpus/ingest"
	"annotator/curator"
	"annotator/model/offline"
	"annotator/policy"
	"annotator/runner"

	"github.com/spf13/pflag"
)

// offlineEndpoint is the name of the embedded model as an endpoint.
const offlineEndpoint = "offline"

// Config is all that can be configured of a run. Each field is a flag, and a key of the configuration file: the flag's name
// with underscores.
type Config struct {
	Endpoint         string
	Wire             string
	Model            string
	APIKeyFile       string
	ContextBudget    int // tokens
	ModelContext     string
	MaxTokens        int
	Compaction       string
	LowWater         string
	Temperature      float64
	Stream           bool
	Prompts          string
	CuratorPrompt    string
	CuratorBatch     int // entries
	NoCurator        bool
	SnapshotTools    bool
	Governance       string
	GovernancePolicy string
	EditCap          int
	StrictModel      bool
	Patience         time.Duration
	Format           string
	Encoding         string
	SceneTokens      int
	LogFile          string
	Events           string

	matrix *policy.Policy // of the tools; check reads it
}

// settings declares the flags, with their defaults, and returns them as a set of their own.
func (c *Config) settings() *pflag.FlagSet {
	base := runner.Defaults()
	s := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	s.SortFlags = false
	s.StringVar(&c.Endpoint, "endpoint", offlineEndpoint, "base `URL` of the model server, with its /v1; offline is the embedded model")
	s.StringVar(&c.Wire, "wire", wireAuto, "the `API` to speak with the server: "+strings.Join(wireNames(), ", ")+"; auto: the one of its address, else chat")
	s.StringVar(&c.Model, "model", "", "`NAME` of the model; empty: the first that the server lists")
	s.StringVar(&c.APIKeyFile, "api-key-file", "", "`FILE` that holds the API key")
	s.IntVar(&c.ContextBudget, "context-budget", base.ContextBudget, "`TOKENS` of prompt and reply together")
	s.StringVar(&c.ModelContext, "model-context", "", "`MODEL=TOKENS,...` that models take, where that is less than their server says")
	s.IntVar(&c.MaxTokens, "max-tokens", base.MaxTokens, "most `TOKENS` of a reply")
	s.StringVar(&c.Compaction, "compaction-preset", presetAuto, "`PRESET` by which a full window is summed up: "+presetAuto+" or "+presetMarks)
	s.StringVar(&c.LowWater, "compaction-low-water", lowAuto, "`SHARE` of the window down to which that goes, 0 to 1; auto: as the preset has it")
	s.Float64Var(&c.Temperature, "temperature", base.Temperature, "sampling temperature `T`, 0 to 2")
	s.BoolVar(&c.Stream, "stream", base.Stream, "have replies streamed")
	s.StringVar(&c.Prompts, "prompts", "", "`DIR` of files that say otherwise what the model is told; see annotator prompts")
	s.StringVar(&c.CuratorPrompt, "curator-prompt", string(base.Curator.Prompt), "the `PROMPT` that the curator is asked under: shared with the scenes, or replaced by its own")
	s.IntVar(&c.CuratorBatch, "curator-batch", base.Curator.Batch, "most `ENTRIES` that the curator is asked about at once: more cost fewer tokens, and a small model may judge fewer better")
	s.BoolVar(&c.NoCurator, "no-curator", base.Curator.Off, "have no curator judge tentative entries at the end of a thread")
	s.BoolVar(&c.SnapshotTools, "snapshot-tools", true, "let the model ask itself as it was at a snapshot; that takes about 500 tokens of its prompt")
	s.StringVar(&c.Governance, "governance", string(base.Governance), "the `LEVEL` to which a model has to declare its intent before it calls tools: off, observe (only put on record) or enforce")
	s.StringVar(&c.GovernancePolicy, "governance-policy", "", "`FILE` that says which intent permits which tools; empty: the one that annotator tools --policy prints")
	s.IntVar(&c.EditCap, "edit-cap", base.EditCap, "`EDITS` of a scene that may take something away from the codex, at most")
	s.BoolVar(&c.StrictModel, "strict-model", false, "halt where another model answers than the one that was asked")
	s.DurationVar(&c.Patience, "patience", base.Retry.Patience, "the `TIME` to wait for a server that is loading, busy or gone")
	s.StringVar(&c.Format, "format", string(ingest.Auto), "the `FORMAT` that SOURCE is written in: "+strings.Join(formatNames(), ", "))
	s.StringVar(&c.Encoding, "encoding", "", "character encoding of SOURCE, by its `NAME`; empty: found out")
	s.IntVar(&c.SceneTokens, "scene-tokens", ingest.DefaultSceneTokens, "length towards which the scenes of a book are cut, in `TOKENS`")
	s.StringVar(&c.LogFile, "log-file", "", "append a log to `FILE`, as JSON lines")
	s.StringVar(&c.Events, "events", "", "append every event to `FILE`, as JSON lines")
	return s
}

func formatNames() []string {
	names := make([]string, len(ingest.Formats()))
	for i, format := range ingest.Formats() {
		names[i] = string(format)
	}
	return names
}

// environment names the variables that stand for a setting, the first that is set first.
func environment(setting string) []string {
	switch setting {
	case "endpoint":
		return []string{"ANNOTATOR_ENDPOINT", "OPENAI_BASE_URL"}
	case "model":
		return []string{"ANNOTATOR_MODEL"}
	case keySetting:
		return []string{"ANNOTATOR_API_KEY", "OPENAI_API_KEY"}
	}
	return nil
}

// defaultOrigin says that a setting was made nowhere.
const defaultOrigin = "default"

// configure gives each setting its value: a flag's over the environment's over the file's over the default. It returns
// where each comes from.
func (a *app) configure(settings *pflag.FlagSet, file *configFile) (origins map[string]string, err error) {
	origins = map[string]string{}
	for key := range file.values {
		if settings.Lookup(flagOf(key)) == nil {
			return nil, file.unknown(key, settings)
		}
	}
	settings.VisitAll(func(f *pflag.Flag) {
		if err == nil {
			origins[f.Name], err = a.setting(f, file)
		}
	})
	return origins, err
}

// setting sets one flag that was not given, and returns where its value comes from.
func (a *app) setting(f *pflag.Flag, file *configFile) (origin string, err error) {
	if f.Changed {
		return "flag --" + f.Name, nil
	}
	for _, name := range environment(f.Name) {
		if value := a.getenv(name); value != "" {
			return "environment " + name, set(f, name, value)
		}
	}
	if value, ok := file.values[keyOf(f.Name)]; ok {
		where := fmt.Sprintf("%s:%d", file.path, value.Line)
		return "file " + where, set(f, where+": "+keyOf(f.Name), value.Value)
	}
	return defaultOrigin, nil
}

func set(f *pflag.Flag, where, value string) error {
	if f.Value.Set(value) != nil {
		return unfitValue(where, f, value)
	}
	return nil
}

func keyOf(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// flagOf also takes the form of a key that stands in a mapping of its own.
func flagOf(key string) string {
	if key == "curator.off" {
		return "no-curator"
	}
	return strings.NewReplacer("_", "-", ".", "-").Replace(key)
}

// check refuses what no run can work with. What only the endpoint or the importer can judge, they do.
func (c *Config) check() error {
	switch {
	case c.ContextBudget <= 0:
		return outOfRange("context-budget", "more than 0 tokens", c.ContextBudget)
	case c.MaxTokens <= 0:
		return outOfRange("max-tokens", "more than 0 tokens", c.MaxTokens)
	case math.IsNaN(c.Temperature) || c.Temperature < 0 || c.Temperature > 2:
		return outOfRange("temperature", "0 to 2", c.Temperature)
	case c.Patience < 0:
		return outOfRange("patience", "0 or more", c.Patience)
	case c.CuratorPrompt != string(curator.Shared) && c.CuratorPrompt != string(curator.Replaced):
		return outOfRange("curator-prompt", "shared or replaced", c.CuratorPrompt)
	case c.CuratorBatch <= 0:
		return outOfRange("curator-batch", "1 or more entries", c.CuratorBatch)
	case c.EditCap < 0:
		return outOfRange("edit-cap", "0 or more edits", c.EditCap)
	case c.SceneTokens <= 0:
		return outOfRange("scene-tokens", "more than 0 tokens", c.SceneTokens)
	}
	if err := c.checkWire(); err != nil {
		return err
	}
	_, err := c.policy()
	_, unread := c.contexts()
	matrix, ungoverned := c.readMatrix()
	c.matrix = matrix
	return cmp.Or(err, unread, ungoverned)
}

func outOfRange(setting, wants string, value any) error {
	return annotator.Errorf(annotator.Misused, "--%s takes %s, not %v", setting, wants, value)
}

// apply gives a runner what is configured.
func (c *Config) apply(r *runner.Config) {
	r.Endpoint, r.Model = c.Endpoint, c.model()
	r.ContextBudget, r.MaxTokens = c.ContextBudget, c.MaxTokens
	r.Compaction, _ = c.policy() // both are checked
	r.MaxContext, _ = c.contexts()
	r.Temperature, r.Stream = c.Temperature, c.Stream
	r.Governance, r.Policy, r.EditCap = policy.Level(c.Governance), c.matrix, c.EditCap
	r.StrictModel, r.Preflight = c.StrictModel, c.Endpoint != offlineEndpoint
	r.Retry.Patience = c.Patience
	r.Curator.Prompt, r.Curator.Batch, r.Curator.Off = curator.Prompt(c.CuratorPrompt), c.CuratorBatch, c.NoCurator
}

// model is the name of the model to ask; empty where the endpoint is to say. The embedded one has a name of its own, so that a run
// which was made with a server does not go on with it unawares.
func (c *Config) model() string {
	if c.Endpoint == offlineEndpoint {
		return cmp.Or(c.Model, offline.Name)
	}
	return c.Model
}

// settle gives a command other than run its settings, and the key to the endpoint.
func (a *app) settle(c *Config, settings *pflag.FlagSet, path string) (apiKey, error) {
	file, err := readConfig(path)
	if err != nil {
		return apiKey{}, err
	}
	origins, err := a.configure(settings, file)
	if err != nil {
		return apiKey{}, err
	}
	if err := c.check(); err != nil {
		return apiKey{}, err
	}
	return a.readKey(c, origins["api-key-file"])
}

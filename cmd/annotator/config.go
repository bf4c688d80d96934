package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"annotator"
	"annotator/codex"
	"annotator/context/compaction"
	estimate "annotator/context/tokens"
	"annotator/corpus/ingest"
	"annotator/curator"
	"annotator/model/endpoint"
	"annotator/model/offline"
	"annotator/policy"
	"annotator/runner"
	"annotator/tools"

	"github.com/spf13/pflag"
)

// Config holds the settings of a run: those of the runner, and values that check and the commands read. Each is a flag
// and a key of the configuration file.
type Config struct {
	runner.Config
	Others           []string // further endpoints
	Router           string   // of the servers; see endpoint.Routers
	LowPriority      bool     // of what is no scene
	Wire             string
	FirstToken       time.Duration // see endpoint.Options
	NextToken        time.Duration
	APIKeyFile       string
	SharedKeyFile    bool
	ModelContext     string
	ModelMargin      string
	ModelHighWater   string
	ModelTokenRatio  string
	CompactionPreset string
	Thresholds       map[string]*string // of compaction, by flag
	Prompts          string
	Guidance         string
	Schema           string
	KindList         string
	SnapshotTools    bool
	GovernancePolicy string
	Import           ingest.Options // without the sources
	Until            string         // see parseUntil
	LogFile          string
	Events           string
}

// The presets of compaction.
const (
	presetAuto  = "auto"
	presetMarks = "60-80-90"
)

// declareRouting declares the flags for what routers and servers read of a request besides its messages.
func (c *Config) declareRouting(s *pflag.FlagSet) {
	routers := append([]string{noRouter}, endpoint.Routers()...)
	wordFlag(s, &c.Router, "router", routers, noRouter, "`ROUTER` of servers behind the endpoint, which is told which "+
		"story a request is of: "+alternatives(routers)+"; some servers refuse what openai adds")
	s.BoolVar(&c.LowPriority, "low-priority", false, "send the curator's questions and summaries with a lower "+
		"priority than scenes; vLLM needs --scheduling-policy priority for it, and other servers may refuse it")
}

// declare declares the flags, with their defaults.
func (c *Config) declare(s *pflag.FlagSet) {
	c.Config = runner.Defaults()
	c.Endpoint = offlineEndpoint
	s.Var(&endpointsValue{config: c}, "endpoint",
		"base `URL` of the model server, with its /v1; offline: the offline model; run takes several, given again or "+
			"with commas between them")
	c.declareRouting(s)
	wordFlag(s, &c.Wire, "wire", wireNames[:], wireAuto, "`API` that the server speaks: "+alternatives(wireNames[:])+
		"; auto: by its address, else chat")
	s.StringVar(&c.Model, "model", "", "`NAME` of the model; empty: the first that the server lists")
	s.StringVar(&c.APIKeyFile, "api-key-file", "", "`FILE` that holds the API key")
	s.BoolVar(&c.SharedKeyFile, "shared-key-file", false, "use the API key file although other users can read it")
	countFlag(s, &c.ContextBudget, "context-budget", c.ContextBudget, 0,
		"`TOKENS` of prompt and reply together; 0: those that the run began with, at first the model's context, up to "+
			"65,536, or 32,768 where the server does not tell it")
	s.StringVar(&c.ModelContext, "model-context", "",
		"`MODEL=TOKENS,...`: context sizes of models, where they are smaller than the server says")
	countFlag(s, &c.MaxTokens, "max-tokens", c.MaxTokens, 0,
		"maximum `TOKENS` of a reply; 0: what the prompt leaves, up to a quarter of the context budget")
	wordFlag(s, &c.CompactionPreset, "compaction-preset", []string{presetAuto, presetMarks}, presetAuto,
		"`PRESET` for the compaction of a full window: "+presetAuto+" or "+presetMarks)
	c.Thresholds = thresholdFlags(s)
	countFlag(s, &c.SafetyMargin, "safety-margin", c.SafetyMargin, 0,
		"`TOKENS` of the context that stay free, because prompts are estimated")
	s.StringVar(&c.ModelMargin, "model-margin", "",
		"`MODEL=TOKENS,...`: the safety margins of models, in place of --safety-margin")
	s.StringVar(&c.ModelHighWater, "model-high-water", "",
		"`MODEL=SHARE,...`: the shares of the window at which compaction begins with models, in place of "+
			"--compaction-high-water")
	s.StringVar(&c.ModelTokenRatio, "model-token-ratio", "",
		fmt.Sprintf("`MODEL=RATIO,...`: by how much more tokens texts have with models than is assumed until "+
			"the server has counted some, %g to %g", estimate.MinRatio, estimate.MaxRatio))
	countFlag(s, &c.SummaryTokens, "summary-tokens", c.SummaryTokens, 1, "maximum `TOKENS` of the reply with a summary")
	s.Float64Var(&c.Temperature, "temperature", c.Temperature, "sampling temperature `T`, 0 to 2")
	s.BoolVar(&c.Stream, "stream", c.Stream, "stream replies")
	s.StringVar(&c.Prompts, "prompts", "", "`DIR` of files that replace parts of the prompts; see annotator prompts")
	c.scopeFlags(s)
	prompts := []string{string(curator.Shared), string(curator.Replaced)}
	wordFlag(s, (*string)(&c.Curator.Prompt), "curator-prompt", prompts, string(c.Curator.Prompt),
		"system `PROMPT` of the curator: shared with the scenes, or replaced by its own")
	countFlag(s, &c.Curator.Batch, "curator-batch", c.Curator.Batch, 1,
		"maximum `ENTRIES` in one question to the curator; larger batches cost fewer tokens, smaller ones suit "+
			"small models")
	s.BoolVar(&c.Curator.Off, "no-curator", c.Curator.Off, "do not curate tentative entries at the end of a thread")
	s.BoolVar(&c.NoThreadSummaries, "no-thread-summaries", false, "do not have threads summarised at their end")
	s.BoolVar(&c.SnapshotTools, "snapshot-tools", true,
		"give the model the tools that ask snapshots; they take about 500 tokens of the prompt")
	levels := texts(policy.Levels())
	wordFlag(s, (*string)(&c.Governance), "governance", levels, string(c.Governance),
		"`LEVEL` of intents, which the model declares before it calls tools: off, observe (record only) or enforce")
	s.StringVar(&c.GovernancePolicy, "governance-policy", "",
		"`FILE` that says which intent permits which tools; empty: what annotator tools --policy prints")
	countFlag(s, &c.EditCap, "edit-cap", c.EditCap, 0,
		"maximum `EDITS` in a scene that remove something from the codex")
	s.BoolVar(&c.StrictModel, "strict-model", false, "halt when a model other than the requested one answers")
	timeFlag(s, &c.Retry.Patience, "patience", c.Retry.Patience, 0,
		"`TIME` to wait for a server that is loading, busy or unreachable; unless it is set, an address where nothing "+
			"has answered yet is given up after a minute")
	timeFlag(s, &c.FirstToken, "first-token-timeout", endpoint.DefaultFirstToken, 1,
		"`TIME` from a request to the first token of its reply, after which the call fails and is retried")
	timeFlag(s, &c.NextToken, "token-timeout", endpoint.DefaultNextToken, 1,
		"`TIME` from one token of a reply to the next, after which the call fails and is retried")
	c.boundFlags(s)
	importFlags(s, &c.Import)
	s.StringVar(&c.LogFile, "log-file", "", "append a log to `FILE`, as JSON lines")
	s.StringVar(&c.Events, "events", "", "append every event to `FILE`, as JSON lines")

	restrict(s, "temperature", "a number from 0 to 2", nil,
		func() bool { return c.Temperature >= 0 && c.Temperature <= 2 })
}

// noRouter is the setting of a server without a router.
const noRouter = "none"

// endpointsValue is the flag of the endpoints.
type endpointsValue struct {
	config *Config
	given  bool
}

// String returns the endpoints with commas between them.
func (v *endpointsValue) String() string {
	if v.config == nil { // pflag asks a zero value
		return ""
	}
	return strings.Join(v.config.endpoints(), ",")
}

// Set takes endpoints with commas between them. Those of a second flag are added.
func (v *endpointsValue) Set(text string) error {
	var all []string
	if v.given {
		all = v.config.endpoints()
	}
	for address := range strings.SplitSeq(text, ",") {
		all = append(all, strings.TrimSpace(address))
	}
	v.given, v.config.Endpoint, v.config.Others = true, all[0], append([]string(nil), all[1:]...)
	return nil
}

// Type returns the name of the type for help.
func (v *endpointsValue) Type() string { return "string" }

// scopeFlags declares the settings that say what the codex is to hold.
func (c *Config) scopeFlags(s *pflag.FlagSet) {
	s.StringVar(&c.Guidance, "guidance", "", "`FILE` that says in your own words what the codex is to hold; it is put "+
		"into the prompt")
	s.StringVar(&c.Schema, "schema", "", "`FILE` with fields that you want entries to have, as YAML; it is put into "+
		"the prompt, and values are checked")
	s.StringVar(&c.KindList, "kinds", "", "`KIND,...`: entries of these kinds only, such as person,place; empty: all")
}

// importSettings name the settings that only matter where a story is imported.
var importSettings = [...]string{"format", "encoding", "scene-tokens", "keep", "story-author"}

// importFlags declares the settings of an import.
func importFlags(s *pflag.FlagSet, o *ingest.Options) {
	formats := texts(ingest.Formats())
	wordFlag(s, (*string)(&o.Format), "format", formats, string(ingest.Auto),
		"`FORMAT` of SOURCE: "+strings.Join(formats, ", "))
	s.StringVar(&o.Encoding, "encoding", "", "character encoding of SOURCE, by `NAME`; empty: detected")
	s.IntVar(&o.SceneTokens, "scene-tokens", ingest.DefaultSceneTokens, "target length of a book's scenes, in `TOKENS`")
	atLeast(s, &o.SceneTokens, "scene-tokens", 1)
	wordsFlag(s, &o.Keep, "keep", ingest.Parts(),
		"take in a `PART` that is left out by default: "+strings.Join(ingest.Parts(), ", "))
	s.StringSliceVar(&o.StoryAuthors, "story-author", nil,
		"`NAME`, trip code or id of the author of the story in a forum; given again, or with commas, for an "+
			"author of several; "+
			"empty: detected")
	s.Lookup("story-author").DefValue = "" // the help would show []
}

// reimportFlag declares --reimport. It is no setting: a file that was only found may not replace a corpus.
func reimportFlag(flags *pflag.FlagSet, value *bool) {
	flags.BoolVar(value, "reimport", false, "replace the corpus, whatever was imported into it")
}

// convertFlag declares --convert. It is no setting: a file that was only found may not have programs run.
func convertFlag(flags *pflag.FlagSet, value *string) {
	wordFlag(flags, value, "convert", ingest.Converters(), "",
		"installed `PROGRAM` that converts SOURCE first: "+strings.Join(ingest.Converters(), ", ")+"; empty: none")
}

// environment maps a setting to the variables that set it, in order of precedence.
func environment(setting string) []string {
	switch setting {
	case "endpoint":
		return []string{"ANNOTATOR_ENDPOINT", "OPENAI_BASE_URL"}
	case "model":
		return []string{"ANNOTATOR_MODEL"}
	case "first-token-timeout":
		return []string{"ANNOTATOR_FIRST_TOKEN_TIMEOUT"}
	case "token-timeout":
		return []string{"ANNOTATOR_TOKEN_TIMEOUT"}
	case keySetting:
		return []string{"ANNOTATOR_API_KEY", "OPENAI_API_KEY"}
	}
	return nil
}

// check parses the settings that are not plain values, and rejects invalid combinations. The endpoint and the importer
// validate the rest. Its errors are annotator.Misused.
func (c *Config) check() (err error) {
	if err = c.checkWire(); err != nil {
		return err
	}
	if c.Compaction, err = c.readCompaction(); err != nil {
		return err
	}
	if err = c.readModels(); err != nil {
		return err
	}
	if c.Kinds, err = parseKinds(c.KindList); err != nil {
		return err
	}
	if c.Fields, err = readSchema(c.Schema); err != nil {
		return err
	}
	c.Policy, err = c.readPolicy()
	return err
}

// parseKinds returns the tags of a list with commas; nil for an empty one.
func parseKinds(list string) ([]string, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	kinds, err := codex.Tags(strings.Split(list, ","))
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "--kinds %q is no list of kinds: %w", list, err).
			WithAdvice("name them with commas between them: --kinds person,place")
	}
	return kinds, nil
}

func (c *Config) readCompaction() (compaction.Policy, error) {
	p := compaction.Auto()
	if c.CompactionPreset == presetMarks {
		p = compaction.ThreeMarks()
	}
	return p, readThresholds(&p, c.Thresholds)
}

// readModels parses the settings that have a value for each model.
func (c *Config) readModels() (err error) {
	count := func(least int) func(string) (int, bool) {
		return func(text string) (int, bool) {
			n, err := strconv.Atoi(text)
			return n, err == nil && n >= least
		}
	}
	between := func(least, most float64) func(string) (float64, bool) {
		return func(text string) (float64, bool) {
			x, err := strconv.ParseFloat(text, 64)
			return x, err == nil && x >= least && x <= most
		}
	}
	if c.MaxContext, err = byModel("model-context", c.ModelContext, "TOKENS above 0", "40960", count(1)); err != nil {
		return err
	}
	if c.Margins, err = byModel("model-margin", c.ModelMargin, "TOKENS, 0 or more", "1024", count(0)); err != nil {
		return err
	}
	low := strconv.FormatFloat(c.Compaction.Low, 'g', -1, 64)
	c.HighWater, err = byModel("model-high-water", c.ModelHighWater, "a SHARE above "+low+", at most 1", "0.8",
		between(math.Nextafter(c.Compaction.Low, 1), 1))
	if err != nil {
		return err
	}
	ratios := fmt.Sprintf("a RATIO from %g to %g", estimate.MinRatio, estimate.MaxRatio)
	c.TokenRatio, err = byModel("model-token-ratio", c.ModelTokenRatio, ratios, "1.2",
		between(estimate.MinRatio, estimate.MaxRatio))
	return err
}

// byModel parses a comma-separated list of MODEL=VALUE. Errors contain accepts, which describes the values, and
// example.
func byModel[T any](flag, text, accepts, example string, read func(string) (T, bool)) (map[string]T, error) {
	values := map[string]T{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		at := strings.LastIndexByte(pair, '=')
		value, valid := read(strings.TrimSpace(pair[at+1:]))
		if at <= 0 || !valid {
			return nil, annotator.Errorf(annotator.Misused, "--%s takes MODEL=VALUE with %s, not %q", flag,
				accepts, pair).
				WithAdvice("as in: --%s qwen3-32b=%s", flag, example)
		}
		values[strings.TrimSpace(pair[:at])] = value
	}
	return values, nil
}

// readPolicy reads the policy of the tools: the file that is named, else the default policy.
func (c *Config) readPolicy() (*policy.Policy, error) {
	if c.GovernancePolicy == "" {
		return policy.Default(), nil
	}
	text, _, err := readPrefix(c.GovernancePolicy, policy.MaxBytes+1)
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "read the policy: %w", err).
			WithAdvice("name a file with --governance-policy")
	}
	p, err := policy.Parse(c.GovernancePolicy, text, toolNames())
	if err != nil {
		return nil, err
	}
	permitsWriting := func(t tools.Tool) bool {
		return t.Permission == tools.Writes &&
			p.Permits(policy.Annotate, t.Name)
	}
	if !slices.ContainsFunc(c.allTools(), permitsWriting) {
		return nil, annotator.Errorf(annotator.Misused, "%s permits no tool that writes, so no entry could be made",
			c.GovernancePolicy).
			WithAdvice("list %s under an intent of the mode annotate; `annotator tools --policy` prints a policy to "+
				"start from", tools.CreateName)
	}
	return p, nil
}

func toolNames() (names []string) {
	for _, tool := range tools.All() {
		names = append(names, tool.Name)
	}
	return names
}

// tools returns the tools that the model is given.
func (c *Config) tools() []tools.Tool {
	if c.Governance == policy.Off {
		return c.allTools()
	}
	return tools.WithPolicy(c.Policy, c.allTools())
}

func (c *Config) allTools() []tools.Tool {
	if c.SnapshotTools {
		return tools.All()
	}
	return tools.Standard()
}

// withheld names the tools that no intent permits. The model is not given them.
func (c *Config) withheld() (names []string) {
	for _, tool := range c.allTools() {
		if c.Governance != policy.Off && !c.Policy.Permits(policy.Annotate, tool.Name) {
			names = append(names, tool.Name)
		}
	}
	return names
}

// runner returns the configuration of a runner. The offline model has its own name, so that it does not silently
// continue the run of a server's model.
func (c *Config) runner() runner.Config {
	r := c.Config
	if r.Endpoint == offlineEndpoint {
		r.Model = offline.Name // it has no other
	}
	r.Preflight, r.Advise = r.Endpoint != offlineEndpoint, advise
	return r
}

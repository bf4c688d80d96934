package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"annotator"
	"annotator/context/prompt"
	"annotator/context/window"
	"annotator/model/doctor"
	"annotator/model/endpoint"
	"annotator/runner"
	"annotator/tools"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// doctorOptions are what `annotator doctor` is told.
type doctorOptions struct {
	*app
	config     Config
	configPath string
	timeout    time.Duration
	json       bool
}

func newDoctor(a *app) *cobra.Command {
	o := &doctorOptions{app: a}
	settings := o.config.settings()
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine an endpoint: what a run needs of it, and what is missing",
		Long: described(`
Examine an endpoint before a run depends on it: whether it can be reached, takes the key, lists its models, answers, streams,
calls tools, keeps the system prompt and the start of a long prompt, and reports tokens and what it had in its cache. It is asked
about fifteen times, with what a run would ask, and no database is needed.

Each check ends as ok, as missing, which a run does without, or as failed: then no run would work. What the server would have to
be started with stands below. The endpoint and other settings come from where run has them.`,
			exitMisused, exitInterrupted),
		Example: `  annotator doctor --endpoint http://localhost:8000/v1
  annotator doctor --endpoint http://localhost:11434/v1 --model qwen3:32b
  annotator doctor --json | jq '.checks[] | select(.state != "ok")'`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return untilSignal(cmd.Context(), func(ctx context.Context) error { return o.run(ctx, settings) })
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	configFlag(flags, &o.configPath)
	flags.DurationVar(&o.timeout, "timeout", 3*time.Minute, "the `TIME` that a check may take: a server may have to load its model first")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	settingFlags(flags, settings, "endpoint", "wire", "model", "api-key-file", "context-budget", "model-context", "max-tokens", "temperature", "stream", "prompts")
	return cmd
}

func (o *doctorOptions) run(ctx context.Context, settings *pflag.FlagSet) error {
	patient, err := o.patient(settings)
	if err != nil {
		return err
	}
	view := &doctorView{app: o.app, quiet: o.json}
	view.open(withoutSecrets(o.config.Endpoint), patient.WireName)
	report, err := doctor.Examine(ctx, patient, view.finding)
	if err != nil {
		return err
	}
	if o.json {
		err = o.printJSON(newDiagnosis(withoutSecrets(o.config.Endpoint), patient.WireName, report))
	} else {
		err = view.close(report)
	}
	if err != nil || report.Works() {
		return err
	}
	return annotator.Errorf(annotator.Misused, "a run would not work with this endpoint: %s", strings.Join(failures(report), ", "))
}

func failures(report *doctor.Report) (names []string) {
	for i := range report.Findings {
		if f := &report.Findings[i]; f.State == doctor.Failed {
			names = append(names, f.Check)
		}
	}
	return names
}

// patient is the endpoint with what a run would ask of it.
func (o *doctorOptions) patient(settings *pflag.FlagSet) (*doctor.Endpoint, error) {
	key, err := o.settle(&o.config, settings, o.configPath)
	if err != nil {
		return nil, err
	}
	if o.timeout <= 0 {
		return nil, outOfRange("timeout", "more than 0", o.timeout)
	}
	if key.warning != "" {
		fmt.Fprintln(o.err, oneLine(key.warning))
	}
	identity, err := loadPrompts(o.config.Prompts)
	if err != nil {
		return nil, err
	}
	registry, err := tools.New(tools.Standard()...)
	if err != nil {
		return nil, err
	}
	p := &doctor.Endpoint{
		WireName: o.config.wire(), Keyed: key.value != "", Model: o.config.Model, Budget: o.config.ContextBudget, MaxTokens: o.config.MaxTokens,
		Temperature: o.config.Temperature, Stream: o.config.Stream,
		System: prompt.Compose(identity, prompt.Runtime{Title: "The Lamp on the Quay"}), Scene: prompt.Scene(sampleScene()),
		Tools: registry.Definitions(), Timeout: o.timeout, Now: o.now,
	}
	p.Contexts, _ = o.config.contexts() // they are checked
	if p.MinContext, err = o.leastContext(p.System); err != nil {
		return nil, err
	}
	if p.Wire, err = o.config.connect(key); err != nil {
		return nil, err
	}
	p.Beside, err = o.beside(key)
	return p, err
}

// leastContext is how many tokens of context a run needs to begin.
func (o *doctorOptions) leastContext(system string) (int, error) {
	registry, err := tools.New(o.config.tools()...)
	if err != nil {
		return 0, err
	}
	record, err := tools.EncodeDefinitions(registry.Definitions())
	frame := prompt.Size(system, record).Tokens()
	return o.config.MaxTokens + runner.Defaults().SafetyMargin + frame + window.MinScene, err
}

// beside is the endpoint for what stands beside its API, such as its version.
func (o *doctorOptions) beside(key apiKey) (*endpoint.Client, error) {
	suffix := map[string]string{wireChat: "/chat/completions", wireResponses: "/responses", wireAnthropic: "/messages"}[o.config.wire()]
	return endpoint.New(o.config.dial(key), endpoint.API{Example: "http://localhost:8000/v1", Suffix: suffix, Header: endpoint.Bearer})
}

// sampleScene is a scene with names in it that any model would note.
func sampleScene() *annotator.Scene {
	posts := []string{
		"Captain Ysolde Marrow of the Mere Watch walked down to Gallows Quay as the lamp was lit. \"The Heron is late,\" she said.",
		"Old Tam Fennick, who kept the lamp, had not slept since the Heron sailed. He gave Captain Marrow the brass key of the Tidehouse.",
	}
	scene := &annotator.Scene{N: 1, Thread: annotator.Thread{ID: 1, Title: "The Lamp on the Quay", Order: 1}, Opens: true, Ends: true}
	for i, body := range posts {
		scene.Posts = append(scene.Posts, annotator.Post{ID: int64(i + 1), Thread: 1, Name: "Narrator", Time: int64(i + 1), Body: body})
	}
	return scene
}

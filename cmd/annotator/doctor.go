package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"annotator"
	"annotator/budget"
	"annotator/context/prompt"
	"annotator/context/window"
	"annotator/model/doctor"
	"annotator/tools"

	"github.com/spf13/cobra"
)

// doctorOptions are the options of `annotator doctor`.
type doctorOptions struct {
	*app
	*settings
	timeout time.Duration
	json    bool
	explain bool
}

func newDoctor(a *app) *cobra.Command {
	o := &doctorOptions{app: a, settings: newSettings()}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether an endpoint supports a run",
		Long: longHelp(`
Check an endpoint before a run depends on it: whether it can be reached, accepts the key, lists its models, answers,
streams, calls tools, keeps the system prompt and the start of a long prompt, and reports token counts and cache use.
The command sends about thirty requests like those of a run, most of them short. It needs no database.

Without an endpoint, the command also lists the models of servers that it finds on the usual ports of this machine.

The result of each check is ok, missing (a run does without it) or failed (no run would work). Options to start the
server with are listed below the checks. The endpoint and the other settings come from the same places as those of run.

With --explain, nothing is checked: the command prints how vLLM, llama.cpp, SGLang, Ollama and LM Studio are started so
that they support a run, with the parsers of the model that --model names or the endpoint lists, and says what of it was
tried and what is from documentation.`,
			exitMisused, exitInterrupted),
		Example: `  annotator doctor --endpoint http://localhost:8000/v1
  annotator doctor --endpoint http://localhost:11434/v1 --model qwen3:32b
  annotator doctor --explain --model qwen3-32b
  annotator doctor --json | jq '.checks[] | select(.state != "ok")'`,
	}
	flags := cmd.Flags()
	timeFlag(flags, &o.timeout, "timeout", 3*time.Minute, 1,
		"maximum `TIME` of a check; a server may have to load its model first")
	jsonFlag(flags, &o.json)
	flags.BoolVar(&o.explain, "explain", false, "print how servers are started for the model, and check nothing")
	o.addTo(flags, "endpoint", "wire", "model", "api-key-file", "shared-key-file", "context-budget", "model-context",
		"max-tokens", "temperature", "stream", "prompts", "guidance", "kinds")
	return untilSignalled(cmd, func(ctx context.Context, _ []string) error {
		if o.explain {
			return o.explainServers(ctx)
		}
		return o.run(ctx)
	})
}

func (o *doctorOptions) run(ctx context.Context) error {
	target, err := o.target()
	if err != nil {
		return err
	}
	address := withoutSecrets(o.Endpoint)
	view := o.newDoctorView()
	servers := o.unnamedServers(ctx, o.app)
	printServers(view.out, servers)
	fmt.Fprintf(view.out, "%s, wire %s\n\n", oneLine(address), target.WireName)
	report, err := doctor.Examine(ctx, target, view.finding)
	if err != nil {
		return err
	}
	if view.close(report); o.json {
		err = o.printJSON(newDiagnosis(address, target.WireName, servers, report))
	}
	if err != nil || report.Works() {
		return err
	}
	return annotator.Errorf(annotator.Misused, "a run would not work with this endpoint: %s",
		strings.Join(checksIn(report, doctor.Failed), ", ")).
		WithAdvice("mend what the failed checks have seen; `annotator doctor --explain` shows how servers are started")
}

// checksIn names the checks that ended in a state.
func checksIn(report *doctor.Report, state doctor.State) (names []string) {
	for i := range report.Findings {
		if f := &report.Findings[i]; f.State == state {
			names = append(names, f.Check)
		}
	}
	return names
}

// target returns the endpoint, and what a run would send to it.
func (o *doctorOptions) target() (*doctor.Endpoint, error) {
	if err := o.load(o.app); err != nil {
		return nil, err
	}
	if o.key.warning != "" {
		o.say(o.key.warning)
	}
	config := o.runner()
	var err error
	if config.Identity, err = o.loadPrompts(); err != nil {
		return nil, err
	}
	registry, err := tools.New(o.tools()...)
	if err != nil {
		return nil, err
	}
	p := &doctor.Endpoint{
		WireName: o.wire(), Keyed: o.key.value != "", Model: o.Model,
		Budget:      o.budget(),
		Temperature: o.Temperature, Stream: o.Stream, Contexts: o.MaxContext,
		System: config.SystemPrompt("The Lamp on the Quay"), Scene: prompt.Scene(sampleScene()),
		Tools: registry.Definitions(), Timeout: o.timeout, Now: o.now,
	}
	prefix := window.NewPrefix(p.System, tools.EncodeDefinitions(p.Tools), nil)
	p.Measure, p.Prefix = prefix.Measure, prefix.CountedBy
	if p.Wire, err = o.newWire(); err != nil {
		return nil, err
	}
	p.Beside, err = o.serverClient()
	return p, err
}

// budget returns the budget of a run before it knows the server's context.
func (o *doctorOptions) budget() budget.Budget {
	return budget.Budget{Wanted: o.ContextBudget, MaxReply: o.MaxTokens, Margin: o.SafetyMargin}
}

// sampleScene returns a scene with names for the glossary.
func sampleScene() *annotator.Scene {
	posts := []string{
		"Captain Ysolde Marrow of the Mere Watch walked down to Gallows Quay as the lamp was lit. \"The Heron is " +
			"late,\" she said.",
		"Old Tam Fennick, who kept the lamp, had not slept since the Heron sailed. He gave Captain Marrow the " +
			"brass key of the Tidehouse.",
	}
	scene := &annotator.Scene{
		N: 1, Thread: annotator.Thread{ID: 1, Title: "The Lamp on the Quay", Order: 1},
		Opens: true, Ends: true,
	}
	for i, body := range posts {
		scene.Posts = append(scene.Posts, annotator.Post{
			ID: int64(i + 1), Thread: 1, Name: "Narrator",
			Time: int64(i + 1), Body: body,
		})
	}
	return scene
}

// doctorView prints a line for each check as it ends, and the remedies at the end.
type doctorView struct {
	out     io.Writer
	colour  bool
	width   int              // columns of the terminal; 0 is unlimited
	skipped []doctor.Finding // not printed yet: several with the same reason share a line
}

// newDoctorView returns a view on standard output; with --json, one that discards its output.
func (o *doctorOptions) newDoctorView() *doctorView {
	if o.json {
		return &doctorView{out: io.Discard}
	}
	return &doctorView{
		out: o.out, colour: o.isTerminal(o.out) && o.getenv("NO_COLOR") == "",
		width: terminalWidth(o.out),
	}
}

func (v *doctorView) finding(f *doctor.Finding) {
	if len(v.skipped) > 0 && (f.State != doctor.Skipped || f.Seen != v.skipped[0].Seen) {
		v.flush()
	}
	if f.State == doctor.Skipped {
		v.skipped = append(v.skipped, *f)
		return
	}
	v.line(f)
}

// flush prints the skipped checks.
func (v *doctorView) flush() {
	if len(v.skipped) > 2 {
		v.skipped = []doctor.Finding{{
			Check: annotator.Quantity(len(v.skipped), "check"), State: doctor.Skipped,
			Seen: v.skipped[0].Seen,
		}}
	}
	for i := range v.skipped {
		v.line(&v.skipped[i])
	}
	v.skipped = nil
}

// findingText returns the text of a finding with advice.
func findingText(f *doctor.Finding) string {
	if text := advice(f.Reason, nil); text != "" {
		return f.Seen + "; " + text
	}
	return f.Seen
}

func (v *doctorView) line(f *doctor.Finding) {
	took := ""
	if f.Took >= time.Millisecond {
		took = duration(f.Took)
	}
	line := hangingIndent(fmt.Sprintf("%-9s%-25s%6s  ", f.State, f.Check, took), shorten(findingText(f), 300), v.width)
	if code := map[doctor.State]string{doctor.OK: "32", doctor.Missing: "33", doctor.Failed: "31"}[f.State]; v.colour &&
		code != "" {
		state := string(f.State)
		line = "\x1b[" + code + "m" + state + "\x1b[0m" + strings.TrimPrefix(line, state)
	}
	fmt.Fprintln(v.out, line)
}

// close prints the remedies and the conclusion.
func (v *doctorView) close(r *doctor.Report) {
	v.flush()
	for _, remedy := range r.Remedies {
		fmt.Fprintln(v.out, "\n"+hangingIndent("", fmt.Sprintf("To fix %s: %s.", strings.Join(remedy.Checks, ", "),
			remedy.Does), v.width))
		for _, start := range remedy.Starts {
			fmt.Fprintln(v.out, hangingIndent(fmt.Sprintf("  %-11s", start.Server), start.With, v.width))
		}
	}
	if !r.Works() {
		return // the error says so
	}
	conclusion := "a run would work"
	if missing := len(checksIn(r, doctor.Missing)); missing > 0 {
		conclusion += ", without " + annotator.Quantity(missing, "optional capability")
	}
	fmt.Fprintf(v.out, "\n%s: %s\n", oneLine(r.Model), conclusion)
}

// diagnosis is what `doctor --json` prints. Fields are only ever added.
type diagnosis struct {
	Endpoint string           `json:"endpoint"`
	Wire     string           `json:"wire"`
	Model    string           `json:"model"`
	Server   string           `json:"server"` // empty if it was not recognised
	Version  string           `json:"version"`
	Works    bool             `json:"works"` // whether a run would work
	Checks   []diagnosedCheck `json:"checks"`
	Remedies []doctor.Remedy  `json:"remedies"`
	Servers  []localServer    `json:"servers"` // on this machine, where no endpoint is named
}

type diagnosedCheck struct {
	Check   string       `json:"check"`
	State   doctor.State `json:"state"`
	Seen    string       `json:"seen"`
	Seconds float64      `json:"seconds"`
}

func newDiagnosis(address, wire string, servers []localServer, r *doctor.Report) *diagnosis {
	d := &diagnosis{
		Endpoint: address, Wire: wire, Model: r.Model, Server: r.Server.Name, Version: r.Server.Version,
		Works:  r.Works(),
		Checks: []diagnosedCheck{}, Servers: append([]localServer{}, servers...),
		Remedies: append([]doctor.Remedy{}, r.Remedies...),
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		d.Checks = append(d.Checks, diagnosedCheck{f.Check, f.State, findingText(f), f.Took.Seconds()})
	}
	for i := range d.Remedies {
		d.Remedies[i].Starts = append([]doctor.Start{}, d.Remedies[i].Starts...) // an empty list, not null
	}
	return d
}

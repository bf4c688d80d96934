package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"annotator"
	"annotator/runner/notify"

	"github.com/spf13/pflag"
)

// hookTimeout is how long a command may take that reports an event.
const hookTimeout = time.Minute

// hooks are commands of the user that report events of a run. A shell runs them. What happened is in the environment
// and on standard input, so no text of the story or of a server is part of a command.
type hooks struct {
	onHalt       string // empty: none
	onQuarantine string // empty: none

	mu      sync.Mutex     // one command runs at a time
	running sync.WaitGroup // the commands that run or wait
}

func (h *hooks) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&h.onHalt, "on-halt", "",
		"run this `COMMAND` when the run halts or ends by an error; what happened is in its environment and input")
	flags.StringVar(&h.onQuarantine, "on-quarantine", "",
		"run this `COMMAND` for each scene that is quarantined, likewise")
}

// happening is what a command is told, as JSON on its standard input. Fields are only ever added.
type happening struct {
	Event    string `json:"event"` // halt or quarantine
	Story    string `json:"story"` // the source
	Database string `json:"database"`
	Scene    int    `json:"scene"`       // 0 for none
	Status   int    `json:"exit_status"` // of a halt; else 0
	Reason   string `json:"reason"`
}

// environment returns that of a command: that of this process, without keys, and what happened.
func (e *happening) environment() []string {
	all := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == "ANNOTATOR_API_KEY" || name == "OPENAI_API_KEY"
	})
	for _, variable := range [][2]string{
		{"EVENT", e.Event},
		{"STORY", e.Story},
		{"DATABASE", e.Database},
		{"SCENE", strconv.Itoa(e.Scene)},
		{"EXIT_STATUS", strconv.Itoa(e.Status)},
		{"REASON", e.Reason},
	} {
		all = append(all, "ANNOTATOR_RUN_"+variable[0]+"="+strings.ReplaceAll(variable[1], "\x00", ""))
	}
	return all
}

// call runs a command in the background. Its failure is said, and does not change how the run ends.
func (h *hooks) call(command string, e happening, say func(string)) {
	h.running.Go(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), hookTimeout)
		defer cancel()
		if err := e.report(ctx, command); err != nil {
			say(oneLine("the command for a " + e.Event + " failed: " + err.Error()))
		}
	})
}

// report runs a command. The error has the first of what it printed.
func (e *happening) report(ctx context.Context, command string) error {
	input, err := json.Marshal(e)
	if err != nil {
		return err
	}
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/C"}
	}
	var printed bytes.Buffer
	cmd := exec.CommandContext(ctx, shell[0], shell[1], command)
	cmd.Env, cmd.Stdin = e.environment(), bytes.NewReader(append(input, '\n'))
	cmd.Stdout, cmd.Stderr = &printed, &printed
	cmd.WaitDelay = time.Second // a process that it started may keep the output open
	if err := cmd.Run(); err != nil {
		return annotator.Errorf(annotator.Storage, "%w: %s", err, shorten(printed.String(), 200))
	}
	return nil
}

// reportQuarantines reports scenes that are quarantined.
func (o *runOptions) reportQuarantines() {
	if o.hooks.onQuarantine == "" {
		return
	}
	o.bus.Subscribe(notify.Subscriber{Notice: func(n annotator.Notice) {
		if n.Kind == annotator.NoticeScene && n.Reason != "" {
			e := o.happening("quarantine", n.Reason)
			e.Scene = n.Scene
			o.hooks.call(o.hooks.onQuarantine, e, o.tell)
		}
	}})
}

// reportHalt reports a run that has halted, or has ended by an internal error.
func (o *runOptions) reportHalt(err error) {
	status := exitStatus(systemFailure(advise(err)))
	if o.hooks.onHalt == "" || status != exitHalted && status != exitInternal {
		return
	}
	e := o.happening("halt", err.Error())
	e.Scene, e.Status = int(o.progress.scene.Load()), status
	o.hooks.call(o.hooks.onHalt, e, o.tell)
}

func (o *runOptions) happening(event, reason string) happening {
	return happening{
		Event: event, Story: o.source, Database: o.databasePath(), Reason: oneLine(reason),
	}
}

// tell prints a message above the progress line, also in a quiet run.
func (o *runOptions) tell(text string) {
	if o.quiet {
		o.say(text)
		return
	}
	o.progress.say(text)
}

// heartbeatInterval is the time between two notices that a run is alive.
const heartbeatInterval = time.Minute

// beat publishes at an interval that the run is alive, with its progress.
func (o *runOptions) beat() (stop func()) {
	var newest atomic.Pointer[annotator.Notice]
	o.bus.Subscribe(notify.Subscriber{Notice: func(n annotator.Notice) { newest.Store(&n) }})
	return every(heartbeatInterval, func() {
		if n := newest.Load(); n != nil && n.Kind != annotator.NoticeEnd {
			o.bus.Publish(annotator.Notice{
				Kind: annotator.NoticeAlive, Time: o.now(), Scene: n.Scene, Turn: n.Turn, Done: n.Done, Total: n.Total,
			})
		}
	})
}

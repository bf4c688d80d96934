package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"annotator/fleet/store"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
)

// frontend answers heartbeats.
type frontend struct {
	answer atomic.Pointer[error]
	beats  atomic.Int64
	last   atomic.Pointer[progress]

	told  sync.Mutex
	steps []progress // that the workflow was told
	fails bool       // the next time
}

func (f *frontend) RecordActivityHeartbeat(_ context.Context, _ []byte, details ...any) error {
	f.beats.Add(1)
	f.last.Store(details[0].(*progress))
	if err := f.answer.Load(); err != nil {
		return *err
	}
	return nil
}

func (f *frontend) SignalWorkflow(_ context.Context, _, _, signal string, arg any) error {
	f.told.Lock()
	defer f.told.Unlock()
	if signal != progressTold || f.fails {
		f.fails = false
		return errors.New("not now")
	}
	f.steps = append(f.steps, *arg.(*progress))
	return nil
}

func (f *frontend) say(err error) { f.answer.Store(&err) }

// quietSuite logs nothing.
func quietSuite() *testsuite.WorkflowTestSuite {
	suite := new(testsuite.WorkflowTestSuite)
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	return suite
}

// attempts is a worker of an engine that a test is.
type attempts struct {
	*engine
	*frontend
	t   *testing.T
	env *testsuite.TestActivityEnvironment
}

func newAttempts(t *testing.T, name, program string) *attempts {
	t.Helper()
	s, err := store.Open(t.Context(), "s3://fleet/test", 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	ctx, halt := context.WithCancelCause(t.Context())
	a := &attempts{frontend: new(frontend), t: t, env: quietSuite().NewTestActivityEnvironment()}
	a.engine = &engine{client: a.frontend, ctx: ctx, halt: halt, worker: &worker{
		store: s, dir: filepath.Join(t.TempDir(), name), program: program, name: name,
		grace: time.Minute, look: 200 * time.Millisecond,
	}}
	if err := os.Mkdir(a.worker.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	a.env.RegisterActivityWithOptions(a.read, activity.RegisterOptions{Name: readActivity})
	a.env.SetTestTimeout(time.Minute)
	return a
}

// attempt runs the activity.
func (a *attempts) attempt(story string) (p progress, err error) {
	value, err := a.env.ExecuteActivity(readActivity, story)
	if err == nil {
		err = value.Get(&p)
	}
	return p, err
}

// within waits for something to be true.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in a minute it was not true that %s", what)
		}
	}
}

// sayAfter has the engine say something once the story has gone on after a scene, unless it is stopped before.
func (a *attempts) sayAfter(scene int, order error) (stop func()) {
	stopped := make(chan struct{})
	go func() {
		for p := a.last.Load(); p == nil || p.Scene <= scene; p = a.last.Load() {
			select {
			case <-stopped:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
		a.say(order)
	}()
	return func() { close(stopped) }
}

func (a *attempts) manifest(story string) store.Manifest {
	a.t.Helper()
	m, _, err := a.worker.store.Read(a.t.Context(), story)
	if err != nil {
		a.t.Fatal(err)
	}
	return m
}

// codex is what the store has of a story.
func (a *attempts) codex(story string) string {
	a.t.Helper()
	db := filepath.Join(a.t.TempDir(), "got.db")
	if err := get(a.t.Context(), a.worker.store, story, db); err != nil {
		a.t.Fatal(err)
	}
	return export(a.t, db)
}

// added has the store have a story, and returns its codex.
func added(t *testing.T, name string, chapters int) (codex string) {
	t.Helper()
	source := story(t, name, chapters)
	if out, status := fleet(t, "store", "add", source); status != 0 {
		t.Fatal(out)
	}
	return undisturbed(t, source)
}

// TestOrders has the engine cancel, pause and reset an attempt: each time the scene is finished, a copy is uploaded,
// and the story is free. At last the engine does not answer, and then knows nothing of the attempt. That one reads to
// the end.
func TestOrders(t *testing.T) {
	serve(t)
	want := added(t, "a.txt", 160)
	a := newAttempts(t, "one", filepath.Join(programs, "annotator"))
	seen := 0
	for _, order := range []error{temporal.NewCanceledError(), activity.ErrActivityPaused, activity.ErrActivityReset} {
		a.say(nil)
		a.last.Store(nil)
		stop := a.sayAfter(seen, order)
		_, err := a.attempt("a.txt")
		stop()
		if temporal.IsCanceledError(order) != temporal.IsCanceledError(err) || err == nil {
			t.Errorf("after %v the attempt ends with %v", order, err)
		}
		m := a.manifest("a.txt")
		if m.State != store.Free || m.Scene <= seen || len(m.Abandoned) > 0 {
			t.Errorf("after %v the manifest is %+v", order, m)
		}
		seen = m.Scene
	}
	a.tells, a.fails = true, true
	a.say(serviceerror.NewUnavailable("away"))
	stop := a.sayAfter(seen, serviceerror.NewNotFound("no such attempt"))
	p, err := a.attempt("a.txt")
	stop()
	if err != nil || p.Scene != p.Scenes || p.Fence != 4 || a.codex("a.txt") != want {
		t.Errorf("the story ends with %+v: %v", p, err)
	}
	if err := context.Cause(a.ctx); err != nil {
		t.Errorf("the worker halts: %v", err)
	}
	if len(a.steps) < 2 || len(a.steps) > attributeSteps+1 {
		t.Errorf("the workflow was told of progress %d times", len(a.steps))
	}
	for i, p := range a.steps {
		if p.Endpoint != "offline" || p.Worker != "one" || i > 0 && p.Scene <= a.steps[i-1].Scene {
			t.Errorf("the workflow is told of %+v", p)
		}
	}
}

// TestTwoAttempts has two workers try the same story at once.
func TestTwoAttempts(t *testing.T) {
	serve(t)
	want := added(t, "a.txt", 120)
	one := newAttempts(t, "one", filepath.Join(programs, "annotator"))
	two := newAttempts(t, "two", filepath.Join(programs, "annotator"))
	ended := make(chan error, 1)
	go func() {
		_, err := one.attempt("a.txt")
		ended <- err
	}()
	within(t, "the first has the story", func() bool { return one.manifest("a.txt").State == store.Held })
	_, err := two.attempt("a.txt")
	if held := (*temporal.ApplicationError)(nil); !errors.As(err, &held) || held.NextRetryDelay() != 3*time.Second {
		t.Errorf("the second attempt ends with %v", err)
	}
	if err := one.worker.store.Release(t.Context(), "a.txt"); err != nil { // by a person
		t.Fatal(err)
	}
	if p, err := two.attempt("a.txt"); err != nil || p.Worker != "two" || p.Scene != p.Scenes {
		t.Errorf("the attempt of the second worker ends with %+v: %v", p, err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), store.ErrLost.Error()) {
		t.Errorf("the first attempt ends with %v", err)
	}
	if two.codex("a.txt") != want {
		t.Error("the codex is not that of an undisturbed run")
	}
	if p, err := one.attempt("a.txt"); err != nil || p.Worker != "two" {
		t.Errorf("an attempt after the end has %+v: %v", p, err)
	}
}

// TestAbandonedStory has a program that halts, under the workflow. Each time the worker ends, too.
func TestAbandonedStory(t *testing.T) {
	serve(t)
	added(t, "a.txt", 1)
	program := filepath.Join(t.TempDir(), "annotator")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho no model answers >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := newAttempts(t, "one", program)
	var halted []error
	a.halt = func(err error) { halted = append(halted, err) } // and another worker tries
	env := quietSuite().NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.RegisterActivityWithOptions(a.read, activity.RegisterOptions{Name: readActivity})
	env.ExecuteWorkflow(readStory, task{Story: "a.txt", TTL: a.worker.store.TTL})
	failed := (*temporal.ApplicationError)(nil)
	if err := env.GetWorkflowError(); !errors.As(err, &failed) || failed.Type() != failedType ||
		strings.Count(failed.Message(), "no model answers") != 5 {
		t.Errorf("the story ends with %v", err)
	}
	if len(halted) != 5 || exitStatus(halted[0]) != exitHalted {
		t.Errorf("workers end with %v", halted)
	}
}

// TestPartWorkflows has the workflow of a story in parts read them, and then join them.
func TestPartWorkflows(t *testing.T) {
	for _, c := range []struct {
		name   string
		orders orderTimes
		waits  bool   // an attempt waits until it is stopped, the first time
		fails  string // a part that fails
		starts []string
		ends   string
	}{
		{"undisturbed", nil, false, "", []string{"a", "a/part1of2", "a/part2of2"}, ""},
		{"a part fails", nil, false, "a/part1of2", []string{"a/part1of2", "a/part2of2"}, "reasons"},
		{
			"drained and resumed", orderTimes{1: "drain", 5: "resume"}, true, "",
			[]string{"a", "a/part1of2", "a/part1of2", "a/part2of2", "a/part2of2"}, "",
		},
		{"cancelled", orderTimes{1: "cancel"}, true, "", []string{"a/part1of2", "a/part2of2"}, "canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := quietSuite().NewTestWorkflowEnvironment()
			env.SetTestTimeout(time.Minute)
			var lock sync.Mutex
			var started []string
			env.RegisterActivityWithOptions(func(ctx context.Context, story string) (progress, error) {
				lock.Lock()
				waits := c.waits && story != "a" && !slices.Contains(started, story)
				started = append(started, story)
				lock.Unlock()
				if story == c.fails {
					return progress{}, temporal.NewNonRetryableApplicationError("reasons", failedType, nil)
				}
				for waits && ctx.Err() == nil {
					activity.RecordHeartbeat(ctx)
					time.Sleep(time.Millisecond)
				}
				if waits {
					return progress{}, temporal.NewCanceledError()
				}
				return progress{Scene: len(story), Scenes: 10}, nil
			}, activity.RegisterOptions{Name: readActivity})
			env.RegisterWorkflowWithOptions(readStory, workflow.RegisterOptions{Name: storyWorkflow})
			env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: "s3://x/a"})
			check := func(part *workflow.Info, _ workflow.Context, _ converter.EncodedValues) {
				if id := part.WorkflowExecution.ID; id != "s3://x/a/"+part.TaskQueueName {
					t.Errorf("part %s is in queue %s", id, part.TaskQueueName)
				}
			}
			env.SetOnChildWorkflowStartedListener(check)
			giveOrders(env, c.orders)
			env.ExecuteWorkflow(storyWorkflow, task{
				Story: "a", TTL: 90 * time.Second, Parts: []string{"part1of2", "part2of2"},
			})
			err := env.GetWorkflowError()
			var end progress
			if err == nil {
				err = env.GetWorkflowResult(&end)
			}
			slices.Sort(started)
			if (err == nil) != (c.ends == "") || err != nil && !strings.Contains(err.Error(), c.ends) ||
				err == nil && end.Scene != 1 || !slices.Equal(started, c.starts) {
				t.Errorf("%q, %+v, %v", started, end, err)
			}
			if c.ends == "canceled" && !temporal.IsCanceledError(err) {
				t.Errorf("a cancelled story ends with %v", err)
			}
		})
	}
}

// orderTimes has a command for each of some moments.
type orderTimes map[time.Duration]string

// TestStoryWorkflow has stories that are drained, resumed and cancelled. What an attempt does is written as one letter.
func TestStoryWorkflow(t *testing.T) {
	for _, c := range []struct {
		name     string
		orders   orderTimes
		attempts string // each: e ends, a again, f fails, s is stopped, l is lost when it is to stop
		ends     string
	}{
		{"undisturbed", nil, "e", ""},
		{"attempts are repeated", nil, "aaaaaaae", ""},
		{"a story has failed", nil, "af", "reasons"},
		{"drained and resumed", orderTimes{1: "drain", 5: "resume"}, "se", ""},
		{"drained twice", orderTimes{1: "drain", 2: "drain", 5: "resume", 6: "drain", 9: "resume"}, "sse", ""},
		{"resumed at once", orderTimes{1: "resume", 2: "drain", 3: "resume"}, "se", ""},
		{"its worker is lost while it is drained", orderTimes{1: "drain", 5: "resume"}, "le", ""},
		{"its worker is lost while it is cancelled", orderTimes{1: "cancel"}, "l", "canceled"},
		{"cancelled", orderTimes{1: "cancel"}, "s", "canceled"},
		{"cancelled while drained", orderTimes{1: "drain", 5: "cancel"}, "s", "canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := quietSuite().NewTestWorkflowEnvironment()
			env.SetTestTimeout(time.Minute)
			started := 0
			env.RegisterActivityWithOptions(func(ctx context.Context, story string) (progress, error) {
				started++
				switch letter := c.attempts[min(started, len(c.attempts))-1]; letter {
				case 'a':
					return progress{}, temporal.NewApplicationError("lost", "again")
				case 'f':
					return progress{}, temporal.NewNonRetryableApplicationError("reasons", failedType, nil)
				case 's', 'l':
					for ctx.Err() == nil {
						activity.RecordHeartbeat(ctx)
						time.Sleep(time.Millisecond)
					}
					if letter == 'l' {
						return progress{}, temporal.NewHeartbeatTimeoutError()
					}
					return progress{}, temporal.NewCanceledError()
				}
				return progress{Scene: 7, Scenes: 7}, nil
			}, activity.RegisterOptions{Name: readActivity})
			giveOrders(env, c.orders)
			env.ExecuteWorkflow(readStory, task{Story: "a.txt", TTL: 90 * time.Second})
			var end progress
			err := env.GetWorkflowError()
			if err == nil {
				err = env.GetWorkflowResult(&end)
			}
			if fmt.Sprint(err) != "<nil>" && (c.ends == "" || !strings.Contains(err.Error(), c.ends)) ||
				c.ends == "" && end.Scene != 7 || started != len(c.attempts) {
				t.Errorf("%d attempts, %+v, %v", started, end, err)
			}
		})
	}
}

// giveOrders gives a workflow orders, each after some times 50 ms. While an attempt runs, this is real time.
func giveOrders(env *testsuite.TestWorkflowEnvironment, orders orderTimes) {
	for after, order := range orders {
		env.RegisterDelayedCallback(func() {
			if order == "cancel" {
				env.CancelWorkflow()
			} else {
				env.SignalWorkflow(pauseSignal, order == "drain")
			}
		}, after*50*time.Millisecond)
	}
}

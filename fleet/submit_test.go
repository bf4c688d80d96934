package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"annotator/fleet/store"

	"go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/failure/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

// desk is an engine that notes what it is asked. Workflows of other stories are missing.
type desk struct {
	client.Client
	asked   strings.Builder
	missing map[string]bool // by id
	ends    error           // of each workflow
}

func (d *desk) answer(format string, id string, args ...any) error {
	if d.missing[id] {
		return serviceerror.NewNotFound("no such workflow")
	}
	fmt.Fprintf(&d.asked, format+"\n", append([]any{id}, args...)...)
	return nil
}

func (d *desk) ExecuteWorkflow(
	_ context.Context, o client.StartWorkflowOptions, _ any, args ...any,
) (client.WorkflowRun, error) {
	return nil, d.answer("start %s on %q: %v", o.ID, o.TaskQueue, args[0])
}

func (d *desk) CancelWorkflow(_ context.Context, id, _ string) error {
	return d.answer("cancel %s", id)
}

func (d *desk) SignalWorkflow(_ context.Context, id, _, signal string, arg any) error {
	return d.answer("signal %s %s %v", id, signal, arg)
}

func (d *desk) DescribeWorkflowExecution(
	_ context.Context, id, _ string,
) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return nil, d.answer("describe %s", id)
}

func (d *desk) GetWorkflow(context.Context, string, string) client.WorkflowRun {
	return ended{err: d.ends}
}

// ended is a run that has ended with an error.
type ended struct {
	client.WorkflowRun
	err error
}

func (e ended) Get(context.Context, any) error { return e.err }

// TestCommandsOfTheEngine: what each asks of the engine, and what it does about stories that the engine has not.
func TestCommandsOfTheEngine(t *testing.T) {
	serve(t)
	s, err := store.Open(t.Context(), "s3://fleet/test", 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		if err := s.Add(t.Context(), name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Cut(t.Context(), "b.txt", 2); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command string
		stories []string
		status  int
		asks    string
	}{
		{"submit", nil, exitDone, `start s3://x/a.txt on "s3://x one": {a.txt 3s []}
start s3://x/b.txt on "s3://x": {b.txt 3s [s3://x one s3://x]}
start s3://x/c.txt on "s3://x one": {c.txt 3s []}
`},
		{"submit 2", []string{"a.txt"}, exitDone, `start s3://x/a.txt on "s3://x one": {a.txt 3s [s3://x s3://x one]}
`},
		{"submit", []string{"b.txt/part1of2"}, exitMisuse, ""},
		{"drain", []string{"b.txt/part1of2"}, exitDone, "signal s3://x/b.txt/part1of2 pause true\n"},
		{"drain", nil, exitDone, "signal s3://x/a.txt pause true\nsignal s3://x/c.txt pause true\n"},
		{"resume", []string{"c.txt"}, exitDone, "signal s3://x/c.txt pause false\n"},
		{"resume", []string{"b.txt"}, exitMisuse, ""},
		{"cancel", []string{"a.txt"}, exitDone, "cancel s3://x/a.txt\n"},
		{"cancel", []string{"a.txt", "d.txt"}, exitMisuse, ""},
		{"status", []string{"b.txt"}, exitDone, ""},
	} {
		command, parts, _ := strings.Cut(c.command, " ")
		d := &desk{missing: map[string]bool{"s3://x/b.txt": command != "submit", "s3://x/b.txt/part2of2": true}}
		var out bytes.Buffer
		o := &orders{Client: d, store: s, address: "s3://x", queues: []string{"one", ""}, out: &out}
		o.parts, _ = strconv.Atoi(parts)
		if command == "status" {
			d.missing["s3://x/b.txt/part1of2"] = true
		}
		err := o.run(t.Context(), command, c.stories, false)
		if exitStatus(err) != c.status || d.asked.String() != c.asks {
			t.Errorf("%s %q: %v, asks %s", c.command, c.stories, err, &d.asked)
		}
		if line := "\tnot submitted\t0/0 scenes\t\t\t\n"; c.command == "status" &&
			out.String() != "b.txt"+line+"b.txt/part1of2"+line+"b.txt/part2of2"+line {
			t.Errorf("status prints %q", &out)
		}
	}
	failed := temporal.NewNonRetryableApplicationError("five reasons", failedType, nil)
	for _, c := range []struct {
		ends   error
		status int
		says   string
	}{
		{nil, exitDone, "nil"},
		{serviceerror.NewNotFound("no such workflow"), exitMisuse, "not submitted"},
		{temporal.NewCanceledError(), exitAgain, "cancelled"},
		{fmt.Errorf("workflow: %w", failed), exitFailed, "five reasons"},
		{errors.New("no answer"), exitHalted, "no answer"},
	} {
		o := &orders{Client: &desk{ends: c.ends}, store: s}
		err := o.wait(t.Context(), "a.txt")
		if exitStatus(err) != c.status || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("a story that ends with %v: %v", c.ends, err)
		}
	}
}

func TestStanding(t *testing.T) {
	told := progress{Scene: 3, Scenes: 9, Fence: 2, Worker: "one"}
	beat, err := converter.GetDefaultDataConverter().ToPayloads(told)
	if err != nil {
		t.Fatal(err)
	}
	memo := func(paused bool) *workflow.WorkflowExecutionInfo {
		value, err := converter.GetDefaultDataConverter().ToPayload(paused)
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]*common.Payload{pausedMemo: value}
		return &workflow.WorkflowExecutionInfo{Memo: &common.Memo{Fields: fields}}
	}
	started := enums.PENDING_ACTIVITY_STATE_STARTED
	for _, c := range []struct {
		info    *workflow.WorkflowExecutionInfo
		attempt *workflow.PendingActivityInfo
		state   string
	}{
		{&workflow.WorkflowExecutionInfo{}, nil, "queued"},
		{memo(false), nil, "queued"},
		{memo(true), nil, "drained"},
		{memo(false), &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_SCHEDULED}, "queued"},
		{memo(false), &workflow.PendingActivityInfo{State: started}, "waiting for the lease"},
		{memo(false), &workflow.PendingActivityInfo{State: started, HeartbeatDetails: beat}, "read"},
		{memo(false), &workflow.PendingActivityInfo{HeartbeatDetails: beat, Paused: true}, "paused"},
		{memo(false), &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED}, "draining"},
	} {
		var s standing
		var attempts []*workflow.PendingActivityInfo
		if c.attempt != nil {
			c.attempt.LastFailure = &failure.Failure{Message: "lost"}
			attempts = append(attempts, c.attempt)
		}
		s.running(c.info, attempts)
		if s.State != c.state || c.attempt != nil && s.Reason != "lost" ||
			c.attempt.GetHeartbeatDetails() != nil && s.progress != told {
			t.Errorf("%v, %v: %+v", c.info, c.attempt, s)
		}
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"annotator/fleet/store"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

// orders are commands to the engine about stories.
type orders struct {
	client.Client
	store   *store.Store
	address string // of the store
	queues  []string
	dealt   int // to queues
	parts   int // that each submitted story gets; 0: as the store says
	out     io.Writer
}

// id names the workflow of a story. Another store may have a story of that name.
func (o *orders) id(story string) string { return o.address + "/" + story }

// queueOf names a queue of the engine. Workers of other stores have others.
func queueOf(address, name string) string { return strings.TrimSuffix(address+" "+name, " ") }

// run does what a command says with stories; with none: with all that the store has.
func (o *orders) run(ctx context.Context, name string, given []string, asJSON bool) error {
	stories, err := o.store.Stories(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, story := range stories {
		known[story] = true
	}
	for _, name := range given {
		if story, _, _ := store.PartOf(name); !known[story] {
			return misuse("the store has no story %q", story)
		}
	}
	if len(given) > 0 {
		stories = given
	}
	for _, story := range stories {
		switch name {
		case "submit":
			err = o.submit(ctx, story)
		case "status":
			err = o.status(ctx, story, asJSON)
		case "cancel":
			err = o.CancelWorkflow(ctx, o.id(story), "")
		case "drain", "resume":
			err = o.SignalWorkflow(ctx, o.id(story), "", pauseSignal, name == "drain")
		}
		if isMissing(err) && len(given) == 0 {
			err = nil // it was not submitted, or has ended
		} else if isMissing(err) {
			err = misuse("%s is not submitted, or has ended", story)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", story, err)
		}
	}
	return nil
}

func isMissing(err error) bool {
	missing := (*serviceerror.NotFound)(nil)
	return errors.As(err, &missing)
}

func (o *orders) submit(ctx context.Context, story string) error {
	if _, part, _ := store.PartOf(story); part > 0 {
		return misuse("a part is submitted with its story")
	}
	if o.parts > 0 {
		if err := o.store.Cut(ctx, story, o.parts); err != nil {
			return err
		}
	}
	m, _, err := o.store.Read(ctx, story)
	if err != nil {
		return err
	}
	queue, t := o.deal(), task{Story: story, TTL: o.store.TTL}
	for range m.Parts {
		t.Parts = append(t.Parts, o.deal())
	}
	_, err = o.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                                       o.id(story),
		TaskQueue:                                queue,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, storyWorkflow, t)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		fmt.Fprintf(o.out, "%s\tis submitted already\n", story)
		return nil
	}
	if err == nil {
		fmt.Fprintln(o.out, story)
	}
	return err
}

// deal returns the queue whose turn it is.
func (o *orders) deal() string {
	o.dealt++
	return queueOf(o.address, o.queues[(o.dealt-1)%len(o.queues)])
}

// standing is what the engine says of a story.
type standing struct {
	Story string `json:"story"`
	State string `json:"state"`
	progress
	Attempt int32  `json:"attempt,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// status prints where a story and its parts stand.
func (o *orders) status(ctx context.Context, story string, asJSON bool) error {
	m, _, err := o.store.Read(ctx, story)
	if err != nil {
		return err
	}
	whole, err := o.standing(ctx, story, &m)
	if err != nil {
		return err
	}
	all, isJoined := []standing{whole}, whole.Scenes > 0
	for _, name := range store.Parts(story, m.Parts) {
		m, _, err := o.store.Read(ctx, name)
		if err != nil {
			return err
		}
		part, err := o.standing(ctx, name, &m)
		if err != nil {
			return err
		}
		all = append(all, part)
		if !isJoined {
			all[0].Scene += part.Scene
			all[0].Scenes += part.Scenes
		}
	}
	for i := range all {
		if err := all[i].print(o.out, asJSON); err != nil {
			return err
		}
	}
	return nil
}

func (s *standing) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(s)
	}
	_, err := fmt.Fprintf(out, "%s\t%s\t%d/%d scenes\t%s\t%s\t%s\n", s.Story, s.State, s.Scene, s.Scenes,
		printable(s.Worker), printable(s.Endpoint), printable(s.Reason))
	return err
}

// standing returns where a story or part stands. What no attempt says is as in the manifest.
func (o *orders) standing(ctx context.Context, story string, m *store.Manifest) (standing, error) {
	s := standing{Story: story, State: "not submitted"}
	d, err := o.DescribeWorkflowExecution(ctx, o.id(story), "")
	s.fromAttributes(d.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields())
	switch {
	case err == nil && d.WorkflowExecutionInfo.Status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		s.running(d.WorkflowExecutionInfo, d.PendingActivities)
		if len(d.PendingChildren) > 0 {
			s.State = "in parts"
		}
	case err == nil:
		s.State = strings.ToLower(d.WorkflowExecutionInfo.Status.String())
		s.Reason = reason(o.GetWorkflow(ctx, o.id(story), "").Get(ctx, &s.progress))
	case !isMissing(err):
		return s, err
	}
	if s.Scenes == 0 {
		s.Scene, s.Scenes = max(s.Scene, m.Scene), m.Scenes
	}
	return s, nil
}

// running says what is known of a workflow that has not ended.
func (s *standing) running(info *workflow.WorkflowExecutionInfo, attempts []*workflow.PendingActivityInfo) {
	s.State = "queued"
	paused := false
	_ = converter.GetDefaultDataConverter().FromPayload(info.GetMemo().GetFields()[pausedMemo], &paused)
	if paused {
		s.State = "drained"
	}
	for _, a := range attempts {
		s.Attempt, s.Reason = a.Attempt, a.GetLastFailure().GetMessage()
		_ = converter.GetDefaultDataConverter().FromPayloads(a.HeartbeatDetails, &s.progress)
		switch {
		case a.State == enums.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED:
			s.State = "draining"
		case a.Paused:
			s.State = "paused"
		case a.State == enums.PENDING_ACTIVITY_STATE_STARTED && s.Fence == 0:
			s.State = "waiting for the lease"
		case a.State == enums.PENDING_ACTIVITY_STATE_STARTED:
			s.State = "read"
		}
	}
}

// reason returns what was said where an error began.
func reason(err error) string {
	if failed := (*temporal.ApplicationError)(nil); errors.As(err, &failed) {
		return failed.Message()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// wait waits for the end of a story.
func (o *orders) wait(ctx context.Context, story string) error {
	err := o.GetWorkflow(ctx, o.id(story), "").Get(ctx, nil)
	switch {
	case isMissing(err):
		return misuse("%s is not submitted", story)
	case temporal.IsCanceledError(err) && ctx.Err() == nil:
		return fmt.Errorf("%w: %s was cancelled", errDrained, story)
	case temporal.IsApplicationError(err):
		return fmt.Errorf("%w: %s", errFailed, reason(err))
	}
	return err
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"annotator/fleet/store"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Names in the engine's histories: workflows that run refer to them.
const (
	storyWorkflow = "Story"
	readActivity  = "Read"
	pauseSignal   = "pause" // with true or false
	progressTold  = "progress"
	pausedMemo    = "paused"
	failedType    = "failed" // of an error
)

// task is what the workflow of a story is given.
type task struct {
	Story string        `json:"story"`
	TTL   time.Duration `json:"ttl_ns"`          // after which a worker that says nothing has lost it
	Parts []string      `json:"parts,omitempty"` // the queue of each part; empty: the story is read as one
}

// progress is what a heartbeat says of a story, and at its end the result.
type progress struct {
	Scene  int    `json:"scene"`
	Scenes int    `json:"scenes"`
	Fence  int64  `json:"fence"` // 0: another worker has the story
	Worker string `json:"worker"`
	Status int    `json:"status,omitempty"` // exit status of the run that finished the story

	Endpoint string `json:"endpoint,omitempty"` // of its model
}

// readStory is the workflow of a story, and of a part of one. Which worker has it is decided by the store; here is only
// who tries next. A story with parts is joined when they are read.
func readStory(ctx workflow.Context, t task) (end progress, err error) {
	parts := startParts(ctx, t)
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 365 * 24 * time.Hour, // the SDK wants a bound
		HeartbeatTimeout:    t.TTL,
		WaitForCancellation: true, // until the worker has uploaded a copy
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1},
	})
	paused := false
	workflow.Go(ctx, func(ctx workflow.Context) {
		for orders := workflow.GetSignalChannel(ctx, pauseSignal); ; {
			orders.Receive(ctx, &paused)
			for _, part := range parts {
				part.SignalChildWorkflow(ctx, pauseSignal, paused)
			}
		}
	})
	hasAttributes := false
	workflow.Go(ctx, func(ctx workflow.Context) {
		for told := workflow.GetSignalChannel(ctx, progressTold); ; {
			var p progress
			told.Receive(ctx, &p)
			hasAttributes = true // the worker has made sure of that
			_ = workflow.UpsertTypedSearchAttributes(ctx, p.attributes()...)
		}
	})
	if err := awaitParts(ctx, parts); err != nil {
		return end, err
	}
	for {
		if err := whilePaused(ctx, &paused); err != nil {
			return end, err
		}
		attempt, stop := workflow.WithCancel(ctx)
		reading := workflow.ExecuteActivity(attempt, readActivity, t.Story)
		if workflow.Await(ctx, func() bool { return paused || reading.IsReady() }) == nil && paused {
			stop()
		}
		err := reading.Get(ctx, &end)
		if err == nil && hasAttributes {
			_ = workflow.UpsertTypedSearchAttributes(ctx, end.attributes()...)
		}
		if failed := (*temporal.ApplicationError)(nil); err == nil || errors.As(err, &failed) && failed.NonRetryable() {
			return end, err
		}
		if ctx.Err() != nil { // otherwise it is drained, also where its worker was lost before it could say so
			return end, ctx.Err()
		}
	}
}

// startParts starts the workflows of a story's parts.
func startParts(ctx workflow.Context, t task) (started []workflow.ChildWorkflowFuture) {
	id := workflow.GetInfo(ctx).WorkflowExecution.ID
	for i, name := range store.Parts(t.Story, len(t.Parts)) {
		started = append(started, workflow.ExecuteChildWorkflow(
			workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
				WorkflowID:          id + strings.TrimPrefix(name, t.Story),
				TaskQueue:           t.Parts[i],
				WaitForCancellation: true,
				ParentClosePolicy:   enums.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
			}), storyWorkflow, task{Story: name, TTL: t.TTL}))
	}
	return started
}

// awaitParts waits for all parts, also when one has failed. The error is that of the first with one.
func awaitParts(ctx workflow.Context, parts []workflow.ChildWorkflowFuture) (err error) {
	for _, part := range parts {
		err = cmp.Or(err, part.Get(ctx, nil))
	}
	return cmp.Or(ctx.Err(), err)
}

// whilePaused waits, and has a memo say so.
func whilePaused(ctx workflow.Context, paused *bool) error {
	if !*paused {
		return nil
	}
	if err := workflow.UpsertMemo(ctx, map[string]any{pausedMemo: true}); err != nil {
		return err
	}
	if err := workflow.Await(ctx, func() bool { return !*paused }); err != nil {
		return err
	}
	return workflow.UpsertMemo(ctx, map[string]any{pausedMemo: false})
}

// engine has Temporal say which story a worker reads next.
type engine struct {
	worker *worker
	client interface {
		RecordActivityHeartbeat(ctx context.Context, token []byte, details ...any) error
		SignalWorkflow(ctx context.Context, id, run, signal string, arg any) error
	}
	tells bool            // the namespace has the search attributes
	ctx   context.Context // ends when the worker is drained
	halt  context.CancelCauseFunc
}

// serve reads the stories of a queue until the context ends, or until a run halts.
func (w *worker) serve(ctx context.Context, c client.Client, namespace, queue string) error {
	if err := w.prepare(ctx); err != nil {
		return err
	}
	refused := register(ctx, c.OperatorService(), namespace)
	if refused != nil {
		w.say("the engine takes no search attributes, and has progress from heartbeats alone: %v", refused)
	}
	ctx, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	e := &engine{worker: w, client: c, ctx: ctx, halt: halt, tells: refused == nil}
	polling := sdkworker.New(c, queue, sdkworker.Options{
		MaxConcurrentActivityExecutionSize: 1,
		WorkerStopTimeout:                  w.grace + time.Hour, // for the last copy
		OnFatalError:                       halt,
	})
	polling.RegisterWorkflowWithOptions(readStory, workflow.RegisterOptions{Name: storyWorkflow})
	polling.RegisterActivityWithOptions(e.read, activity.RegisterOptions{Name: readActivity})
	if err := polling.Start(); err != nil {
		return err
	}
	<-ctx.Done()
	polling.Stop()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return errDrained
}

// read is the activity: one attempt at a story. The engine may begin another while this one goes on, when it was away
// or has not heard of it. That attempt finds the story held. So only two things stop a run: a word of the engine that
// the story is to stop, and the loss of the lease.
func (e *engine) read(ctx context.Context, story string) (progress, error) {
	reading, drain := context.WithCancel(e.ctx)
	defer drain()
	w := *e.worker
	var at atomic.Pointer[progress]
	at.Store(&progress{Worker: w.name})
	var order atomic.Pointer[error]
	info, told := activity.GetInfo(ctx), -1
	beat := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.look)
		defer cancel()
		p := at.Load()
		if err := e.client.RecordActivityHeartbeat(ctx, info.TaskToken, p); isOrder(err) {
			order.Store(&err)
			drain()
		}
		if step := p.step(); e.tells && p.Endpoint != "" && step != told {
			id := info.WorkflowExecution
			if e.client.SignalWorkflow(ctx, id.ID, id.RunID, progressTold, p) == nil {
				told = step
			}
		}
	}
	beat()
	defer every(w.look, beat)()
	for ctx := reading; ; ctx = context.WithoutCancel(reading) { // what has ended is looked at once more
		lease, before, err := w.await(ctx, story)
		switch {
		case errors.Is(err, store.ErrFinished) && before.State == store.Done:
			return progress{
				Scene: before.Scene, Scenes: before.Scenes, Fence: before.Fence, Worker: before.Owner,
				Status: before.Status,
			}, nil
		case errors.Is(err, store.ErrFinished):
			reasons := strings.Join(before.Abandoned, "; ")
			return progress{}, temporal.NewNonRetryableApplicationError(reasons, failedType, nil)
		case err == nil:
			fence := lease.Manifest().Fence
			w.watch = func(scene, scenes int, endpoint string) {
				at.Store(&progress{Scene: scene, Scenes: scenes, Fence: fence, Worker: w.name, Endpoint: endpoint})
			}
			w.watch(before.Scene, before.Scenes, "")
			err = w.work(reading, story, lease, &before)
		}
		if err != nil {
			return progress{}, e.again(err, order.Load())
		}
	}
}

// isOrder reports whether the answer to a heartbeat is that the story is to stop. That the engine does not answer, or
// knows nothing of this attempt, is none.
func isOrder(err error) bool {
	return temporal.IsCanceledError(err) || errors.Is(err, activity.ErrActivityPaused) ||
		errors.Is(err, activity.ErrActivityReset)
}

// again says how an attempt has ended that did not end its story.
func (e *engine) again(err error, order *error) error {
	switch {
	case order != nil && temporal.IsCanceledError(*order):
		return *order
	case errors.Is(err, store.ErrHeld), errors.Is(err, store.ErrParts):
		return temporal.NewApplicationErrorWithOptions(err.Error(), "held",
			temporal.ApplicationErrorOptions{NextRetryDelay: e.worker.store.TTL})
	case e.ctx.Err() == nil && order == nil && exitStatus(err) == exitHalted:
		e.halt(err)
	}
	return temporal.NewApplicationError(err.Error(), "again")
}

// await takes a story. While another worker has it, it looks whether that one lives, which renews its lease then.
func (w *worker) await(ctx context.Context, story string) (*store.Lease, store.Manifest, error) {
	for first := int64(0); ; {
		lease, before, err := w.store.Acquire(ctx, story, w.name)
		if !errors.Is(err, store.ErrHeld) || first != 0 && before.Version != first {
			return lease, before, err
		}
		first = before.Version
		select {
		case <-ctx.Done():
			return nil, before, errDrained
		case <-time.After(w.store.TTL / 5):
		}
	}
}

// dial connects to a namespace of Temporal. That, key and certificates are those of the environment and of the files of
// its clients.
func dial(ctx context.Context, address, name string) (c client.Client, namespace string, err error) {
	settings, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return nil, "", fmt.Errorf("%w: settings of Temporal: %w", errMisuse, err)
	}
	settings.HostPort = cmp.Or(address, settings.HostPort)
	settings.Identity = name
	settings.Logger = sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr,
		&slog.HandlerOptions{Level: slog.LevelError})))
	if c, err = client.DialContext(ctx, settings); err != nil {
		return nil, "", fmt.Errorf("%w: Temporal at %s: %w", errHalted, settings.HostPort, err)
	}
	return c, cmp.Or(settings.Namespace, client.DefaultNamespace), nil
}

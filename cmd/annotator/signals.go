package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"annotator"
	"annotator/runner"
)

const (
	quitTimeout     = 900 * time.Millisecond // from the second signal until the process exits
	busCloseTimeout = 3 * time.Second        // for subscribers to read the last notices
)

// stopSignals returns the signals that stop a command cleanly. SIGHUP is one unless it is ignored, as under nohup.
func stopSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// untilSignal runs body until it returns or a signal cancels its context. The body cleans up what it leaves unfinished.
// A second signal ends the process.
func untilSignal(ctx context.Context, body func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(ctx, stopSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop)
	err := body(ctx)
	if err != nil && ctx.Err() != nil {
		return annotator.Errorf(annotator.Interrupted, "interrupted")
	}
	return err
}

// closeBus waits until the subscribers have read every notice, or the timeout has passed.
func (o *runOptions) closeBus() error {
	ctx, cancel := context.WithTimeout(context.Background(), busCloseTimeout)
	defer cancel()
	return o.bus.Close(ctx)
}

// runMachine runs the state machine, or another method of a runner. The first signal stops it after the current scene,
// the second immediately.
func (o *runOptions) runMachine(ctx context.Context, r *runner.Runner, run func(context.Context) error) error {
	defer o.beat()()
	if o.fleet != nil { // which has the signals
		defer context.AfterFunc(o.fleet.stopping, r.Stop)()
		return run(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	defer signal.Stop(signals)
	go func() {
		select {
		case <-signals:
			r.Stop()
			message := o.inScene("finishing scene %d, then stopping", "stopping") + "; interrupt again to quit at once"
			go o.progress.say(message) // a blocked terminal must not delay the second signal
		case <-ctx.Done():
			return
		}
		select {
		case <-signals:
			where := o.inScene("in scene %d", "before the first scene")
			cancel(annotator.Errorf(annotator.Interrupted, "stopped at once, %s", where).
				WithAdvice("run again to resume"))
			time.AfterFunc(quitTimeout, func() { o.exit(exitInterrupted) })
		case <-ctx.Done():
		}
	}()
	return run(ctx)
}

// inScene formats a message with the current scene. Before the first scene it returns the other message.
func (o *runOptions) inScene(format, before string) string {
	if scene := o.progress.scene.Load(); scene > 0 {
		return fmt.Sprintf(format, scene)
	}
	return before
}

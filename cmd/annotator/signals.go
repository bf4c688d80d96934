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

// grace is how long a run that is to quit at once may take for it.
const grace = 900 * time.Millisecond

// interrupts are the signals that end a command in order. The terminal's end is one, except for who has it ignored, as nohup does.
func interrupts() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// walk runs the machine. The first signal lets it finish the scene at hand, the second ends it at once.
func (o *runOptions) walk(ctx context.Context, r *runner.Runner) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, interrupts()...)
	defer signal.Stop(signals)
	go func() {
		select {
		case <-signals:
			r.Stop()
			go o.progress.say(finishing(o.bus.scene.Load())) // which may be stuck, and must not keep the second signal out
		case <-ctx.Done():
			return
		}
		select {
		case <-signals:
			cancel(annotator.Errorf(annotator.Interrupted, "%s", stopped(o.bus.scene.Load())).WithAdvice("run again to go on"))
			time.AfterFunc(grace, func() { o.exit(exitInterrupted) })
		case <-ctx.Done():
		}
	}()
	err := r.Run(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func finishing(scene int64) string {
	if scene == 0 {
		return "stopping; again to quit at once"
	}
	return fmt.Sprintf("finishing scene %d, then stopping; again to quit at once", scene)
}

func stopped(scene int64) string {
	if scene == 0 {
		return "stopped at once, before a scene was begun"
	}
	return fmt.Sprintf("stopped at once, in scene %d", scene)
}

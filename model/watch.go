package model

import (
	"context"
	"slices"
	"time"
)

// HealthChecker is implemented by a wire whose server may tell beside its API whether it can answer.
type HealthChecker interface {
	// Health asks the server. A failure is a *Fault.
	Health(ctx context.Context) error
}

// How often a server that is waited for is asked whether it is back, and how long it may take to say so.
const (
	watchInterval = 2 * time.Second
	healthTimeout = 5 * time.Second
)

// watch returns when a server is back, or when the context ends: when it answers for its health or its list of models,
// which it did not at the beginning. What is answered all along says nothing of what the wait is for. A proxy may
// answer for the health of a server that is gone, or refuse it for one that is back; a server that is loading may list
// its models.
func (c *Client) watch(ctx context.Context) {
	asked := []func(context.Context) error{func(ctx context.Context) error {
		_, err := c.Wire.Models(ctx)
		return err
	}}
	if checker, able := c.Wire.(HealthChecker); able {
		asked = append(asked, checker.Health)
	}
	asked = slices.DeleteFunc(asked, func(ask func(context.Context) error) bool { return answered(ctx, ask) })
	for len(asked) > 0 {
		select {
		case <-time.After(watchInterval):
			if slices.ContainsFunc(asked, func(ask func(context.Context) error) bool { return answered(ctx, ask) }) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
	<-ctx.Done()
}

// answered asks a server, and reports whether it answers in time.
func answered(ctx context.Context, ask func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	return ask(ctx) == nil
}

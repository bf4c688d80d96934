package model

import (
	"context"
	"slices"
	"time"
)

// HealthChecker is implemented by a wire whose server may have a health check outside its API.
type HealthChecker interface {
	// Health asks the server. A failure is a *Fault.
	Health(ctx context.Context) error
}

// The interval and the time limit of the questions whether a server is back.
const (
	watchInterval = 2 * time.Second
	healthTimeout = 5 * time.Second
)

// watch returns when a server is back, or when the context ends. A server is back if its health check or its list of
// models succeeds and failed at the beginning. A question that succeeds all along is no sign. A proxy may answer health
// checks for a server that is down, or refuse them for one that is back. A server that is loading may list its models.
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

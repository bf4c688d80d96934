package model

import (
	"context"
	"time"
)

// HealthChecker is implemented by a wire whose server may tell beside its API whether it can answer.
type HealthChecker interface {
	// Health asks the server. A failure is a *Fault. Its status is below 500 where the server does not tell.
	Health(ctx context.Context) error
}

// How often a server that is waited for is asked whether it is back, and how long it may take to say so.
const (
	watchInterval = 2 * time.Second
	healthTimeout = 5 * time.Second
)

// watch returns when a server is back, or when the context ends. Where the server already says at the beginning that it
// can answer, it says nothing of what the wait is for.
func (c *Client) watch(ctx context.Context) {
	if c.healthy(ctx) {
		<-ctx.Done()
	}
	for ctx.Err() == nil {
		select {
		case <-time.After(watchInterval):
			if c.healthy(ctx) {
				return
			}
		case <-ctx.Done():
		}
	}
}

// healthy asks a server whether it can answer. Where it does not tell, its list of models shows it.
func (c *Client) healthy(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	if checker, able := c.Wire.(HealthChecker); able {
		err := checker.Health(ctx)
		if err == nil {
			return true
		}
		if status := ClassifyTransport(err).Status; status == 0 || status >= 500 {
			return false
		}
	}
	_, err := c.Wire.Models(ctx)
	return err == nil
}

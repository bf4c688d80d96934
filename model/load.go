package model

import "context"

// Load is what a server tells of its work for all its clients. What it does not tell is 0.
type Load struct {
	Running    int // requests
	Waiting    int // requests
	PoolTokens int // of its KV cache
	Slots      int // requests that it can work on at once
	Preempted  int // requests that were put back for want of space, since its start
}

// LoadReporter is implemented by a wire whose server may tell its load outside its API.
type LoadReporter interface {
	// Load reads the load. A failure is a *Fault. Many servers do not tell it.
	Load(ctx context.Context) (Load, error)
}

package model

import (
	"context"
	"time"
)

// CacheCounts are the tokens of all prompts that a server has read since it was started, whoever sent them.
type CacheCounts struct {
	Prompt int
	Cached int // of Prompt: those that were in its prefix cache
}

// CacheCounter is implemented by a wire whose server counts so beside its API.
type CacheCounter interface {
	// CacheCounts returns the counts. A failure is a *Fault; most servers do not count.
	CacheCounts(ctx context.Context) (CacheCounts, error)
}

// countsTimeout is how long a server may take to tell its counts.
const countsTimeout = 5 * time.Second

// tellCached fills in how much of a prompt was cached, where the reply does not tell it and the server's own counts
// rose by that prompt alone since the call before.
func (c *Client) tellCached(ctx context.Context, reply *Reply) {
	counter, able := c.Wire.(CacheCounter)
	u := &reply.Usage
	if !able || !u.Exact || u.Told > 0 || c.Capabilities.NoCacheCounts {
		return
	}
	before := c.cacheCounts
	c.cacheCounts = nil
	short, cancel := context.WithTimeout(ctx, countsTimeout)
	defer cancel()
	now, err := counter.CacheCounts(short)
	if err != nil {
		c.Capabilities.NoCacheCounts = ctx.Err() == nil
		return
	}
	if c.cacheCounts = &now; before == nil {
		return
	}
	if cached := now.Cached - before.Cached; now.Prompt-before.Prompt == u.Prompt && cached >= 0 && cached <= u.Prompt {
		u.Told, u.Cached = u.Prompt, cached
	}
}

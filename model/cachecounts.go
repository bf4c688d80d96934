package model

import (
	"context"
	"time"
)

// CacheCounts counts the tokens of all prompts, of all clients, that a server has processed since its start.
type CacheCounts struct {
	Prompt int
	Cached int // those of Prompt that were in its prefix cache
}

// CacheCounter is implemented by a wire whose server may have such counters outside its API.
type CacheCounter interface {
	// CacheCounts returns the counts. A failure is a *Fault. Most servers have no such counters.
	CacheCounts(ctx context.Context) (CacheCounts, error)
}

// countsTimeout is the time limit for reading a server's counters.
const countsTimeout = 5 * time.Second

// fillCached sets the cached tokens of a prompt if the reply does not report them. They are known if the server's
// counters have grown by that prompt alone since the previous call.
func (c *Client) fillCached(ctx context.Context, reply *Reply) {
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

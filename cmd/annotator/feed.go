package main

import (
	"context"
	"sync/atomic"
	"time"

	"annotator"
)

// feed is the bus of a run, which knows the scene at hand for whoever cannot wait to be told.
type feed struct {
	annotator.Bus
	scene atomic.Int64
}

// Publish queues a notice for all subscribers.
func (f *feed) Publish(n annotator.Notice) {
	f.scene.Store(int64(n.Scene))
	f.Bus.Publish(n)
}

// hushTime is how long the end of a run waits for those who watch it.
const hushTime = 3 * time.Second

// hush ends the telling: all that was published is written down by then, unless somebody is stuck.
func (f *feed) hush() error {
	ctx, cancel := context.WithTimeout(context.Background(), hushTime)
	defer cancel()
	return f.Close(ctx)
}

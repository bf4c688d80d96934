package batch

import (
	"context"
	"hash/maphash"
	"net/http"

	"annotator"
	"annotator/model"
)

// Wire is the model.Wire of a story. It sends each request to the server that the story is at, and tells Admission what
// came of it. The servers speak the same API and have the same model. It is used by one goroutine at a time.
type Wire struct {
	model.Wire // of the first server, for what no server is asked
	place      *Place
	servers    []model.Wire
	seed       maphash.Seed
	former     prefix // of the newest request for a scene
}

var (
	_ model.Wire          = (*Wire)(nil)
	_ model.Counter       = (*Wire)(nil)
	_ model.CacheCounter  = (*Wire)(nil)
	_ model.HealthChecker = (*Wire)(nil)
)

// prefix is a request that the next one may begin with.
type prefix struct {
	stay   int // of the story at a server
	length int // of the history
	hash   uint64
	tokens int
}

// NewWire returns the wire of a story, with one of its own to each server, in the order of Admission.
func NewWire(place *Place, servers []model.Wire) *Wire {
	return &Wire{Wire: servers[0], place: place, servers: servers, seed: maphash.MakeSeed()}
}

func (w *Wire) at() model.Wire { return w.servers[w.place.Server()] }

// Complete sends a request to the story's server. See model.Wire.
func (w *Wire) Complete(ctx context.Context, r *model.Request) (*model.Reply, error) {
	reply, err := w.at().Complete(ctx, r)
	if w.answered(ctx, err); err == nil && r.Call.Purpose == annotator.PurposeAnnotate {
		w.observe(r, reply)
	}
	return reply, err
}

// Models lists what the story's server has. See model.Wire.
func (w *Wire) Models(ctx context.Context) ([]model.Model, error) {
	models, err := w.at().Models(ctx)
	w.answered(ctx, err)
	return models, err
}

// CountTokens has the story's server count a text. See model.Counter.
func (w *Wire) CountTokens(ctx context.Context, name, text string) (int, error) {
	if counter, able := w.at().(model.Counter); able {
		return counter.CountTokens(ctx, name, text)
	}
	return 0, unable()
}

// CacheCounts reads the counters of the story's server. See model.CacheCounter.
func (w *Wire) CacheCounts(ctx context.Context) (model.CacheCounts, error) {
	if counter, able := w.at().(model.CacheCounter); able {
		return counter.CacheCounts(ctx)
	}
	return model.CacheCounts{}, unable()
}

// Health asks whether the story's server is well. See model.HealthChecker.
func (w *Wire) Health(ctx context.Context) error {
	if checker, able := w.at().(model.HealthChecker); able {
		return checker.Health(ctx)
	}
	return unable()
}

func unable() *model.Fault {
	return &model.Fault{Kind: annotator.Misconfigured, Message: "the endpoint cannot answer that"}
}

// answered tells Admission whether the server works. A refusal is an answer, and so is the word of a server that it has
// too much to do.
func (w *Wire) answered(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	fails := false
	if err != nil {
		switch fault := model.ClassifyTransport(err); fault.Kind {
		case annotator.Transient, annotator.Unreachable:
			fails = true
		case annotator.Overloaded:
			fails = fault.Status != http.StatusTooManyRequests
		default:
			fails = fault.NotAnAPI
		}
	}
	w.place.Answered(!fails)
}

// observe tells Admission how long the story's context is, and whether the server has lost its prefix. It has if the
// request begins with the one before, and less than half of that was cached.
func (w *Wire) observe(r *model.Request, reply *model.Reply) {
	u := &reply.Usage
	now := prefix{
		stay: w.place.stays(), length: len(r.History), hash: maphash.Bytes(w.seed, r.History), tokens: u.Prompt,
	}
	before := w.former
	w.former = now
	if !u.Exact {
		return
	}
	extends := before.length > 0 && before.stay == now.stay && before.length <= now.length &&
		maphash.Bytes(w.seed, r.History[:before.length]) == before.hash
	w.place.observe(u.Prompt+u.Completion, extends && u.Told > 0 && 2*u.Cached < before.tokens)
}

package scripted

import (
	"container/list"
	"fmt"
	"io"
	"sync"
	"time"
)

// Pace gives a server slots, times and a bounded cache, so that what several clients do to each other can be measured.
type Pace struct {
	Slots   int     // requests that are worked on at once; the others wait
	Prefill float64 // uncached tokens of prompts a second, of all requests together
	Decode  float64 // tokens of a reply a second, of each request
	Pool    int     // tokens in the cache; those used longest ago are evicted
}

// pacer keeps a server's pace.
type pacer struct {
	Pace
	slots chan struct{}

	mu        sync.Mutex
	running   int
	waiting   int
	busy      time.Duration // of all slots, until changed
	changed   time.Time
	prefilled time.Time // when the prompts at hand are processed
	blocks    map[uint64]*list.Element
	used      *list.List // keys, the newest first
}

func newPacer(p *Pace) *pacer {
	if p == nil {
		return nil
	}
	return &pacer{
		Pace: *p, slots: make(chan struct{}, p.Slots), blocks: map[uint64]*list.Element{}, used: list.New(),
	}
}

// begin waits for a slot. end gives it back.
func (p *pacer) begin() (end func()) {
	p.count(0, 1)
	p.slots <- struct{}{}
	p.count(1, -1)
	return func() {
		p.count(-1, 0)
		<-p.slots
	}
}

func (p *pacer) count(running, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.account()
	p.running += running
	p.waiting += waiting
}

// account adds the time since the last change. The caller holds the mutex.
func (p *pacer) account() {
	now := time.Now()
	p.busy += time.Duration(p.running) * now.Sub(p.changed)
	p.changed = now
}

// admit processes a prompt, and returns how many of its tokens were cached.
func (p *pacer) admit(prompt *prompt) (cached int) {
	p.mu.Lock()
	blocks := 0
	for blocks < len(prompt.fresh) && p.blocks[prompt.fresh[blocks]] != nil {
		blocks++
	}
	cached = min(blocks, (prompt.end.tokens-1)/blockTokens) * blockTokens
	p.use(prompt.fresh)
	now := time.Now()
	if p.prefilled.Before(now) {
		p.prefilled = now
	}
	p.prefilled = p.prefilled.Add(seconds(float64(prompt.end.tokens-cached) / p.Prefill))
	until := p.prefilled
	p.mu.Unlock()
	time.Sleep(time.Until(until))
	return cached
}

// generate makes a reply of a number of tokens.
func (p *pacer) generate(tokens int, keys []uint64) {
	time.Sleep(seconds(float64(tokens) / p.Decode))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.use(keys)
}

// use puts blocks into the cache. The end of a prompt counts as used before its beginning, so that it is evicted first.
func (p *pacer) use(keys []uint64) {
	for i := len(keys) - 1; i >= 0; i-- {
		if at := p.blocks[keys[i]]; at != nil {
			p.used.MoveToFront(at)
		} else {
			p.blocks[keys[i]] = p.used.PushFront(keys[i])
		}
	}
	for p.used.Len() > p.Pool/blockTokens {
		last := p.used.Back()
		delete(p.blocks, p.used.Remove(last).(uint64))
	}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// write writes the metrics of a paced server, with vLLM's names.
func (p *pacer) write(w io.Writer, model string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(w, "vllm:num_requests_running{engine=\"0\",model_name=%[1]q} %[2]d.0\n"+
		"vllm:num_requests_waiting{engine=\"0\",model_name=%[1]q} %[3]d.0\n"+
		"vllm:cache_config_info{block_size=\"%[4]d\",engine=\"0\",num_gpu_blocks=\"%[5]d\"} 1.0\n",
		model, p.running, p.waiting, blockTokens, p.Pool/blockTokens)
}

// Busy returns how long all slots together have been in use.
func (s *Server) Busy() time.Duration {
	if s.pacer == nil {
		return 0
	}
	s.pacer.mu.Lock()
	defer s.pacer.mu.Unlock()
	s.pacer.account()
	return s.pacer.busy
}

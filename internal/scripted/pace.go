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
	Scale   float64 // seconds of the clock for each second of the server
}

// pacer keeps a server's pace.
type pacer struct {
	Pace
	slots chan struct{}

	mu        sync.Mutex
	running   int
	waiting   int
	busy      time.Duration // of all slots, on the clock
	prefilled time.Time     // when the prompts at hand are processed
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
	began := time.Now()
	return func() {
		p.mu.Lock()
		p.busy += time.Since(began)
		p.running--
		p.mu.Unlock()
		<-p.slots
	}
}

func (p *pacer) count(running, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running += running
	p.waiting += waiting
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
	p.prefilled = p.prefilled.Add(p.seconds(float64(prompt.end.tokens-cached) / p.Prefill))
	until := p.prefilled
	p.mu.Unlock()
	time.Sleep(time.Until(until))
	return cached
}

// generate makes a reply of a number of tokens.
func (p *pacer) generate(tokens int, keys []uint64) {
	time.Sleep(p.seconds(float64(tokens) / p.Decode))
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

func (p *pacer) seconds(n float64) time.Duration {
	return time.Duration(n * p.Scale * float64(time.Second))
}

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

// Busy returns how long all slots together have been in use, on the clock.
func (s *Server) Busy() time.Duration {
	if s.pacer == nil {
		return 0
	}
	s.pacer.mu.Lock()
	defer s.pacer.mu.Unlock()
	return s.pacer.busy
}

// Package compaction plans the compaction of a full window: which turns a summary replaces, in which order, and how
// many. It also writes the instruction for the summariser and reads its answer.
//
// All functions are pure. A plan is computed from the window as it is, so that a run that was killed between two steps
// continues with the next one.
package compaction

import (
	"slices"

	"annotator"
)

// Tier is a way to make the window smaller. The journal names tiers by these values.
type Tier string

// The tiers, in the order in which they are tried.
const (
	TierChunk   Tier = "0.5" // the oldest whole chunk of a thread becomes a chunk summary
	TierThread  Tier = "1"   // threads that have ended become part of the story so far
	TierPartial Tier = "2"   // the oldest turns of a thread become a chunk summary, whole chunk or not
	TierStrip   Tier = "3"   // thinking is taken out of old replies
	TierCut     Tier = "4"   // long old replies are cut
	TierRule    Tier = "5"   // the last resort: the oldest turns are replaced by a summary that a rule writes
)

// Policy says how far compaction goes.
type Policy struct {
	High        float64 // share of the prompt's budget at which compaction begins
	Low         float64 // share at which it ends; 0: when only the kept turns are left
	Emergency   float64 // share from which replies are stripped and cut
	KeepTurns   int     // the newest turns that stay verbatim, if they leave two thirds of the space free
	ChunkScenes int     // scenes of a whole chunk; 0: a chunk has as many as leave the window at a time
	KeepChunks  int     // the newest whole chunks that stay verbatim
	KeepReplies int     // the newest turns whose thinking stays
	KeepLong    int     // the newest turns whose replies are not cut
	CutAt       int     // characters that a cut reply keeps
	Chunks      float64 // share of the budget that chunk summaries may take before they become part of the story so far
}

// ThreeMarks is the preset of thresholds 60 / 80 / 90 with chunks of ten scenes.
func ThreeMarks() Policy {
	return Policy{
		High: 0.8, Low: 0.6, Emergency: 0.9,
		KeepTurns: 1, ChunkScenes: 10, KeepChunks: 2, KeepReplies: 4, KeepLong: 8, CutAt: 500, Chunks: 0.15,
	}
}

// Auto is the preset with the fewest tokens to prefill that keeps the last three scenes verbatim. It waits until the
// window is full, and then keeps only these. docs/performance.md has what other thresholds cost.
func Auto() Policy {
	return Policy{High: 1, Emergency: 1, KeepTurns: 3, KeepReplies: 3, KeepLong: 3, CutAt: 500, Chunks: 0.1}
}

// Turn is a turn that may leave the window.
type Turn struct {
	ID     int64
	Scene  int
	Order  annotator.Order // of its scene
	Thread int64
	Index  int // of its scene within the thread
	Tokens int
	Strips int // tokens that TierStrip saves
	Cuts   int // tokens that TierCut saves
}

// Chunk is a chunk summary in the window.
type Chunk struct {
	Thread int64
	Tokens int
}

// View is the window as compaction sees it.
type View struct {
	Tokens int     // of the next prompt, with the scene at hand
	Growth int     // tokens that the turn at hand is still expected to add
	Budget int     // the most tokens of a prompt
	Turns  []Turn  // oldest first, without the one at hand
	Chunks []Chunk // oldest first
	Thread int64   // of the scene at hand
}

// Step is one step of compaction.
type Step struct {
	Tier    Tier
	Turns   []Turn  // those that leave the window, or are stripped or cut
	Chunk   []Turn  // the last of Turns: those of one thread that a chunk summary replaces
	Threads []int64 // those that the story so far replaces, in order
	Known   []int64 // threads that need no summary of their own: they have one, or have not ended
}

// Full reports whether the window needs compaction.
func (p Policy) Full(v View) bool { return p.Excess(v) > 0 }

// Excess is by how many tokens the window exceeds the threshold at which compaction begins. It may be negative.
func (p Policy) Excess(v View) int { return v.Tokens + v.Growth - p.share(p.High, v) }

// Done reports whether compaction has gone far enough.
func (p Policy) Done(v View) bool {
	if p.Low == 0 {
		return !p.Full(v)
	}
	return v.Tokens <= p.share(p.Low, v)
}

func (p Policy) share(of float64, v View) int { return int(of * float64(v.Budget)) }

// Next returns the next step for a window that was full, or false if there is none. Tiers that were tried and failed
// are skipped; when all have failed, TierRule remains.
func (p Policy) Next(v View, failed []Tier) (Step, bool) {
	if p.Done(v) {
		return Step{}, false
	}
	for _, tier := range []Tier{TierChunk, TierThread, TierPartial, TierStrip, TierCut, TierRule} {
		if slices.Contains(failed, tier) || !p.due(tier, v, failed) {
			continue
		}
		if step := p.step(tier, v); len(step.Turns) > 0 || len(step.Threads) > 0 {
			return step, true
		}
	}
	return Step{}, false
}

// due reports whether a tier may be used. If chunks are kept whole, a part of one leaves only when no whole one is left
// and the window is still full. Replies are stripped and cut in emergencies only. A rule writes the summary only if the
// model's failed or the prompt would not fit at all.
func (p Policy) due(tier Tier, v View, failed []Tier) bool {
	switch tier {
	case TierChunk:
		return p.ChunkScenes > 0
	case TierPartial:
		return p.ChunkScenes == 0 || p.Full(v)
	case TierStrip, TierCut:
		return v.Tokens > p.share(p.Emergency, v)
	case TierRule:
		return v.Tokens > v.Budget || len(failed) > 0 && p.Full(v)
	}
	return true
}

func (p Policy) step(tier Tier, v View) Step {
	old := v.Turns[:len(v.Turns)-p.kept(v)]
	switch tier {
	case TierChunk:
		return ofChunk(tier, p.chunk(old, v))
	case TierThread:
		return p.threads(old, v)
	case TierPartial:
		return ofChunk(tier, oldestThread(p.enough(old, v)))
	case TierStrip:
		return saving(tier, v.Turns[:max(0, len(v.Turns)-p.KeepReplies)], func(t Turn) int { return t.Strips })
	case TierCut:
		return saving(tier, v.Turns[:max(0, len(v.Turns)-p.KeepLong)], func(t Turn) int { return t.Cuts })
	}
	return p.rule(old, v)
}

// kept counts the newest turns that stay. They leave two thirds of the space for turns free, or the next compaction
// would follow soon. The newest turn stays if it leaves half of the space.
func (p Policy) kept(v View) int {
	space := v.Budget - v.Tokens - v.Growth + sum(v.Turns, inTokens)
	newest := v.Turns[max(0, len(v.Turns)-p.KeepTurns):]
	last := newest[max(0, len(newest)-1):]
	return max(len(Select(newest, space/3, inTokens)), len(Select(last, space/2, inTokens)))
}

func inTokens(t Turn) int { return t.Tokens }

func ofChunk(tier Tier, turns []Turn) Step { return Step{Tier: tier, Turns: turns, Chunk: turns} }

// saving is a step over turns, if it saves anything.
func saving(tier Tier, turns []Turn, of func(Turn) int) Step {
	if sum(turns, of) == 0 {
		return Step{}
	}
	return Step{Tier: tier, Turns: turns}
}

// enough returns the oldest turns that have to leave for the window to reach its low threshold.
func (p Policy) enough(old []Turn, v View) []Turn {
	if p.Low == 0 {
		return old
	}
	budget := sum(old, inTokens) - (v.Tokens - p.share(p.Low, v))
	return old[:len(old)-len(Select(old, budget, inTokens))]
}

// chunk returns the oldest whole chunk, if the window has more whole ones than are kept.
func (p Policy) chunk(old []Turn, v View) []Turn {
	run := oldestThread(old)
	if len(run) == 0 {
		return nil
	}
	number := func(t Turn) int { return t.Index / p.ChunkScenes }
	whole := 0
	for _, t := range v.Turns {
		if t.Thread == run[0].Thread && t.Index%p.ChunkScenes == p.ChunkScenes-1 {
			whole++
		}
	}
	end := slices.IndexFunc(run, func(t Turn) bool { return number(t) != number(run[0]) })
	if end < 0 || whole <= p.KeepChunks {
		return nil
	}
	return run[:end]
}

// threads makes ended threads part of the story so far. If chunks are kept whole, it takes the oldest thread if there
// are several. Otherwise it takes every thread of which no turn has to stay. The turns after them that leave as well
// become a chunk in the same step. After each step the server computes the rest of the prompt again.
func (p Policy) threads(old []Turn, v View) Step {
	if p.ChunkScenes > 0 {
		if ended := ended(v, len(old)); len(ended) > 1 {
			return p.story(old, v, ended[:1])
		}
		return p.story(old, v, nil)
	}
	leaving := p.enough(old, v)
	step := p.story(leaving, v, ended(v, len(leaving)))
	if len(step.Threads) > 0 {
		step.Chunk = oldestThread(leaving[len(step.Turns):])
		step.Turns = leaving[:len(step.Turns)+len(step.Chunk)]
	}
	return step
}

// story makes threads part of the story so far. If the chunks exceed their share, it includes those of the thread at
// hand, which may never end.
func (p Policy) story(old []Turn, v View, threads []int64) Step {
	end := slices.IndexFunc(old, func(t Turn) bool { return !slices.Contains(threads, t.Thread) })
	if end < 0 {
		end = len(old)
	}
	if p.crowded(v) && v.begun() {
		threads = append(slices.Clip(threads), v.Thread)
	}
	return Step{Tier: TierThread, Turns: old[:end], Threads: threads}
}

// ended returns, in order, the threads before the present one that have no turn left when a number of the oldest turns
// leave.
func ended(v View, oldest int) []int64 {
	var threads []int64
	add := func(thread int64) {
		stays := slices.ContainsFunc(v.Turns[oldest:], func(t Turn) bool { return t.Thread == thread })
		if thread != v.Thread && !stays && !slices.Contains(threads, thread) {
			threads = append(threads, thread)
		}
	}
	for _, c := range v.Chunks {
		add(c.Thread)
	}
	for _, t := range v.Turns {
		add(t.Thread)
	}
	return threads
}

// crowded reports whether the chunk summaries exceed their share.
func (p Policy) crowded(v View) bool {
	return sum(v.Chunks, func(c Chunk) int { return c.Tokens }) > p.share(p.Chunks, v)
}

// rule is the last resort: turns that should have stayed leave, too, and chunk summaries that no model could summarise.
func (p Policy) rule(old []Turn, v View) Step {
	if len(old) == 0 {
		old = v.Turns
	}
	step := ofChunk(TierRule, oldestThread(old))
	if len(step.Turns) > 0 && !p.crowded(v) {
		return step
	}
	for _, c := range v.Chunks {
		if !slices.Contains(step.Threads, c.Thread) {
			step.Threads = append(step.Threads, c.Thread)
		}
	}
	return step
}

// oldestThread returns the oldest turns that belong to one thread.
func oldestThread(turns []Turn) []Turn {
	end := slices.IndexFunc(turns, func(t Turn) bool { return t.Thread != turns[0].Thread })
	if end < 0 {
		return turns
	}
	return turns[:end]
}

// begun reports whether the thread at hand has chunk summaries.
func (v View) begun() bool {
	return slices.ContainsFunc(v.Chunks, func(c Chunk) bool { return c.Thread == v.Thread })
}

func sum[T any](items []T, of func(T) int) int {
	total := 0
	for _, item := range items {
		total += of(item)
	}
	return total
}

// Select returns the longest run of the newest items that fits a budget of tokens: none if not even the newest does.
// Items are whole turns, so that a call is never parted from its result.
func Select[T any](items []T, budget int, estimate func(T) int) []T {
	first := len(items)
	for first > 0 {
		if budget -= estimate(items[first-1]); budget < 0 {
			break
		}
		first--
	}
	return items[first:]
}

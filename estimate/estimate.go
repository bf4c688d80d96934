// Package estimate says what a run will use before it is made. A few scenes are read as probes. From what they used it
// computes the window of the whole story, call by call. All functions are pure.
package estimate

import (
	"math"
	"time"

	"annotator"
	"annotator/context/compaction"
	"annotator/corpus"
	"annotator/curator"
)

// newEntries is the exponent by which the entries of a story grow with its scenes. Later scenes bring fewer.
const newEntries = 0.9

// newIn returns the share of new entries in scene n, from 0, of those in the first. Replies are most about these, so it
// is the share of their tokens as well.
func newIn(n int) float64 {
	return math.Pow(float64(n+1), newEntries) - math.Pow(float64(n), newEntries)
}

// Scene is a scene of the story.
type Scene struct {
	Thread int64
	Tokens int // of its text, as estimated
}

// Settings are those of the run that decide how its window grows.
type Settings struct {
	Policy        compaction.Policy
	Prompt        int // the most tokens of a prompt
	Batch         int // entries of a question of the curator; 0: it asks nothing
	SummaryTokens int // the most of a summary
	NoSummaries   bool
}

// Figures are what a run uses.
type Figures struct {
	Calls  float64
	Prompt float64 // tokens of prompts
	Cached float64 // of these, what the server has in its cache
	Out    float64 // tokens of replies
	Time   float64 // seconds that the server needs, one call after another
	Cost   float64 // set by the caller
}

// Usage returns the tokens. Only what the server tells to be cached counts as such.
func (f *Figures) Usage() annotator.Usage {
	return annotator.Usage{
		Prompt: round(f.Prompt), Told: round(f.Prompt), Cached: round(f.Cached), Completion: round(f.Out),
	}
}

// Duration returns the time.
func (f *Figures) Duration() time.Duration { return time.Duration(f.Time * float64(time.Second)) }

// Plus adds up two runs.
func (f Figures) Plus(g Figures) Figures {
	return Figures{
		f.Calls + g.Calls, f.Prompt + g.Prompt, f.Cached + g.Cached, f.Out + g.Out, f.Time + g.Time, f.Cost + g.Cost,
	}
}

func round(x float64) int { return int(math.Round(x)) }

// simulation is a run that is computed.
type simulation struct {
	Settings
	rates  Rates
	scenes []Scene
	sum    Figures

	turns    []compaction.Turn
	chunks   []compaction.Chunk
	story    float64 // tokens of the story so far
	held     float64 // tokens at the beginning of the window that the server has in its cache
	entries  float64 // that the curator has not been asked about, first seen before this thread or part of one
	recent   float64 // those first seen since then
	inThread int     // scenes read of the thread
	ended    bool    // a thread has ended that has no summary
}

// Of returns what reading scenes will use.
func Of(scenes []Scene, rates Rates, settings Settings) Figures {
	s := simulation{Settings: settings, rates: rates, scenes: scenes}
	for n := range scenes {
		s.read(n)
	}
	return s.sum
}

// call adds calls with a prompt. Beyond what the server has held, it computes the prompt.
func (s *simulation) call(calls, prompt, held, out float64) {
	cached := min(held, prompt) * s.rates.Cached
	s.sum = s.sum.Plus(Figures{
		Calls: calls, Prompt: calls * prompt, Cached: calls * cached, Out: out,
		Time: calls*(prompt-min(held, prompt))*s.rates.Prefill + out*s.rates.Decode,
	})
}

// window returns the tokens of the window.
func (s *simulation) window() float64 {
	sum := s.rates.Prefix + s.story
	for _, c := range s.chunks {
		sum += float64(c.Tokens)
	}
	for _, t := range s.turns {
		sum += float64(t.Tokens)
	}
	return sum
}

func (s *simulation) read(n int) {
	scene := s.scenes[n]
	text := float64(scene.Tokens)
	message, turn := text*s.rates.Server, text*s.rates.Growth
	s.makeRoom(scene.Thread, message, turn)
	before, again := s.window(), max(0, s.rates.Calls-1)
	out := text * s.rates.Out * newIn(n)
	s.call(1, before+message, s.held, out/s.rates.Calls)
	s.call(again, before+turn, before+message, out*again/s.rates.Calls)
	s.held = before + message + min(1, again)*(turn-message)
	s.turns = append(s.turns, compaction.Turn{
		ID: int64(n + 1), Scene: n + 1, Thread: scene.Thread, Index: s.inThread, Tokens: round(turn),
	})
	s.recent += s.rates.Entries * newIn(n)
	s.inThread++
	last := n == len(s.scenes)-1
	if ends := last || s.scenes[n+1].Thread != scene.Thread; ends || s.inThread%curator.PartScenes == 0 {
		s.boundary(ends, last)
	}
}

// boundary is the end of a thread, or of a part of one. Questions wait until they are full, those about the newest
// entries for the next boundary.
func (s *simulation) boundary(ends, last bool) {
	if last {
		s.entries, s.recent = s.entries+s.recent, 0
	}
	for batch := float64(s.Batch); s.Batch > 0 && s.entries > 0 && (last || s.entries >= batch); {
		about := min(s.entries, batch)
		s.call(1, s.window()+about*s.rates.Question, s.held, about*s.rates.Answer)
		s.held = s.window()
		s.entries -= about
	}
	s.entries, s.recent = s.entries+s.recent, 0
	if ends {
		s.inThread, s.ended = 0, true
	}
	if last {
		s.summarise()
	}
}

// summarise asks for the summaries of threads that have ended.
func (s *simulation) summarise() {
	if s.ended && !s.NoSummaries {
		s.call(1, s.window(), s.held, s.summary())
		s.held = s.window()
	}
	s.ended = false
}

// summary is the tokens of a summary: half of the most that it may have.
func (s *simulation) summary() float64 { return float64(s.SummaryTokens) / 2 }

// makeRoom compacts the window, if a scene does not fit, by the policy of the run.
func (s *simulation) makeRoom(thread int64, message, turn float64) {
	view := func() compaction.View {
		return compaction.View{
			Tokens: round(s.window() + message), Growth: round(max(0, turn-message)), Budget: s.Prompt,
			Turns: s.turns, Chunks: s.chunks, Thread: thread,
		}
	}
	if !s.Policy.Full(view()) {
		return
	}
	s.summarise()
	for {
		step, ok := s.Policy.Next(view(), nil)
		if !ok || !s.compact(step) {
			return
		}
	}
}

// compact makes a step, and reports whether it made the window smaller.
func (s *simulation) compact(step compaction.Step) bool {
	before, asked := s.window(), s.window()
	if len(step.Threads) > 0 {
		s.story = s.summary()
		s.chunks = without(s.chunks, step.Threads)
	}
	s.turns = s.turns[len(step.Turns):]
	if len(step.Chunk) > 0 {
		s.chunks = append(s.chunks, compaction.Chunk{Thread: step.Chunk[0].Thread, Tokens: round(s.summary())})
	}
	s.call(1, asked, s.held, s.summary())
	s.held = s.rates.Prefix
	return s.window() < before
}

// without returns the chunks of other threads.
func without(chunks []compaction.Chunk, threads []int64) (rest []compaction.Chunk) {
	is := map[int64]bool{}
	for _, t := range threads {
		is[t] = true
	}
	for _, c := range chunks {
		if !is[c.Thread] {
			rest = append(rest, c)
		}
	}
	return rest
}

// Parts cuts scenes at chapters, as a run in parts does.
func Parts(scenes []Scene, parts int) (all [][]Scene) {
	var sizes, counts []int
	for i, scene := range scenes {
		if i == 0 || scene.Thread != scenes[i-1].Thread {
			sizes, counts = append(sizes, 0), append(counts, 0)
		}
		sizes[len(sizes)-1] += scene.Tokens
		counts[len(counts)-1]++
	}
	for _, threads := range corpus.Cut(sizes, max(1, min(parts, len(sizes)))) {
		n := 0
		for _, count := range counts[:threads] {
			n += count
		}
		all = append(all, scenes[:n])
		scenes, counts = scenes[n:], counts[threads:]
	}
	return all
}

package compaction_test

import (
	"slices"
	"testing"

	"annotator/context/compaction"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// run returns turns of a thread, of the scenes with the given indices, each with the same number of tokens. Turns and
// scenes are numbered from the thread's own number on.
func run(thread int64, from, to, tokens int) []compaction.Turn {
	var turns []compaction.Turn
	for i := from; i <= to; i++ {
		turns = append(turns, compaction.Turn{
			ID: 1000*thread + int64(i), Scene: int(1000*thread) + i, Thread: thread, Index: i, Tokens: tokens,
			Strips: 5, Cuts: 7,
		})
	}
	return turns
}

// plain is what a table needs of a step.
type plain struct {
	Tier         compaction.Tier
	Turns, Chunk int
	Threads      []int64
}

func plainly(s compaction.Step) plain {
	return plain{s.Tier, len(s.Turns), len(s.Chunk), s.Threads}
}

// example is a window and the step that it calls for.
type example struct {
	name   string
	view   compaction.View
	failed []compaction.Tier
	want   *plain // nil: none
}

func check(t *testing.T, policy compaction.Policy, examples []example) {
	t.Helper()
	for _, e := range examples {
		step, ok := policy.Next(e.view, e.failed)
		if ok != (e.want != nil) {
			t.Errorf("%s: step %+v, %v", e.name, plainly(step), ok)
		} else if ok {
			if diff := cmp.Diff(*e.want, plainly(step), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", e.name, diff)
			}
		}
	}
}

// TestThreeMarksPresetFollowsItsTiers tests the table of tiers: from 80 % down to 60 %, in chunks of ten scenes of
// which two are kept. One ended thread leaves at a time. Replies are stripped and cut from 90 % on.
func TestThreeMarksPresetFollowsItsTiers(t *testing.T) {
	t.Parallel()
	view := func(tokens int, turns ...[]compaction.Turn) compaction.View {
		all := slices.Concat(turns...)
		v := compaction.View{Tokens: tokens, Budget: 10_000, Turns: all}
		if len(all) > 0 {
			v.Thread = all[len(all)-1].Thread
		}
		return v
	}
	chunks := func(v compaction.View, tokens int, threads ...int64) compaction.View {
		for _, thread := range threads {
			v.Chunks = append(v.Chunks, compaction.Chunk{Thread: thread, Tokens: tokens})
		}
		return v
	}
	at := func(v compaction.View, thread int64) compaction.View {
		v.Thread = thread
		return v
	}
	policy := compaction.ThreeMarks()
	if policy.Full(compaction.View{Tokens: 8_000, Budget: 10_000}) ||
		!policy.Full(compaction.View{Tokens: 8_001, Budget: 10_000}) {
		t.Error("compaction begins elsewhere than beyond 80 %")
	}
	check(t, policy, []example{
		{name: "60 % are reached", view: view(6_000, run(1, 0, 35, 100))},
		{
			name: "three whole chunks: the oldest", view: view(8_001, run(1, 0, 29, 100)),
			want: &plain{compaction.TierChunk, 10, 10, nil},
		},
		{
			name: "between the marks it goes on", view: view(6_001, run(1, 10, 39, 100)),
			want: &plain{compaction.TierChunk, 10, 10, nil},
		},
		{name: "two whole chunks are kept", view: view(7_000, run(1, 0, 19, 100))},
		{
			name: "a chunk begun in the middle", view: view(8_001, run(1, 7, 39, 100)),
			want: &plain{compaction.TierChunk, 3, 3, nil},
		},
		{name: "one thread has ended: it stays", view: view(7_000, run(1, 0, 4, 100), run(2, 0, 4, 100))},
		{
			name: "two threads have ended: the older",
			view: view(7_000, run(1, 0, 4, 100), run(2, 0, 4, 100), run(3, 0, 1, 100)),
			want: &plain{compaction.TierThread, 5, 0, []int64{1}},
		},
		{
			name: "of an ended thread only chunks are left",
			view: chunks(view(7_000, run(2, 0, 4, 100), run(3, 0, 1, 100)), 50, 1),
			want: &plain{compaction.TierThread, 0, 0, []int64{1}},
		},
		{
			name: "the thread before has turns that stay",
			view: at(view(7_000, run(1, 0, 4, 100), run(2, 0, 0, 100)), 3),
		},
		{
			name: "a thread without an end: its chunks take more than their share",
			view: chunks(view(7_000, run(1, 90, 95, 100)), 800, 1, 1),
			want: &plain{compaction.TierThread, 0, 0, []int64{1}},
		},
		{
			name: "nothing whole, still full: down to 60 %", view: view(8_500, run(1, 0, 14, 300)),
			want: &plain{compaction.TierPartial, 9, 9, nil},
		},
		{
			name: "summaries failed, but for partial ones", view: view(8_001, run(1, 0, 29, 100)),
			failed: []compaction.Tier{compaction.TierChunk}, want: &plain{compaction.TierPartial, 21, 21, nil},
		},
		{
			name: "all summaries failed, no emergency: by rule", view: view(8_500, run(1, 0, 14, 300)),
			failed: []compaction.Tier{compaction.TierPartial}, want: &plain{compaction.TierRule, 14, 14, nil},
		},
		{
			name: "an emergency: thinking first", view: view(9_001, run(1, 0, 11, 300)),
			failed: []compaction.Tier{compaction.TierPartial}, want: &plain{compaction.TierStrip, 8, 0, nil},
		},
		{
			name: "an emergency: then long replies", view: view(9_001, run(1, 0, 11, 300)),
			failed: []compaction.Tier{compaction.TierPartial, compaction.TierStrip},
			want:   &plain{compaction.TierCut, 4, 0, nil},
		},
		{name: "nothing is left to do", view: view(9_900, nil)},
		{
			name: "too long with a single turn", view: view(10_001, run(1, 0, 0, 6_000)),
			want: &plain{compaction.TierPartial, 1, 1, nil},
		},
		{
			name: "too long with chunks alone: by rule", view: chunks(at(view(10_001), 3), 10, 1, 2, 2),
			failed: []compaction.Tier{compaction.TierThread}, want: &plain{compaction.TierRule, 0, 0, []int64{1, 2}},
		},
	})
}

// TestAutoPresetCompactsAFullWindowInOneStep: it waits until the window is full, and then all goes that need not stay,
// in one step.
func TestAutoPresetCompactsAFullWindowInOneStep(t *testing.T) {
	t.Parallel()
	view := func(tokens int, thread int64, turns ...[]compaction.Turn) compaction.View {
		return compaction.View{Tokens: tokens, Budget: 10_000, Thread: thread, Turns: slices.Concat(turns...)}
	}
	chunked := view(10_001, 1, run(1, 40, 48, 700))
	chunked.Chunks = []compaction.Chunk{{Thread: 1, Tokens: 600}, {Thread: 1, Tokens: 600}}
	growing := view(9_500, 1, run(1, 0, 8, 900))
	growing.Growth = 501
	check(t, compaction.Auto(), []example{
		{name: "not full", view: view(10_000, 1, run(1, 0, 9, 900))},
		{name: "the turn will not fit", view: growing, want: &plain{compaction.TierPartial, 7, 7, nil}},
		{
			name: "a thread that goes on", view: view(10_001, 1, run(1, 0, 9, 900)),
			want: &plain{compaction.TierPartial, 7, 7, nil},
		},
		{
			name: "a thread has ended", view: view(10_001, 2, run(1, 0, 3, 900), run(2, 0, 5, 900)),
			want: &plain{compaction.TierThread, 7, 3, []int64{1}},
		},
		{
			name: "two threads have ended", view: view(10_001, 3, run(1, 0, 2, 900), run(2, 0, 3, 900),
				run(3, 0, 2, 900)),
			want: &plain{compaction.TierThread, 7, 0, []int64{1, 2}},
		},
		{
			name: "the end of a thread stays", view: view(10_001, 2, run(1, 0, 7, 900), run(2, 0, 1, 900)),
			want: &plain{compaction.TierPartial, 7, 7, nil},
		},
		{
			name: "chunks beyond their share become part of the story", view: chunked,
			want: &plain{compaction.TierThread, 7, 7, []int64{1}},
		},
		{
			name: "only as many stay as leave two thirds of the space", view: view(10_001, 1, run(1, 0, 3, 2_000)),
			want: &plain{compaction.TierPartial, 3, 3, nil},
		},
	})
}

// TestOldestTurnsLeaveDownToTheLowMark: the oldest turns leave until the window is at its low threshold, and no more.
func TestOldestTurnsLeaveDownToTheLowMark(t *testing.T) {
	t.Parallel()
	policy := compaction.Auto()
	for low, want := range map[float64]int{0: 15, 0.15: 15, 0.35: 14, 0.45: 12, 0.6: 9} {
		policy.Low = low
		v := compaction.View{Tokens: 10_001, Budget: 10_000, Thread: 1, Turns: run(1, 0, 17, 500)}
		if step, ok := policy.Next(v, nil); !ok || len(step.Turns) != want {
			t.Errorf("a threshold of %.2f: %d turns, want %d", low, len(step.Turns), want)
		}
	}
}

// simulated is a window to which steps are applied.
type simulated struct {
	compaction.View
	story int // tokens of the story so far
}

// chunkTokens and storyTokens are the lengths of summaries.
const (
	chunkTokens = 40
	storyTokens = 200
)

// draw draws a window of threads in story order: chunk summaries of earlier scenes, then turns.
func draw(t *rapid.T) *simulated {
	s := &simulated{View: compaction.View{Budget: rapid.IntRange(3_000, 40_000).Draw(t, "budget")}}
	s.Tokens = rapid.IntRange(500, 4_000).Draw(t, "fixed")
	s.Growth = rapid.IntRange(0, 2_000).Draw(t, "growth")
	thread := int64(1)
	for range rapid.IntRange(0, 12).Draw(t, "chunks") {
		thread += int64(rapid.IntRange(0, 1).Draw(t, "another thread"))
		s.Chunks = append(s.Chunks, compaction.Chunk{Thread: thread, Tokens: chunkTokens})
		s.Tokens += chunkTokens
	}
	index := rapid.IntRange(0, 30).Draw(t, "index")
	for n := range rapid.IntRange(0, 40).Draw(t, "turns") {
		if rapid.IntRange(0, 9).Draw(t, "thread ends") == 0 {
			thread, index = thread+1, 0
		}
		turn := compaction.Turn{
			ID: int64(n + 1), Scene: n + 1, Thread: thread, Index: index,
			Tokens: rapid.IntRange(50, 3_000).Draw(t, "tokens"),
		}
		turn.Strips = rapid.IntRange(0, turn.Tokens/4).Draw(t, "strips")
		turn.Cuts = rapid.IntRange(0, turn.Tokens/4).Draw(t, "cuts")
		s.Turns = append(s.Turns, turn)
		s.Tokens += turn.Tokens
		index++
	}
	s.Thread = thread + int64(rapid.IntRange(0, 1).Draw(t, "new thread"))
	return s
}

// apply makes a step. It returns false, and changes nothing, if the window would not become smaller.
func (s *simulated) apply(step compaction.Step) (*simulated, bool) {
	after := &simulated{View: s.View, story: s.story}
	after.Turns, after.Chunks = slices.Clone(s.Turns), slices.Clone(s.Chunks)
	trim := func(of func(*compaction.Turn) *int) {
		for i := range step.Turns {
			saved := of(&after.Turns[i])
			after.Turns[i].Tokens -= *saved
			after.Tokens -= *saved
			*saved = 0
		}
	}
	switch step.Tier {
	case compaction.TierStrip:
		trim(func(t *compaction.Turn) *int { return &t.Strips })
		return after, after.Tokens < s.Tokens
	case compaction.TierCut:
		trim(func(t *compaction.Turn) *int { return &t.Cuts })
		return after, after.Tokens < s.Tokens
	}
	for _, turn := range step.Turns {
		after.Tokens -= turn.Tokens
	}
	after.Turns = after.Turns[len(step.Turns):]
	if len(step.Threads) > 0 {
		after.Chunks = slices.DeleteFunc(after.Chunks, func(c compaction.Chunk) bool {
			return slices.Contains(step.Threads, c.Thread)
		})
		after.Tokens -= chunkTokens * (len(s.Chunks) - len(after.Chunks))
		after.Tokens += storyTokens - after.story
		after.story = storyTokens
	}
	if len(step.Chunk) > 0 {
		after.Chunks = append(after.Chunks, compaction.Chunk{Thread: step.Chunk[0].Thread, Tokens: chunkTokens})
		after.Tokens += chunkTokens
	}
	return after, after.Tokens < s.Tokens
}

// shape checks what every step must satisfy.
func shape(t *rapid.T, p compaction.Policy, s *simulated, step compaction.Step) {
	if n := len(step.Turns); n > len(s.Turns) || !slices.Equal(step.Turns, s.Turns[:n]) {
		t.Fatalf("tier %s: not the oldest turns: %+v", step.Tier, step.Turns)
	}
	if n := len(step.Chunk); n > 0 && !slices.Equal(step.Chunk, step.Turns[len(step.Turns)-n:]) {
		t.Fatalf("tier %s: the chunk is not at the end of the turns", step.Tier)
	}
	for _, turn := range step.Chunk {
		if turn.Thread != step.Chunk[0].Thread {
			t.Fatalf("tier %s: a chunk of two threads", step.Tier)
		}
	}
	if !slices.IsSorted(step.Threads) || len(slices.Compact(slices.Clone(step.Threads))) != len(step.Threads) {
		t.Fatalf("tier %s: threads %v", step.Tier, step.Threads)
	}
	for _, turn := range step.Turns[:len(step.Turns)-len(step.Chunk)] {
		if (step.Tier == compaction.TierThread) != slices.Contains(step.Threads, turn.Thread) {
			t.Fatalf("tier %s: turn %d of thread %d leaves without a summary", step.Tier, turn.ID, turn.Thread)
		}
	}
	for _, turn := range s.Turns[len(step.Turns):] {
		if step.Tier == compaction.TierThread && slices.Contains(step.Threads, turn.Thread) && turn.Thread != s.Thread {
			t.Fatalf("tier %s: thread %d is in the story so far, and has turn %d in the window", step.Tier, turn.Thread,
				turn.ID)
		}
	}
	pinned(t, p, s, step)
}

// pinned checks that the newest turns stay if they leave two thirds of the space, and the newest if it leaves half. The
// exception is a turn that a rule had to remove.
func pinned(t *rapid.T, p compaction.Policy, s *simulated, step compaction.Step) {
	if step.Tier == compaction.TierRule || step.Tier == compaction.TierStrip || step.Tier == compaction.TierCut {
		return
	}
	newest := s.Turns[max(0, len(s.Turns)-p.KeepTurns):]
	all, kept, last := 0, 0, 0
	for _, turn := range s.Turns {
		all += turn.Tokens
		last = turn.Tokens
	}
	for _, turn := range newest {
		kept += turn.Tokens
	}
	room, stay := s.Budget-s.Tokens-s.Growth+all, 0
	switch {
	case kept <= room/3:
		stay = len(newest)
	case last <= room/2:
		stay = min(1, len(newest))
	}
	if len(step.Turns) > len(s.Turns)-stay {
		t.Fatalf("tier %s: %d of %d turns leave, the newest %d should stay", step.Tier, len(step.Turns), len(s.Turns),
			stay)
	}
}

func policies(t *rapid.T) compaction.Policy {
	p := compaction.Auto()
	p.Low = rapid.SampledFrom([]float64{0, 0.15, 0.3, 0.45, 0.6}).Draw(t, "low")
	return rapid.SampledFrom([]compaction.Policy{compaction.ThreeMarks(), compaction.Auto(), p}).Draw(t, "policy")
}

// TestCompactionEnds tests any window, with any summaries that fail. Each step has the right shape and makes the window
// smaller. The steps end when the window is as small as the policy asks or no step is left.
func TestCompactionEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, s := policies(t), draw(t)
		mayFail := rapid.Bool().Draw(t, "summaries may fail")
		var failed []compaction.Tier
		for steps := 0; ; steps++ {
			step, ok := p.Next(s.View, failed)
			if !ok {
				break
			}
			if steps > 200 {
				t.Fatal("it does not come to an end")
			}
			shape(t, p, s, step)
			after, smaller := s.apply(step)
			if slices.Contains(failed, step.Tier) {
				t.Fatalf("tier %s is tried again", step.Tier)
			}
			if !smaller || mayFail && step.Tier != compaction.TierRule && rapid.Bool().Draw(t, "fails") {
				failed = append(failed, step.Tier)
				continue
			}
			s = after
		}
		if s.Tokens > s.Budget && len(s.Turns) > 0 && !slices.Contains(failed, compaction.TierRule) {
			t.Fatalf("%d of %d tokens, and %d turns are left", s.Tokens, s.Budget, len(s.Turns))
		}
		if !mayFail && len(failed) == 0 && p.Low == 0 && !p.Done(s.View) && len(s.Turns) > p.KeepTurns &&
			s.Growth == 0 {
			t.Fatalf("it ends at %d of %d tokens with %d turns", s.Tokens, s.Budget, len(s.Turns))
		}
	})
}

// TestRulesAreTheLastResort: a full window that fits, and of which nothing can leave, stays as it is unless a summary
// failed.
func TestRulesAreTheLastResort(t *testing.T) {
	t.Parallel()
	policy := compaction.ThreeMarks()
	v := compaction.View{
		Tokens: 85, Budget: 100, Thread: 1,
		Turns: []compaction.Turn{{ID: 1, Scene: 1, Thread: 1, Tokens: 10}},
	}
	if step, ok := policy.Next(v, nil); ok || !policy.Full(v) {
		t.Errorf("the step is %+v", step)
	}
	if step, ok := policy.Next(v, []compaction.Tier{compaction.TierThread}); !ok || step.Tier != compaction.TierRule {
		t.Errorf("after a failure the step is %+v", step)
	}
	v.Tokens = 75 // above the low threshold and below the high one
	if step, ok := policy.Next(v, []compaction.Tier{compaction.TierThread}); ok {
		t.Errorf("with a window that is not full the step is %+v", step)
	}
}

package window

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/context/compaction"
)

// Recap asks for the summaries that are made at the end of threads. These are a summary of each thread that has none,
// and the story so far with all that the window shows. It changes nothing in the window; a later compaction can use it.
type Recap struct {
	m          *memory
	unanswered int // questions for one of the summaries that brought none
}

// maxUnanswered is how often the model is asked for the summary of a thread. After that it is made by rule.
const maxUnanswered = 2

// Recap returns what is to be asked about threads that have ended; nil if all of them have a summary.
func (w *Window) Recap(ctx context.Context, ended []annotator.EndedThread) (*Recap, error) {
	step, unanswered, last := compaction.Step{Tier: compaction.TierThread}, 0, []Turn{}
	for _, t := range ended {
		step.Threads = append(step.Threads, t.ID)
		if t.Summarised {
			step.Known = append(step.Known, t.ID)
			continue
		}
		unanswered = max(unanswered, t.Unanswered)
		if turns := w.history.Turns(); len(turns) == 0 || t.LastTurn < turns[0].ID { // it is no longer shown
			last = append(last, Turn{ID: t.LastTurn})
		}
	}
	if len(step.Wanted()) == 0 {
		return nil, nil
	}
	turns, err := w.scenesOf(ctx, append(last, w.history.Turns()...))
	if err != nil {
		return nil, err
	}
	step.Turns = slices.DeleteFunc(turns, func(t compaction.Turn) bool {
		return !slices.Contains(step.Threads, t.Thread)
	})
	m, err := w.newMemory(ctx, step)
	return &Recap{m, unanswered}, err
}

// Alone reports whether the summaries are asked for without another question, because the model was asked before.
func (r *Recap) Alone() bool { return r.unanswered > 0 }

// Spent reports whether the model was asked as often as it is asked.
func (r *Recap) Spent() bool { return r.unanswered >= maxUnanswered }

// Question returns the request for the summaries, before another question; that may be empty.
func (r *Recap) Question(other string) (string, error) {
	return compaction.EndInstruction(r.m.Config.SummaryTemplate, r.m.step, other)
}

// MaxTokens is how many tokens the summaries may have.
func (r *Recap) MaxTokens() int { return r.m.Config.SummaryTokens }

// Temperature is the temperature of a question that asks for summaries alone.
func (r *Recap) Temperature() float64 { return r.m.Config.SummaryTemperature }

// Room returns how many of these tokens there are after a prompt; 0 if there are too few for a summary.
func (r *Recap) Room(p *Prompt) int {
	n := min(r.MaxTokens(), r.m.Budget.ReplyTo(p.Tokens()))
	if n < minSummary {
		return 0
	}
	return n
}

// Read reads the summaries from a reply, and returns the rest of it, which answers another question. Without a story
// so far nothing of them is used.
func (r *Recap) Read(ctx context.Context, reply string, shared bool) (*annotator.Summaries, string, error) {
	summary, rest := compaction.ReadEnd(r.m.step, reply)
	if !shared {
		rest = ""
		if read, err := compaction.Read(r.m.step, reply); err == nil && strings.Contains(reply, "<cumulative") {
			summary = read // an element may not be closed
		}
	}
	wanted := r.m.step.Wanted()
	if summary.Story == "" {
		return &annotator.Summaries{Missing: wanted}, rest, nil
	}
	r.m.author, r.m.summary = annotator.AuthorModel, summary
	written := slices.DeleteFunc(slices.Clone(wanted), func(id int64) bool { return summary.Threads[id] == "" })
	s, err := r.summaries(ctx, written)
	if err != nil {
		return nil, rest, err
	}
	s.Missing = slices.DeleteFunc(wanted, func(id int64) bool { return summary.Threads[id] != "" })
	return s, rest, nil
}

// Nothing returns what there is of the summaries without an answer.
func (r *Recap) Nothing() *annotator.Summaries {
	return &annotator.Summaries{Missing: r.m.step.Wanted()}
}

// ByRule writes the summaries without the model. The text says that it did.
func (r *Recap) ByRule(ctx context.Context) (s *annotator.Summaries, text string, err error) {
	wanted, m := r.m.step.Wanted(), r.m
	m.author, m.summary = annotator.AuthorRule, compaction.Summary{}
	var parts []string
	for _, thread := range wanted {
		part, err := m.threadByRule(ctx, thread)
		if err != nil {
			return nil, "", err
		}
		parts = append(parts, part)
	}
	before := ""
	if m.newest != nil {
		before = m.newest.Summary
	}
	m.summary.Story = compaction.RuleStory(before, parts)
	s, err = r.summaries(ctx, wanted)
	return s, fmt.Sprintf("The model gave no summary of the threads %v. A rule writes them.", wanted), err
}

// summaries returns the episodes of threads, and the story so far.
func (r *Recap) summaries(ctx context.Context, threads []int64) (*annotator.Summaries, error) {
	s := &annotator.Summaries{}
	for _, thread := range threads {
		e, err := r.m.threadEpisode(ctx, thread)
		if err != nil {
			return nil, err
		}
		s.Episodes = append(s.Episodes, *e)
	}
	s.Episodes = append(s.Episodes, *r.m.newStory())
	return s, nil
}

// FullAfter reports whether that many more scenes are expected to fill the window, by the average turn in it.
func (w *Window) FullAfter(scenes int) bool {
	v, turns := w.load(), w.history.Turns()
	if len(turns) == 0 {
		return false
	}
	all := 0
	for i := range turns {
		all += w.counts.counter.Count(turns[i].Size)
	}
	v.Tokens, v.Growth = w.Tokens()+scenes*all/len(turns), 0
	return w.Config.Policy.Full(v)
}

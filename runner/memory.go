package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"annotator"
	"annotator/codex"
	"annotator/context/compaction"
	"annotator/context/tokens"
	"annotator/model"
	"annotator/storage"
)

// memory is what stands in the window before the turns, while a step of compaction rewrites it.
type memory struct {
	r       *Runner
	step    compaction.Step
	story   *annotator.Episode
	chunks  []annotator.Episode
	by      annotator.Author
	summary compaction.Summary
}

// byModel has the model write the summary. The request is the window as it stands with one message more, so that the server
// has nearly all of it in its cache.
func (m *memory) byModel(ctx context.Context, c *storage.Compaction) error {
	r := m.r
	q := &question{
		purpose: "summarise", note: compaction.Instruction(m.step), most: r.Config.SummaryTokens,
		temperature: r.Config.SummaryTemperature, context: &r.context, fixed: r.fixed,
	}
	if err := r.behind(q, r.day.turn); err != nil {
		return err
	}
	if n := len(m.step.Turns); n > 0 && !r.askable(q) { // what is to be summed up is at the beginning, so that a shorter prefix will do
		if err := r.behind(q, r.window.Next(m.step.Turns[n-1].ID)); err != nil {
			return err
		}
	}
	if !r.askable(q) {
		return errNotBetter
	}
	call, reply, err := r.ask(ctx, q)
	if reply == nil {
		return err
	}
	m.by = annotator.AuthorModel
	if m.summary, err = compaction.Read(m.step, reply.Text); err != nil {
		return r.unusable(ctx, call, reply, err.Error())
	}
	c.Call = call
	c.Reply = &annotator.Trace{Kind: annotator.TraceReply, Content: reply.Text, Reasoning: reply.Reasoning, Tokens: tokens.Estimate(reply.Text)}
	return nil
}

// unusable ends the call of a summary that cannot be used.
func (r *Runner) unusable(ctx context.Context, call *storage.Call, reply *model.Reply, why string) error {
	if err := r.discard(ctx, call, reply.Text, why); err != nil {
		return err
	}
	return errNotBetter
}

// discard ends a call whose reply takes no effect, and keeps what was said.
func (r *Runner) discard(ctx context.Context, call *storage.Call, raw, why string) error {
	call.Outcome, call.Decision, call.Fault, call.Raw = string(annotator.Malformed), "not used", why, []byte(raw)
	return r.Store.FailCall(ctx, call)
}

// byRule writes the summary without a model: which scenes, which entries, and how they began.
func (m *memory) byRule(ctx context.Context) error {
	entries, err := m.entries(ctx)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(entries))
	for i := range entries {
		names = append(names, entries[i].Name())
	}
	var openings []string
	for _, t := range m.step.Turns {
		scene, err := m.r.Store.Scene(ctx, t.Scene)
		if err != nil {
			return err
		}
		posts, err := m.r.Corpus.Scene(ctx, scene.Thread.ID, scene.Posts[:1])
		if err != nil {
			return err
		}
		openings = append(openings, firstSentence(posts[0].Body))
	}
	m.by = annotator.AuthorRule
	m.summary = compaction.Summary{Text: compaction.Rule(m.step, names, openings)}
	return nil
}

func firstSentence(text string) string {
	if all := codex.Sentences(text); len(all) > 0 {
		return all[0]
	}
	return ""
}

func (m *memory) entries(ctx context.Context) ([]annotator.Entry, error) {
	if len(m.step.Turns) == 0 {
		return nil, nil
	}
	return m.r.Store.Changed(ctx, m.step.Turns[0].ID, lastTurn(m.step))
}

// replace puts the summary into the memory in place of what it sums up.
func (m *memory) replace(ctx context.Context, c *storage.Compaction) error {
	entries, err := m.entries(ctx)
	if err != nil {
		return err
	}
	var ids []int64
	for i := range entries {
		ids = append(ids, entries[i].ID)
	}
	if m.step.Tier == compaction.TierThread {
		m.tell(c, ids)
	} else if err := m.chunk(ctx, c, ids); err != nil {
		return err
	}
	c.Fold.Memory = compaction.Render(m.story, m.chunks)
	c.Fold.Through = max(c.Fold.Through, lastTurn(m.step))
	return nil
}

// chunk adds a chunk summary at the end of the memory, so that all before it stays in the server's cache.
func (m *memory) chunk(ctx context.Context, c *storage.Compaction, entries []int64) error {
	index, err := m.r.Store.ChunkIndex(ctx, m.step.Thread)
	if err != nil {
		return err
	}
	e := m.episode(annotator.EpisodeChunk, m.summary.Text, entries)
	e.Thread, e.Index, e.Scenes = m.step.Thread, index, compaction.Scenes(m.step.Turns)
	m.chunks = append(m.chunks, e)
	c.Episodes = append(c.Episodes, e)
	return nil
}

// tell makes the story so far anew; the chunks of the threads that it takes in leave the window.
func (m *memory) tell(c *storage.Compaction, entries []int64) {
	covered := m.episode(annotator.EpisodeCumulative, m.summary.Text, entries)
	m.chunks = slices.DeleteFunc(m.chunks, func(chunk annotator.Episode) bool {
		if !slices.Contains(m.step.Threads, chunk.Thread) {
			return false
		}
		covered.FromScene, covered.FromTurn = earlier(covered.FromScene, chunk.FromScene), earlier(covered.FromTurn, chunk.FromTurn)
		covered.ToScene, covered.ToTurn = max(covered.ToScene, chunk.ToScene), max(covered.ToTurn, chunk.ToTurn)
		c.Gone = append(c.Gone, chunk.ID)
		return true
	})
	for _, thread := range m.step.Threads {
		if text := m.summary.Threads[thread]; text != "" {
			e := covered
			e.Kind, e.Thread, e.Summary, e.Tokens = annotator.EpisodeThread, thread, text, tokens.Estimate(text)
			c.Episodes = append(c.Episodes, e)
		}
	}
	if m.story != nil {
		covered.Supersedes = m.story.ID
		covered.FromScene, covered.FromTurn = m.story.FromScene, m.story.FromTurn
		c.Gone = append(c.Gone, m.story.ID)
	}
	m.story = &covered
	c.Episodes = append(c.Episodes, covered)
}

// earlier is the smaller of two numbers, of which zero stands for none.
func earlier[N int | int64](a, b N) N {
	if a == 0 {
		return b
	}
	return min(a, b)
}

func (m *memory) episode(kind annotator.EpisodeKind, text string, entries []int64) annotator.Episode {
	e := annotator.Episode{Kind: kind, Summary: text, Entries: entries, By: m.by, Tokens: tokens.Estimate(text)}
	if n := len(m.step.Turns); n > 0 {
		e.FromScene, e.ToScene = m.step.Turns[0].Scene, m.step.Turns[n-1].Scene
		e.FromTurn, e.ToTurn = m.step.Turns[0].ID, m.step.Turns[n-1].ID
	}
	return e
}

// question is a message to the model that is no part of a scene.
type question struct {
	purpose     string
	note        string
	most        int // tokens of the answer
	temperature float64
	context     *storage.Context // system prompt and tools
	fixed       tokens.Size      // of these
	history     []byte           // that it follows
	size        tokens.Size      // of prompt and question together
	estimate    int              // of these, in tokens
}

// behind has a question follow the window as it was before a turn: a prefix of it.
func (r *Runner) behind(q *question, turn int64) error {
	history, size, err := r.window.Before(turn)
	asked := tokens.Measure(q.note).Framed(tokens.PerMessage)
	q.history, q.size = history, q.fixed.Plus(size).Plus(asked)
	q.estimate = r.promptTokens() - r.counter.Count(r.size().Minus(q.size))
	return err
}

// askable reports whether question and answer fit into the context.
func (r *Runner) askable(q *question) bool {
	return q.estimate+q.most+r.Config.SafetyMargin <= r.Config.ContextBudget
}

// ask puts a question to the model. It tries again as the retry policy says. The caller ends the call that brought the reply.
// A nil reply with the error errNotBetter means that there is none to be had.
func (r *Runner) ask(ctx context.Context, q *question) (*storage.Call, *model.Reply, error) {
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: q.note}
	note.Tokens = tokens.Estimate(note.Content) + tokens.PerMessage
	if err := r.Store.Note(ctx, note); err != nil {
		return nil, nil, err
	}
	encoded, err := r.Wire.Encode([]annotator.Message{{Role: annotator.RoleUser, Content: note.Content}})
	if err != nil {
		return nil, nil, err
	}
	history := slices.Clone(q.history)
	if len(history) > 0 {
		history = append(history, ',')
	}
	request := &model.Request{
		Model: r.Config.Model, System: q.context.SystemPrompt, History: append(history, encoded...), Tools: []byte(q.context.Tools),
		NoTools: true, MaxTokens: q.most, Temperature: q.temperature, Stream: r.Config.Stream,
	}
	call, reply, err := r.caller().insist(ctx, storage.Call{
		Turn: r.day.turn, Scene: r.day.row.N, Purpose: q.purpose, Estimate: q.estimate, Signs: storage.Signs(q.size),
	}, request)
	if errors.As(err, new(noAnswer)) {
		r.word(fmt.Sprintf("the model was asked to %s, and gave no answer: %s", q.purpose, err.Error()))
	}
	return call, reply, err
}

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

// leastSummary is how many tokens a summary must be given.
const leastSummary = 512

// byModel has the model write the summary. The request is the window as it stands with one message more, so that the server
// has nearly all of it in its cache.
func (m *memory) byModel(ctx context.Context, c *storage.Compaction) error {
	r := m.r
	q := &question{
		purpose: annotator.PurposeSummarise, note: compaction.Instruction(m.step), most: r.Config.SummaryTokens,
		temperature: r.Config.SummaryTemperature, frame: r.frame,
	}
	if err := r.behind(q, r.day.turn); err != nil {
		return err
	}
	if n := len(m.step.Turns); n > 0 && r.room(q) < leastSummary { // what is to be summed up is at the beginning: a shorter prefix will do
		if err := r.behind(q, r.window.Next(m.step.Turns[n-1].ID)); err != nil {
			return err
		}
	}
	if q.most = min(q.most, r.room(q)); q.most < leastSummary {
		return errNotBetter
	}
	reply, err := r.ask(ctx, q)
	if reply == nil {
		return err
	}
	m.by = annotator.AuthorModel
	if m.summary, err = compaction.Read(m.step, reply.Text); err != nil {
		return r.unusable(ctx, reply, err)
	}
	c.Call = reply.Call
	c.Reply = &annotator.Trace{Kind: annotator.TraceReply, Content: reply.Text, Reasoning: reply.Reasoning, Tokens: tokens.Estimate(reply.Text)}
	return nil
}

// unusable ends the call of a summary that cannot be used.
func (r *Runner) unusable(ctx context.Context, reply *model.Reply, wrong error) error {
	reply.Call.Discard(wrong.Error(), reply.Body())
	if err := r.Store.Calls.Fail(ctx, reply.Call); err != nil {
		return err
	}
	return errNotBetter
}

// byRule writes the summary without a model: which scenes, which entries, and how they began.
func (m *memory) byRule(ctx context.Context) error {
	entries, err := m.entries(ctx, m.step.Chunk)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(entries))
	for i := range entries {
		names = append(names, entries[i].Name())
	}
	var openings []string
	for _, t := range m.step.Chunk {
		scene, err := m.r.Store.Scenes.Get(ctx, t.Scene)
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
	m.summary = compaction.Summary{Chunk: compaction.Rule(m.step, names, openings), Story: m.storyByRule()}
	return nil
}

func (m *memory) storyByRule() string {
	var chunks []string
	for i := range m.chunks {
		if slices.Contains(m.step.Threads, m.chunks[i].Thread) {
			chunks = append(chunks, m.chunks[i].Summary)
		}
	}
	if m.story == nil {
		return compaction.RuleStory("", chunks)
	}
	return compaction.RuleStory(m.story.Summary, chunks)
}

func firstSentence(text string) string {
	if all := codex.Sentences(text); len(all) > 0 {
		return all[0]
	}
	return ""
}

// entries returns what the turns made or changed in the glossary.
func (m *memory) entries(ctx context.Context, turns []compaction.Turn) ([]annotator.Entry, error) {
	if len(turns) == 0 {
		return nil, nil
	}
	return m.r.Store.Glossary.ChangedIn(ctx, turns[0].ID, turns[len(turns)-1].ID)
}

// replace puts the summary into the memory in place of what it sums up. A chunk that was asked for and not written leaves its
// turns in the window.
func (m *memory) replace(ctx context.Context, c *storage.Compaction) error {
	if m.summary.Chunk == "" {
		m.step.Turns, m.step.Chunk = m.told(), nil
	}
	if len(m.step.Threads) > 0 {
		if err := m.tell(ctx, c); err != nil {
			return err
		}
	}
	if len(m.step.Chunk) > 0 {
		if err := m.chunk(ctx, c); err != nil {
			return err
		}
	}
	c.Fold.Memory = compaction.Render(m.story, m.chunks)
	c.Fold.Through = max(c.Fold.Through, lastTurn(m.step))
	return nil
}

// told returns the turns that become part of the story so far.
func (m *memory) told() []compaction.Turn { return m.step.Turns[:len(m.step.Turns)-len(m.step.Chunk)] }

// chunk adds a chunk summary at the end of the memory, so that all before it stays in the server's cache.
func (m *memory) chunk(ctx context.Context, c *storage.Compaction) error {
	thread := m.step.Chunk[0].Thread
	index, err := m.r.Store.Episodes.NextChunk(ctx, thread)
	if err != nil {
		return err
	}
	e, err := m.episode(ctx, annotator.EpisodeChunk, m.summary.Chunk, m.step.Chunk)
	if err != nil {
		return err
	}
	e.Thread, e.Index, e.Scenes = thread, index, compaction.Scenes(m.step.Chunk)
	m.chunks = append(m.chunks, *e)
	c.Episodes = append(c.Episodes, *e)
	return nil
}

// tell makes the story so far anew; the chunks of the threads that it takes in leave the window.
func (m *memory) tell(ctx context.Context, c *storage.Compaction) error {
	for _, thread := range m.step.Threads {
		text := m.summary.Threads[thread]
		if text == "" {
			continue
		}
		e, err := m.covering(ctx, annotator.EpisodeThread, text, thread)
		if err != nil {
			return err
		}
		e.Thread = thread
		c.Episodes = append(c.Episodes, *e)
	}
	story, err := m.covering(ctx, annotator.EpisodeCumulative, m.summary.Story, m.step.Threads...)
	if err != nil {
		return err
	}
	if m.story != nil {
		story.Supersedes = m.story.ID
		cover(story, m.story)
		c.Gone = append(c.Gone, m.story.ID)
	}
	m.chunks = slices.DeleteFunc(m.chunks, func(chunk annotator.Episode) bool {
		gone := slices.Contains(m.step.Threads, chunk.Thread)
		if gone {
			c.Gone = append(c.Gone, chunk.ID)
		}
		return gone
	})
	m.story = story
	c.Episodes = append(c.Episodes, *story)
	return nil
}

// covering returns an episode over what the window still has of threads: chunk summaries, and turns that give way.
func (m *memory) covering(ctx context.Context, kind annotator.EpisodeKind, text string, threads ...int64) (*annotator.Episode, error) {
	turns := slices.DeleteFunc(slices.Clone(m.told()), func(t compaction.Turn) bool { return !slices.Contains(threads, t.Thread) })
	e, err := m.episode(ctx, kind, text, turns)
	if err != nil {
		return nil, err
	}
	for i := range m.chunks {
		if chunk := &m.chunks[i]; slices.Contains(threads, chunk.Thread) {
			cover(e, chunk)
		}
	}
	return e, nil
}

// cover widens the range of an episode by that of another.
func cover(e, other *annotator.Episode) {
	e.FromScene, e.FromTurn = earlier(e.FromScene, other.FromScene), earlier(e.FromTurn, other.FromTurn)
	e.ToScene, e.ToTurn = max(e.ToScene, other.ToScene), max(e.ToTurn, other.ToTurn)
}

// earlier is the smaller of two numbers, of which zero stands for none.
func earlier[N int | int64](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func (m *memory) episode(ctx context.Context, kind annotator.EpisodeKind, text string, turns []compaction.Turn) (*annotator.Episode, error) {
	e := &annotator.Episode{Kind: kind, Summary: text, By: m.by, Tokens: tokens.Estimate(text)}
	for i := range turns { // not all of them need be in story order: a scene that was refused may be read late
		t := &turns[i]
		cover(e, &annotator.Episode{FromScene: t.Scene, ToScene: t.Scene, FromTurn: t.ID, ToTurn: t.ID})
	}
	entries, err := m.entries(ctx, turns)
	for i := range entries {
		e.Entries = append(e.Entries, entries[i].ID)
	}
	return e, err
}

// question is a message to the model that is no part of a scene.
type question struct {
	purpose     annotator.CallPurpose
	note        string
	most        int // tokens of the answer
	temperature float64
	frame       frame
	history     []byte      // that it follows
	size        tokens.Size // of prompt and question together
	estimate    int         // of these, in tokens
}

// behind has a question follow the window as it was before a turn: a prefix of it.
func (r *Runner) behind(q *question, turn int64) error {
	history, size, err := r.window.Before(turn)
	asked := tokens.Measure(q.note).Framed(tokens.PerMessage)
	q.history, q.size = history, q.frame.size.Plus(size).Plus(asked)
	q.estimate = r.promptTokens() - r.counter.Count(r.size().Minus(q.size))
	return err
}

// room is how many tokens an answer to the question may have.
func (r *Runner) room(q *question) int {
	return r.Config.ContextBudget - r.Config.SafetyMargin - q.estimate
}

// noAnswer is the error of a question that the model did not answer. What it was for has to do without.
type noAnswer struct{ *model.Fault }

// Is makes it one of the errors for which a step of compaction is given up.
func (noAnswer) Is(target error) bool { return target == errNotBetter }

// ask puts a question to the model. The caller ends the call of the reply. The error is noAnswer where there is no reply.
func (r *Runner) ask(ctx context.Context, q *question) (*model.Reply, error) {
	if err := r.checkAnswers(ctx, q.purpose); err != nil {
		return nil, err
	}
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: q.note}
	note.Tokens = tokens.Estimate(note.Content) + tokens.PerMessage
	if err := r.Store.Journal.AppendOnce(ctx, note); err != nil {
		return nil, err
	}
	encoded, err := r.Wire.Encode([]annotator.Message{{Role: annotator.RoleUser, Content: note.Content}})
	if err != nil {
		return nil, err
	}
	reply, err := r.client().Complete(ctx, &model.Request{
		System: q.frame.system, History: appendMessages(q.history, encoded), Tools: q.frame.tools,
		Choice: model.Choice{Mode: model.ChoiceNone}, MaxTokens: q.most, Temperature: q.temperature, Stream: r.Config.Stream,
		Call:     annotator.Call{Turn: r.day.turn, Scene: r.day.row.N, Purpose: q.purpose, Estimate: q.estimate, Characters: q.size},
		MaxReply: r.maxReply(q.estimate), LeastPrompt: q.frame.least(q.size),
	})
	if unanswered := (*model.Unanswered)(nil); errors.As(err, &unanswered) {
		r.word(fmt.Sprintf("the model was asked to %s, and gave no answer: %s", q.purpose, err.Error()))
		err = noAnswer{unanswered.Fault}
	}
	return reply, err
}

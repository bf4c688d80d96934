package window

import (
	"context"
	"slices"

	"annotator"
	"annotator/codex"
	"annotator/context/compaction"
	"annotator/context/tokens"
)

// memory is the episodes at the beginning of the window, before the turns, while a step of compaction rewrites them.
type memory struct {
	*Window
	step    compaction.Step
	story   *annotator.Episode // so far; nil before the first
	chunks  []annotator.Episode
	author  annotator.Author // of the summary
	summary compaction.Summary
}

// summarise has the model or a rule write the summary of a step, and fills in the compaction with it. Answer is nil if
// a rule wrote it.
func (w *Window) summarise(
	ctx context.Context, step compaction.Step, c *annotator.Compaction,
) (answer *Answer, err error) {
	story, chunks, err := w.sources.Episodes.InForce(ctx)
	if err != nil {
		return nil, err
	}
	m := &memory{Window: w, step: step, story: story, chunks: chunks}
	if step.Tier == compaction.TierRule {
		err = m.byRule(ctx)
	} else {
		answer, err = m.byModel(ctx)
	}
	if err == nil {
		err = m.rewrite(ctx, c)
	}
	return answer, err
}

// minSummary is how many tokens a summary must be given.
const minSummary = 512

// byModel has the model write the summary. Its prompt is the window as it is with one more message, so that the server
// has nearly all of it in its cache.
func (m *memory) byModel(ctx context.Context) (*Answer, error) {
	q, err := m.question(m.scene.turn)
	// A shorter prefix has the turns to summarise, too: they are the oldest.
	if n := len(m.step.Turns); err == nil && n > 0 && q.MaxTokens < minSummary {
		q, err = m.question(m.history.Next(m.step.Turns[n-1].ID))
	}
	if err != nil {
		return nil, err
	}
	if q.MaxTokens < minSummary {
		return nil, ErrNoSummary
	}
	answer, err := m.sources.Summarise(ctx, q)
	if err != nil {
		return nil, err
	}
	m.author = annotator.AuthorModel
	if m.summary, err = compaction.Read(m.step, answer.Text); err != nil {
		return nil, m.reject(ctx, answer, err)
	}
	return answer, nil
}

// question returns the request for the summary, at the end of the window as it was before a turn.
func (m *memory) question(turn int64) (*Question, error) {
	text, err := compaction.Instruction(m.Config.SummaryTemplate, m.step)
	if err != nil {
		return nil, err
	}
	q := &Question{Text: text, Temperature: m.Config.SummaryTemperature}
	p, err := m.Before(turn)
	if err == nil {
		err = p.Ask(q.Text)
	}
	q.Prompt, q.MaxTokens = p, min(m.Config.SummaryTokens, m.Limits.ReplyAfter(p))
	return q, err
}

// byRule writes the summary without a model.
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
		scene, err := m.sources.Scenes.Get(ctx, t.Scene)
		if err != nil {
			return err
		}
		posts, err := m.sources.Posts(ctx, scene.Thread.ID, scene.Posts[:1])
		if err != nil {
			return err
		}
		openings = append(openings, firstSentence(posts[0].Body))
	}
	m.author = annotator.AuthorRule
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
	return m.sources.ChangedIn(ctx, turns[0].ID, turns[len(turns)-1].ID)
}

// rewrite puts the summary into the memory in place of what it summarises. If a chunk was requested and not written,
// its turns stay in the window.
func (m *memory) rewrite(ctx context.Context, c *annotator.Compaction) error {
	if m.summary.Chunk == "" {
		m.step.Turns, m.step.Chunk = m.storyTurns(), nil
	}
	if len(m.step.Threads) > 0 {
		if err := m.addStory(ctx, c); err != nil {
			return err
		}
	}
	if len(m.step.Chunk) > 0 {
		if err := m.addChunk(ctx, c); err != nil {
			return err
		}
	}
	c.State.Memory = compaction.Render(m.story, m.chunks)
	c.State.Through = max(c.State.Through, lastTurn(m.step))
	return nil
}

// storyTurns returns the turns that become part of the story so far.
func (m *memory) storyTurns() []compaction.Turn {
	return m.step.Turns[:len(m.step.Turns)-len(m.step.Chunk)]
}

// addChunk adds a chunk summary at the end of the memory, so that all before it stays in the server's cache.
func (m *memory) addChunk(ctx context.Context, c *annotator.Compaction) error {
	thread := m.step.Chunk[0].Thread
	index, err := m.sources.Episodes.NextChunk(ctx, thread)
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

// addStory replaces the story so far. The chunks of the threads that it includes leave the window.
func (m *memory) addStory(ctx context.Context, c *annotator.Compaction) error {
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

// covering returns an episode over the chunk summaries of threads and over those of their turns that leave the window.
func (m *memory) covering(
	ctx context.Context, kind annotator.EpisodeKind, text string, threads ...int64,
) (*annotator.Episode, error) {
	turns := slices.DeleteFunc(slices.Clone(m.storyTurns()), func(t compaction.Turn) bool {
		return !slices.Contains(threads, t.Thread)
	})
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

// cover extends the range of an episode by that of another.
func cover(e, other *annotator.Episode) {
	e.FromScene, e.FromTurn = earlier(e.FromScene, other.FromScene), earlier(e.FromTurn, other.FromTurn)
	e.ToScene, e.ToTurn = max(e.ToScene, other.ToScene), max(e.ToTurn, other.ToTurn)
}

// earlier is the smaller of two numbers; zero stands for none.
func earlier[N int | int64](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// episode returns an episode over turns, with the entries that they made or changed.
func (m *memory) episode(
	ctx context.Context, kind annotator.EpisodeKind, text string, turns []compaction.Turn,
) (*annotator.Episode, error) {
	e := &annotator.Episode{Kind: kind, Summary: text, By: m.author, Tokens: tokens.Estimate(text)}
	for i := range turns { // a scene that was quarantined may be read late, so they need not be in story order
		t := &turns[i]
		cover(e, &annotator.Episode{FromScene: t.Scene, ToScene: t.Scene, FromTurn: t.ID, ToTurn: t.ID})
	}
	entries, err := m.entries(ctx, turns)
	for i := range entries {
		e.Entries = append(e.Entries, entries[i].ID)
	}
	return e, err
}

package window

import (
	"context"
	"errors"
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
	newest  *annotator.Episode // story so far, in the window or not; nil before the first
	author  annotator.Author   // of the summary
	summary compaction.Summary
	told    bool // the newest story so far includes all that the step makes part of it
}

// newMemory returns the episodes in the window, which a step is to rewrite.
func (w *Window) newMemory(ctx context.Context, step compaction.Step) (*memory, error) {
	story, chunks, err := w.sources.Episodes.InForce(ctx)
	if err != nil {
		return nil, err
	}
	newest, err := w.sources.Episodes.Newest(ctx, annotator.EpisodeCumulative, 0)
	if err != nil {
		return nil, err
	}
	return &memory{Window: w, step: step, story: story, chunks: chunks, newest: newest}, err
}

// summarise gets the summary of a step from the model or a rule, and fills in the compaction with it. A story so far
// that was made at the end of a thread is used if there is one. Then only the chunk is asked for. Answer is nil if the
// model was not asked.
func (w *Window) summarise(
	ctx context.Context, step compaction.Step, c *annotator.Compaction,
) (answer *Answer, err error) {
	m, err := w.newMemory(ctx, step)
	if err != nil {
		return nil, err
	}
	if m.step.Known, err = w.sources.Episodes.NeedNoSummary(ctx, step.Threads); err != nil {
		return nil, err
	}
	m.step.Known = append(m.step.Known, w.scene.thread) // whose end asks for its summary
	m.joinTold()
	m.told = step.Tier != compaction.TierRule && m.toldBefore()
	switch {
	case step.Tier == compaction.TierRule:
		err = m.byRule(ctx)
	case !m.told:
		answer, err = m.byModel(ctx)
	case len(m.step.Chunk) > 0:
		if answer, err = m.byModel(ctx); errors.Is(err, ErrNoSummary) {
			err = nil // the story takes the place of the threads without the chunk
		}
	}
	if err == nil {
		err = m.rewrite(ctx, c)
	}
	return answer, err
}

// joinTold makes a chunk that the newest story so far includes a part of that. Its thread has ended, and its newest
// turns stay in the window. A summary of the chunk would repeat that of the thread.
func (m *memory) joinTold() {
	if n := len(m.step.Chunk); n > 0 && m.newest != nil && lastTurn(m.step.Chunk) <= m.newest.ToTurn &&
		m.step.Tier != compaction.TierRule {
		m.step.Threads = append(m.step.Threads, m.step.Chunk[0].Thread)
		m.step.Known = append(m.step.Known, m.step.Chunk[0].Thread)
		m.step.Chunk = nil
	}
}

// toldBefore reports whether the newest story so far includes all that the step makes part of it.
func (m *memory) toldBefore() bool {
	if len(m.step.Threads) == 0 || m.newest == nil {
		return false
	}
	last := lastTurn(m.storyTurns())
	for i := range m.chunks {
		if slices.Contains(m.step.Threads, m.chunks[i].Thread) {
			last = max(last, m.chunks[i].ToTurn)
		}
	}
	return last <= m.newest.ToTurn
}

// reuseStory puts the newest story so far into the memory.
func (m *memory) reuseStory(c *annotator.Compaction) {
	if m.story == nil || m.story.ID != m.newest.ID {
		c.Entered = append(c.Entered, m.newest.ID)
		m.enter(m.newest, c)
	} else {
		m.enter(nil, c)
	}
}

// asked is the part of the step that the model is to summarise.
func (m *memory) asked() compaction.Step {
	if m.told {
		return compaction.Step{Tier: m.step.Tier, Turns: m.step.Chunk, Chunk: m.step.Chunk}
	}
	return m.step
}

// minSummary is how many tokens a summary must be given.
const minSummary = 512

// byModel asks the model for the summary. Its prompt is the window as it is with one more message, so that the server
// has nearly all of it in its cache.
func (m *memory) byModel(ctx context.Context) (*Answer, error) {
	q, err := m.question(m.scene.turn)
	noRoom := func() bool { return err == nil && q.MaxTokens < minSummary }
	// A shorter prefix has the turns to summarise, too: they are the oldest. Of a chunk the newest turns may stay.
	if noRoom() && len(m.step.Turns) > 0 {
		q, err = m.question(m.history.Next(lastTurn(m.step.Turns)))
	}
	for n := len(m.step.Chunk); noRoom() && n > 1; n-- {
		m.step.Turns, m.step.Chunk = m.step.Turns[:len(m.step.Turns)-1], m.step.Chunk[:n-1]
		q, err = m.question(m.history.Next(lastTurn(m.step.Turns)))
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
	if m.summary, err = compaction.Read(m.asked(), answer.Text); err != nil {
		return nil, m.reject(ctx, answer, err)
	}
	return answer, nil
}

// question returns the request for the summary, at the end of the window as it was before a turn.
func (m *memory) question(turn int64) (*Question, error) {
	text, err := compaction.Instruction(m.Config.SummaryTemplate, m.asked())
	if err != nil {
		return nil, err
	}
	q := &Question{Text: text, Temperature: m.Config.SummaryTemperature}
	p, err := m.Before(turn)
	if err == nil {
		err = p.Ask(q.Text)
	}
	q.Prompt, q.MaxTokens = p, min(m.Config.SummaryTokens, m.Budget.ReplyTo(p.Tokens()))
	return q, err
}

// byRule writes the summary without a model.
func (m *memory) byRule(ctx context.Context) error {
	text, err := m.rule(ctx, m.step.Chunk)
	m.author = annotator.AuthorRule
	m.summary = compaction.Summary{Chunk: text, Story: m.storyByRule()}
	return err
}

// rule summarises turns of a thread without a model.
func (m *memory) rule(ctx context.Context, turns []compaction.Turn) (string, error) {
	if len(turns) == 0 {
		return "", nil
	}
	entries, err := m.sources.ChangedIn(ctx, m.episode(annotator.EpisodeChunk, "", turns))
	if err != nil {
		return "", err
	}
	names := make([]string, 0, len(entries))
	for i := range entries {
		names = append(names, entries[i].Name())
	}
	var openings []string
	for _, t := range turns {
		scene, err := m.sources.Scenes.Get(ctx, t.Scene)
		if err != nil {
			return "", err
		}
		posts, err := m.sources.Posts(ctx, scene.Thread.ID, scene.Posts[:1])
		if err != nil {
			return "", err
		}
		openings = append(openings, firstSentence(posts[0].Body))
	}
	return compaction.Rule(turns, names, openings), nil
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

// rewrite puts the summary into the memory in place of what it summarises. If a chunk was requested and not written,
// its turns stay in the window.
func (m *memory) rewrite(ctx context.Context, c *annotator.Compaction) error {
	if m.summary.Chunk == "" {
		m.step.Turns, m.step.Chunk = m.storyTurns(), nil
	}
	switch {
	case m.told:
		m.reuseStory(c)
	case len(m.step.Threads) > 0:
		if err := m.addStory(ctx, c); err != nil {
			return err
		}
	}
	if len(m.step.Chunk) > 0 {
		if err := m.addChunk(ctx, c); err != nil {
			return err
		}
	}
	m.finish(c)
	return nil
}

// finish gives the compaction the state of the rewritten memory.
func (m *memory) finish(c *annotator.Compaction) {
	c.State.Memory = compaction.Render(m.story, m.chunks)
	c.State.Through = max(c.State.Through, lastTurn(m.step.Turns))
}

// storyTurns returns the turns that become part of the story so far.
func (m *memory) storyTurns() []compaction.Turn {
	return m.step.Turns[:len(m.step.Turns)-len(m.step.Chunk)]
}

// addChunk adds a chunk summary at the end of the memory, so that all before it stays in the server's cache.
func (m *memory) addChunk(ctx context.Context, c *annotator.Compaction) error {
	thread := m.step.Chunk[0].Thread
	former, err := m.sources.Episodes.Newest(ctx, annotator.EpisodeChunk, thread)
	if err != nil {
		return err
	}
	e := m.episode(annotator.EpisodeChunk, m.summary.Chunk, m.step.Chunk)
	if e.Thread = thread; former != nil {
		e.Index = former.Index + 1
	}
	entries, err := m.sources.ChangedIn(ctx, e)
	if err != nil {
		return err
	}
	for i := range entries {
		e.Entries = append(e.Entries, entries[i].ID)
	}
	m.chunks = append(m.chunks, *e)
	c.Episodes = append(c.Episodes, *e)
	return nil
}

// addStory replaces the story so far. A thread that has no summary gets one by rule.
func (m *memory) addStory(ctx context.Context, c *annotator.Compaction) error {
	for _, thread := range m.step.Wanted() {
		e, err := m.threadEpisode(ctx, thread)
		if err != nil {
			return err
		}
		c.Episodes = append(c.Episodes, *e)
	}
	story := m.newStory()
	m.enter(story, c)
	c.Episodes = append(c.Episodes, *story)
	return nil
}

// threadEpisode returns the summary of a thread: what the model wrote, else one by rule.
func (m *memory) threadEpisode(ctx context.Context, thread int64) (e *annotator.Episode, err error) {
	text, author := m.summary.Threads[thread], m.author
	if text == "" {
		author = annotator.AuthorRule
		if text, err = m.threadByRule(ctx, thread); err != nil {
			return nil, err
		}
	}
	e = m.covering(annotator.EpisodeThread, text, thread)
	e.Thread, e.By = thread, author
	return e, nil
}

// threadByRule summarises a thread from its chunk summaries and its turns.
func (m *memory) threadByRule(ctx context.Context, thread int64) (string, error) {
	text, err := m.rule(ctx, m.turnsOf(thread))
	if err != nil {
		return "", err
	}
	var parts []string
	for i := range m.chunks {
		if m.chunks[i].Thread == thread {
			parts = append(parts, m.chunks[i].Summary)
		}
	}
	if text != "" {
		parts = append(parts, text)
	}
	return compaction.RuleStory("", parts), nil
}

// newStory returns the story so far that supersedes the newest.
func (m *memory) newStory() *annotator.Episode {
	story := m.covering(annotator.EpisodeCumulative, m.summary.Story, m.step.Threads...)
	if m.newest != nil {
		story.Supersedes = m.newest.ID
	}
	if m.story != nil {
		cover(story, m.story)
	}
	return story
}

// enter puts a story so far into the memory; nil: the one that is there stays. The chunks of the threads that it
// includes leave the window.
func (m *memory) enter(story *annotator.Episode, c *annotator.Compaction) {
	if story != nil && m.story != nil {
		c.Gone = append(c.Gone, m.story.ID)
	}
	m.chunks = slices.DeleteFunc(m.chunks, func(chunk annotator.Episode) bool {
		gone := slices.Contains(m.step.Threads, chunk.Thread)
		if gone {
			c.Gone = append(c.Gone, chunk.ID)
		}
		return gone
	})
	if story != nil {
		m.story = story
	}
}

// covering returns an episode over the chunk summaries of threads and over those of their turns that leave the window.
func (m *memory) covering(kind annotator.EpisodeKind, text string, threads ...int64) *annotator.Episode {
	e := m.episode(kind, text, m.turnsOf(threads...))
	for i := range m.chunks {
		if chunk := &m.chunks[i]; slices.Contains(threads, chunk.Thread) {
			cover(e, chunk)
		}
	}
	return e
}

// turnsOf returns those of the turns that become part of the story so far that belong to threads.
func (m *memory) turnsOf(threads ...int64) []compaction.Turn {
	return slices.DeleteFunc(slices.Clone(m.storyTurns()), func(t compaction.Turn) bool {
		return !slices.Contains(threads, t.Thread)
	})
}

// cover extends the range of an episode by that of another.
func cover(e, other *annotator.Episode) {
	if e.FromTurn == 0 || other.FromTurn != 0 && other.FromTurn < e.FromTurn {
		e.FromTurn = other.FromTurn
	}
	if e.From == 0 || other.From != 0 && other.From < e.From {
		e.FromScene, e.From = other.FromScene, other.From
	}
	if other.To > e.To {
		e.ToScene, e.To = other.ToScene, other.To
	}
	e.ToTurn = max(e.ToTurn, other.ToTurn)
}

// episode returns an episode over turns.
func (m *memory) episode(kind annotator.EpisodeKind, text string, turns []compaction.Turn) *annotator.Episode {
	e := &annotator.Episode{Kind: kind, Summary: text, By: m.author, Tokens: tokens.Estimate(text)}
	for i := range turns { // a scene that was quarantined may be read late, so they need not be in story order
		t := &turns[i]
		cover(e, &annotator.Episode{
			FromScene: t.Scene, ToScene: t.Scene, From: t.Order, To: t.Order, FromTurn: t.ID, ToTurn: t.ID,
		})
	}
	return e
}

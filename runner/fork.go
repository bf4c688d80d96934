package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"annotator"
	"annotator/context/prompt"
	"annotator/context/tokens"
	"annotator/curator"
	"annotator/model"
	"annotator/storage"
)

// fork is the window as it stands when a thread ends, put to another use: questions follow it one at a time, and none of them
// is there for the next. Nothing is copied, and nothing of it remains but what was decided.
type fork struct {
	*Runner
	turn     int64           // before which the window is looked at; 0: all of it
	question question        // but for its words
	last     annotator.Post  // that has been read
	at       annotator.Place // of that
}

func (r *Runner) fork(ctx context.Context, turn int64) (*fork, error) {
	row := r.day.row
	f := &fork{Runner: r, turn: turn, at: annotator.PlaceAt(row.N, len(row.Posts)-1)}
	last, err := r.Corpus.Post(ctx, row.Posts[len(row.Posts)-1])
	if err != nil {
		return nil, err
	}
	f.last = *last
	f.question = question{
		purpose: "curate", most: r.Config.Curator.MaxTokens, temperature: r.Config.Curator.Temperature, frame: r.frame,
	}
	if r.Config.Curator.Prompt == CuratorReplaced {
		f.question.frame = frame{system: curator.System(), size: prompt.Size(curator.System(), "")}
	}
	return f, r.learnNames(ctx)
}

// candidate gathers what the judge is shown with an entry; nil where a former decision has settled it.
func (f *fork) candidate(ctx context.Context, id int64) (*curator.Candidate, error) {
	e, err := f.Store.Glossary().Entry(ctx, id)
	if err != nil || e.Status != annotator.Tentative {
		return nil, err
	}
	c := &curator.Candidate{Entry: *e}
	if c.First, err = f.firstNaming(ctx, e); err != nil {
		return nil, err
	}
	if c.Posts, err = f.around(ctx, c.First); err != nil {
		return nil, err
	}
	c.Similar, err = f.similar(ctx, e)
	return c, err
}

// firstNaming returns the post that an entry appears in first: the one of its first scene that names it, else the one that it
// was dated by.
func (f *fork) firstNaming(ctx context.Context, e *annotator.Entry) (int64, error) {
	row, err := f.Store.Scene(ctx, max(e.First.Scene(), 1))
	if err != nil {
		return 0, err
	}
	posts, err := f.Corpus.Scene(ctx, row.Thread.ID, row.Posts)
	if err != nil {
		return 0, err
	}
	at := curator.FirstNaming(posts, e)
	if at < 0 {
		at = min(e.First.Rank(), len(posts)-1)
	}
	return posts[at].ID, nil
}

// neighbors is how many posts before and after the first appearance the judge is shown.
const neighbors = 3

// around returns the posts around one, without those that are not read yet.
func (f *fork) around(ctx context.Context, post int64) ([]annotator.Post, error) {
	posts, err := f.Corpus.Around(ctx, post, neighbors)
	return slices.DeleteFunc(posts, func(p annotator.Post) bool {
		return p.Thread == f.last.Thread && cmp.Or(cmp.Compare(p.Time, f.last.Time), cmp.Compare(p.ID, f.last.ID)) > 0
	}), err
}

// namesakes is how many entries that share a word of their names are looked at for the similar ones.
const namesakes = 20

func (f *fork) similar(ctx context.Context, e *annotator.Entry) ([]annotator.Entry, error) {
	g := f.Store.Glossary()
	ids, err := g.Namesakes(ctx, e, namesakes)
	if err != nil {
		return nil, err
	}
	others, err := g.Entries(ctx, append(ids, f.alike.Like(e)...))
	return curator.Closest(e, others), err
}

// judge asks about a candidate until there is a usable answer, at most twice, and writes down what follows from it. What
// was asked is in the journal before it is sent; the answer commits with its effect, or with the question that corrects it.
func (f *fork) judge(ctx context.Context, c *curator.Candidate) (curator.Decision, error) {
	asked, again, err := f.pending(ctx, c.Question())
	for err == nil {
		call, reply, asking := f.put(ctx, asked)
		if reply == nil {
			if !errors.Is(asking, errNotBetter) {
				return curator.Decision{}, asking
			}
			return f.leave(ctx, c, nil, asking.Error())
		}
		d, revisions, wrong := f.read(c, reply)
		if wrong == nil {
			return d, f.carryOut(ctx, call, reply, revisions)
		}
		spoil(call, reply, wrong)
		if again {
			return f.leave(ctx, c, call, wrong.Error())
		}
		asked, again = curator.Correction(asked, wrong.Error()), true
		err = f.Store.Decide(ctx, call, note(asked), nil)
	}
	return curator.Decision{}, err
}

// pending returns what is to be asked: the question, or its correction where a former process ended after writing that.
func (f *fork) pending(ctx context.Context, question string) (asked string, again bool, err error) {
	newest, err := f.Store.Newest(ctx)
	if newest.Kind == annotator.TraceNote && newest.Turn == 0 && curator.IsCorrection(newest.Content, question) {
		return newest.Content, true, err
	}
	return question, false, err
}

// put sends a question after the window; alone, where the window leaves no room for it.
func (f *fork) put(ctx context.Context, asked string) (*storage.Call, *model.Reply, error) {
	q := f.question
	q.note = asked
	if err := f.behind(&q, f.turn); err != nil {
		return nil, nil, err
	}
	if f.room(&q) < q.most {
		q.history, q.size = nil, q.frame.size.Plus(tokens.Measure(asked)).Framed(tokens.PerMessage)
		q.estimate = f.counter.Count(q.size)
	}
	return f.ask(ctx, &q)
}

// read tells what an answer decides and changes, or what is wrong with it.
func (f *fork) read(c *curator.Candidate, reply *model.Reply) (curator.Decision, []annotator.Revision, error) {
	if len(reply.Calls) > 0 {
		return curator.Decision{}, nil, errors.New("it calls a tool")
	}
	d, err := c.Read(reply.Text)
	if err != nil {
		return d, nil, err
	}
	d.Thread = f.day.row.Thread.ID
	revisions, err := c.Revisions(d, f.at)
	return d, revisions, err
}

// carryOut writes down a decision: the answer and all that it changes, or nothing.
func (f *fork) carryOut(ctx context.Context, call *storage.Call, reply *model.Reply, revisions []annotator.Revision) error {
	row := &annotator.Trace{Kind: annotator.TraceReply, Content: reply.Text, Reasoning: reply.Reasoning, Tokens: tokens.Estimate(reply.Text)}
	if err := f.Store.Decide(ctx, call, row, revisions); err != nil {
		return err
	}
	f.learned(call)
	var touched []int64
	for i := range revisions {
		if id := revisions[i].Entry; !slices.Contains(touched, id) {
			touched = append(touched, id)
		}
	}
	return f.learn(ctx, touched...)
}

// leave has an entry stay as it is, with a note that says why. The call is nil where it has ended already.
func (f *fork) leave(ctx context.Context, c *curator.Candidate, call *storage.Call, why string) (curator.Decision, error) {
	d := curator.Decision{Verdict: curator.None, Reason: why, Thread: f.day.row.Thread.ID}
	if runes := []rune(why); len(runes) > curator.MaxReason {
		d.Reason = string(runes[:curator.MaxReason])
	}
	revisions, err := c.Revisions(d, f.at)
	if err != nil {
		return d, err
	}
	row := note(fmt.Sprintf("Entry %d stays tentative: the curator gave no usable answer: %s", c.Entry.ID, d.Reason))
	return d, f.Store.Decide(ctx, call, row, revisions)
}

// spoil gives a call the outcome that its answer could not be used.
func spoil(call *storage.Call, reply *model.Reply, wrong error) {
	call.Outcome, call.Decision, call.Fault = string(annotator.Malformed), "not used", wrong.Error()
	call.Raw = reply.Raw
	if len(call.Raw) == 0 {
		call.Raw = []byte(reply.Text)
	}
}

func note(text string) *annotator.Trace {
	return &annotator.Trace{Kind: annotator.TraceNote, Content: text, Tokens: tokens.Estimate(text) + tokens.PerMessage}
}

package tools_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/tools"
)

// glossary is a codex in memory with the rules of the database's.
type glossary struct {
	entries  []*annotator.Entry
	revision int64
	broken   error // what every method fails with

	questions []annotator.Question
}

var errNoEntry = annotator.Errorf(annotator.NotFound, "there is no such entry")

func (g *glossary) WholeEntry(ctx context.Context, id int64) (*annotator.Entry, error) {
	return g.Entry(ctx, id)
}

func (g *glossary) Hidden(_ context.Context, name string) (found []annotator.Entry, err error) {
	key := codex.Normalize(name)
	for _, e := range g.entries {
		if e.Status == annotator.Retired && slices.Contains(e.Locks, codex.LockStatus) && codex.Normalize(e.Term) == key {
			found = append(found, codex.Clone(e))
		}
	}
	return found, g.broken
}

func (g *glossary) Questions(context.Context) ([]annotator.Question, error) {
	return g.questions, g.broken
}

func (g *glossary) Entry(_ context.Context, id int64) (*annotator.Entry, error) {
	if id < 1 || id > int64(len(g.entries)) || g.broken != nil {
		return nil, cmp.Or[error](g.broken, errNoEntry)
	}
	e := *g.entries[id-1]
	return &e, nil
}

func (g *glossary) Quoting(_ context.Context, post int64) (found []annotator.Entry, err error) {
	for _, e := range g.entries {
		if e.Status.Live() && slices.ContainsFunc(e.Claims, func(c annotator.Claim) bool {
			return slices.ContainsFunc(c.Evidence, func(v annotator.Evidence) bool { return v.Post == post })
		}) {
			found = append(found, codex.Clone(e))
		}
	}
	return found, nil
}

func (g *glossary) Named(_ context.Context, name string) (found []annotator.Entry, err error) {
	key := codex.Normalize(name)
	full := func(e *annotator.Entry) bool { return codex.Normalize(e.Name()) == key }
	alias := func(e *annotator.Entry) bool {
		return slices.ContainsFunc(e.Aliases, func(a annotator.Alias) bool { return codex.Normalize(a.Name) == key })
	}
	for _, goesBy := range []func(*annotator.Entry) bool{full, alias} {
		for _, e := range g.entries {
			if e.Status.Live() && goesBy(e) {
				found = append(found, codex.Clone(e))
			}
		}
		if found != nil {
			break
		}
	}
	return found, g.broken
}

func (g *glossary) Search(_ context.Context, q annotator.Query) ([]annotator.Entry, error) {
	if g.broken != nil {
		return nil, g.broken
	}
	statuses := q.Statuses
	if statuses == nil {
		statuses = []annotator.Status{annotator.Tentative, annotator.Confirmed}
	}
	var found []annotator.Entry
	for _, e := range g.entries {
		tagged := !slices.ContainsFunc(q.Tags, func(tag string) bool { return !slices.Contains(e.Tags, tag) })
		text := codex.Normalize(e.Name() + " " + e.Definition())
		if tagged && slices.Contains(statuses, e.Status) && strings.Contains(text, codex.Normalize(q.Text)) &&
			len(found) < q.Limit {
			found = append(found, *e)
		}
	}
	return found, nil
}

func (g *glossary) Revise(ctx context.Context, revisions []annotator.Revision) (*annotator.Entry, error) {
	if g.broken != nil {
		return nil, g.broken
	}
	if len(revisions) == 0 {
		return nil, errors.New("no revision to write")
	}
	id := revisions[0].Entry
	if id == 0 {
		id = int64(len(g.entries) + 1)
		g.entries = append(g.entries, &annotator.Entry{ID: id, Status: annotator.Tentative})
	}
	for _, r := range revisions {
		g.revision++
		r.ID, r.Entry = g.revision, id
		if err := codex.Apply(g.entries[id-1], &r); err != nil {
			return nil, err
		}
	}
	return g.Entry(ctx, id)
}

// posts is a corpus of one thread, in order.
type posts []annotator.Post

func (p posts) index(id int64) int {
	return slices.IndexFunc(p, func(post annotator.Post) bool { return post.ID == id })
}

func (p posts) Post(_ context.Context, id int64) (*annotator.Post, error) {
	at := p.index(id)
	if at < 0 {
		return nil, annotator.Errorf(annotator.NotFound, "there is no post %d", id)
	}
	return &p[at], nil
}

func (p posts) Around(_ context.Context, id int64, n int) ([]annotator.Post, error) {
	at := p.index(id)
	return slices.Clone(p[max(at-n, 0):min(at+n+1, len(p))]), nil
}

func (p posts) Range(_ context.Context, thread, from, to int64, tag string, limit int) ([]annotator.Post, error) {
	first, last := 0, len(p)-1
	if from != 0 {
		first = p.index(from)
	}
	if to != 0 {
		last = p.index(to)
	}
	if first < 0 || last < 0 {
		return nil, annotator.Errorf(annotator.NotFound, "the thread has no such post")
	}
	var found []annotator.Post
	for i := first; i <= last && len(found) < limit; i++ {
		if p[i].Thread == thread && (tag == "" || slices.Contains(p[i].Tags, tag)) {
			found = append(found, p[i])
		}
	}
	return found, nil
}

// world is the environment of the calls of a test: scene 3 of a thread, with posts 30 and 31.
type world struct {
	t        *testing.T
	glossary *glossary
	env      *tools.Env
	registry *tools.Registry
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return worldOf(t, newRegistry(t))
}

func newRegistry(t testing.TB) *tools.Registry {
	t.Helper()
	registry, err := tools.New(tools.Standard()...)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

func worldOf(t *testing.T, registry *tools.Registry) *world {
	story := []string{annotator.TagStory}
	thread := posts{
		{ID: 10, Thread: 1, Name: "Author", Subject: "Quest", Body: "Mik the smith lives in Vys.", Tags: story},
		{ID: 11, Thread: 1, Name: "Reader", Body: "Go on!"},
		{ID: 30, Thread: 1, Name: "Author", Body: "The Dawn’s a grey ship.\nShe sails at night.", Tags: story},
		{ID: 31, Thread: 1, Name: "Author", Body: "“Mik stole her,” said Ann.", Tags: story},
		{ID: 40, Thread: 1, Name: "Author", Body: "Ann burned the Dawn.", Tags: story},
	}
	w := &world{t: t, glossary: &glossary{}, registry: registry}
	w.env = &tools.Env{
		Glossary: w.glossary, Posts: thread, Actor: annotator.ActorModel,
		Scene:    &annotator.Scene{N: 3, Order: 3, Thread: annotator.Thread{ID: 1}, Posts: thread[2:4]},
		Readable: func(_ context.Context, p *annotator.Post) (bool, error) { return p.ID < 40, nil },
	}
	return w
}

// answer is the content of any result.
type answer struct {
	OK    bool
	Error struct {
		Code, Message string
		Errors, Tools []string
		PostID        int64 `json:"post_id"`
		EntryID       int64 `json:"entry_id"`
		Entry         *entry
	}
	Entry entry
	Count int
	Added []int64
	Known []int64
	Weak  []struct {
		Fact  int64
		Lacks []string
	}
	Closed     []string
	NotTaken   []refusedPart `json:"not_taken"`
	Entries    []entry
	References []entry
	Posts      []post
	Truncated  string
}

type entry struct {
	ID                   int64
	Term, Status         string
	Tags, Aliases, Facts []string
	Present, Truncated   string
}

type refusedPart struct {
	Term, Alias, Part string
	Fact              int
	Quote, Close      int64
	Reword, Move      int64
	Code, Why         string
}

type post struct {
	ID, Thread            int64
	Author, Subject, Body string
	Story                 bool
}

func (w *world) run(tool, arguments string) (tools.Result, answer) {
	w.t.Helper()
	result, err := w.registry.Run(w.t.Context(), w.env,
		w.registry.Parse(annotator.ToolCall{Name: tool, Arguments: arguments}))
	if err != nil {
		w.t.Fatalf("%s(%s): %v", tool, arguments, err)
	}
	var a answer
	if err := json.Unmarshal([]byte(result.Content), &a); err != nil {
		w.t.Fatalf("%s(%s) answers %q: %v", tool, arguments, result.Content, err)
	}
	if a.OK != (result.Error == "") || a.Error.Code != result.Error {
		w.t.Fatalf("%s(%s) has the error %q and answers %s", tool, arguments, result.Error, result.Content)
	}
	return result, a
}

// update runs an element of a block.
func (w *world) update(u annotator.ParsedCall) tools.Result {
	w.t.Helper()
	call, err := tools.Resolve(w.t.Context(), w.glossary, u)
	if err != nil {
		w.t.Fatal(err)
	}
	result, err := w.registry.Run(w.t.Context(), w.env, call)
	if err != nil {
		w.t.Fatal(err)
	}
	return result
}

// do runs a call that must succeed.
func (w *world) do(tool, arguments string) answer {
	w.t.Helper()
	result, a := w.run(tool, arguments)
	if result.Error != "" {
		w.t.Fatalf("%s(%s) answers %s", tool, arguments, result.Content)
	}
	return a
}

// refused runs a call that must fail with a code and change nothing.
func (w *world) refused(code, tool, arguments string) answer {
	w.t.Helper()
	before := w.glossary.revision
	result, a := w.run(tool, arguments)
	if result.Error != code {
		w.t.Errorf("%s(%s) answers %s, want %s", tool, arguments, result.Content, code)
	}
	if len(result.Changed) > 0 || w.glossary.revision != before {
		w.t.Errorf("%s(%s) failed and changed the glossary", tool, arguments)
	}
	return a
}

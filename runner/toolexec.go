package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
	"annotator/context/tokens"
	"annotator/runner/entries"
	"annotator/runner/turn"
	"annotator/snapshot"
	"annotator/storage"
	"annotator/tools"
	"annotator/view"
)

// updatesIgnored is noted in the last result of a reply with calls and a block of updates. Such a reply is not final,
// and the model may make the updates by calls.
const updatesIgnored = "the codex_updates beside these calls were not read, and nothing in them was done: make " +
	"calls of what is still to do, or end with a reply that has the block and no calls"

// callsLeft is noted in the last result of a reply with structured calls and others in its text.
const callsLeft = "the calls in the text beside these were left: nothing in them was done. Make those that are " +
	"still missing"

// restCut is noted in the last result of a reply that reached its limit after its last whole call.
const restCut = "the reply reached its limit in tokens here, and what you wrote after this call is lost: make the " +
	"calls that are still missing"

// staysOpen is added to the answer of a call that was refused in a reply that calls the scene finished.
const staysOpen = "it stays open for one more reply: correct this, or end it with a line of text"

// toolExec is TOOL_EXEC: the calls of the reply run in order, each with its result in one transaction.
func (r *Runner) toolExec(ctx context.Context) (annotator.Event, error) {
	s := r.scene
	for len(s.Calls) > 0 {
		call, note := s.Calls[0], ""
		switch last := len(s.Calls) == 1; {
		case last && s.Cut && call.Error == "":
			note = restCut
		case last:
			note = notDone(&s.Reply.Parsed.ReplyContent)
		}
		row := s.nextRow(annotator.TraceResult)
		row.CallID, row.Tool = call.CallID, call.Tool
		if err := r.toolRunner().runTool(ctx, row, &call, note); err != nil {
			return "", err
		}
	}
	ends, err := r.followUps().SceneEnds(ctx)
	if ends {
		return annotator.EventSceneEnds, err
	}
	return annotator.EventToolsDone, err
}

// followUps returns what decides whether the model is asked for more after its calls.
func (r *reading) followUps() *turn.FollowUps {
	return &turn.FollowUps{
		State: &r.scene.State, Turn: r.scene.turn, Tools: r.tools, Journal: r.Store.Journal, Scenes: r.Store.Scenes,
	}
}

// notDone returns a text for the model about the parts of its reply with calls that were not done; empty for none.
func notDone(content *annotator.ReplyContent) string {
	var notes []string
	if content.Left {
		notes = append(notes, callsLeft)
	}
	if len(content.Updates) > 0 || content.Problem != nil {
		notes = append(notes, updatesIgnored)
	}
	return strings.Join(notes, "; ")
}

// toolRunner runs the calls of the present scene.
type toolRunner struct{ *reading }

func (r *Runner) toolRunner() *toolRunner { return &toolRunner{&r.reading} }

// toolRun is one run of a tool call.
type toolRun struct {
	call     *annotator.Trace // its row
	row      *annotator.Trace // of the result; the same of an update
	decision *storage.ToolDecision
	note     string  // for the model, added to the result; may be empty
	open     bool    // a refusal keeps the scene open, though the reply calls it finished
	changed  []int64 // entries
}

// fill writes a result into the row. A result is a JSON object that is not empty.
func (t *toolRun) fill(result tools.Result) {
	t.row.Content, t.row.Error, t.row.Shows = result.Content, result.Error, result.Shows
	t.row.Parsed.Question, t.row.Parsed.Suggests = result.Question, result.Suggests
	if t.note != "" {
		t.row.Content = strings.TrimSuffix(result.Content, "}") + `,"note":"` + t.note + `"}`
	}
	if t.open && tools.OutcomeOf(t.row) == tools.Refused {
		t.row.Content = strings.TrimSuffix(t.row.Content, "}") + `,"scene":"` + staysOpen + `"}`
	}
	t.row.Tokens = tokens.EstimateMessage(t.row.Content)
	t.changed = result.Changed
}

// runTool runs a call, and appends the row of its result whatever the result is.
func (r *toolRunner) runTool(ctx context.Context, row, call *annotator.Trace, note string) error {
	t := &toolRun{row: row, call: call, decision: r.decide(call.Tool), note: note, open: r.scene.StaysOpen()}
	run := r.runInTransaction
	if tool, ok := r.tools.Tool(call.Tool); ok && tool.Permission == tools.Summons {
		run = r.runBeforeTransaction
	}
	if err := run(ctx, t); err != nil {
		return err
	}
	r.publish(annotator.Notice{Kind: annotator.NoticeTool, Tool: row.Tool, Reason: row.Error})
	r.names.Invalidate(t.changed...)
	return r.apply(row)
}

// runInTransaction runs a call inside the transaction that records its result.
func (r *toolRunner) runInTransaction(ctx context.Context, t *toolRun) error {
	return r.Store.Journal.RunTool(ctx, t.row, t.decision, func(g *storage.Glossary, _ *annotator.Trace) error {
		result, err := r.perform(ctx, t, &tools.Env{
			Glossary: view.Glossary{Glossary: g}, CheckEdit: r.rules(g).Check, Kinds: r.config.Kinds,
			Fields:  r.config.Fields,
			Support: r.support, Settles: r.settles, Repeats: r.repeats, General: r.general, Snapshots: r.snapshots(),
		})
		t.fill(result)
		return err
	}, func(_ *annotator.Trace, cause error) { t.fill(tools.RolledBackResult(t.call.Tool, cause)) })
}

// rules returns the rules of edits that hold under any policy.
func (r *toolRunner) rules(g *storage.Glossary) *entries.Rules {
	return &entries.Rules{Scene: &r.scene.Scene, Turn: r.scene.turn, Cap: r.config.EditCap, Names: r.names, Glossary: g}
}

// support returns the quotations of a fact of an entry as they are stored, and the words of the fact that they lack.
func (r *toolRunner) support(
	ctx context.Context, f *codex.Fact, e *annotator.Entry, posts []annotator.Post,
) (quotes []annotator.Evidence, lacks []string, err error) {
	return r.names.Support(ctx, r.scene.row.Order, f, e, posts)
}

// settles reports whether a fact of an entry says anything of what a claim of an entry says.
func (r *toolRunner) settles(
	ctx context.Context, e *annotator.Entry, claim *annotator.Claim, of *annotator.Entry, fact *annotator.Claim,
) (bool, error) {
	return r.names.Settles(ctx, r.scene.row.Order, e, claim, of, fact)
}

// repeats returns a fact of another entry with a link to an entry, if it says what a fact of that entry says.
func (r *toolRunner) repeats(
	ctx context.Context, fact string, of *annotator.Entry, told string, by *annotator.Entry,
) (string, error) {
	return r.names.Repeats(ctx, r.scene.row.Order, fact, of, told, by)
}

// general reports whether the story calls several people by a name.
func (r *toolRunner) general(ctx context.Context, name string) (bool, error) {
	return r.names.General(ctx, r.scene.row.Order, name)
}

// runBeforeTransaction runs a call that asks the model. It runs before the transaction that records its result, because
// the model is slow and a transaction must be short.
func (r *toolRunner) runBeforeTransaction(ctx context.Context, t *toolRun) error {
	s := r.snapshots()
	result, err := r.perform(ctx, t, &tools.Env{Glossary: view.Glossary{Glossary: r.Store.Glossary}, Snapshots: s})
	if err != nil {
		return err
	}
	if t.fill(result); result.Error != "" {
		s.Change = storage.ConversationChange{}
	}
	return r.Store.Conversations.Apply(ctx, t.row, t.decision, &s.Change)
}

// snapshots returns what the tools ask about snapshots, for one call.
func (r *toolRunner) snapshots() *snapshot.Tools {
	return &snapshot.Tools{
		Journal: r.Store.Journal, Episodes: r.Store.Episodes, Snapshots: r.Store.Snapshots,
		Conversations: r.Store.Conversations,
		Client:        r.Client, MaxQuestions: r.config.SummonQuestions,
		Check: func(ctx context.Context) error { return (&questions{r.reading}).check(ctx, annotator.PurposeAsk) },
		Request: snapshot.Request{
			Turn: r.scene.turn, Scene: r.scene.row.N, MaxTokens: r.config.SummonTokens,
			Temperature: r.config.Temperature, Stream: r.config.Stream, Counter: r.window.Counter(),
		},
	}
}

// perform runs a call, unless the state of the scene or the policy forbids it.
func (r *toolRunner) perform(ctx context.Context, t *toolRun, env *tools.Env) (tools.Result, error) {
	if code, reason := r.scene.Refusal(t.call, r.config.ToolRounds, r.changes); code != "" {
		return tools.ErrorResult(code, reason), nil
	}
	// A tool that does not exist has a better answer than a denial: the names of those that exist.
	if _, exists := r.tools.Tool(t.call.Tool); exists && t.decision.Verdict == storage.Deny {
		return tools.ErrorResult(t.decision.Rule, t.decision.Reason), nil
	}
	env.MaxAnswer = r.answerRoom()
	env.Posts, env.Scene, env.Actor, env.Readable = r.corpus, &r.scene.Scene, annotator.ActorModel, r.readable
	result, err := r.tools.Run(ctx, env, t.call.Parsed.ParsedCall)
	r.recordDenial(t.decision, result.Error)
	return result, err
}

// answerRoom returns how many characters the answer of the next call may have. It is the call's share of what the
// scene's calls may still add to the window, in the scene's characters for each token.
func (r *toolRunner) answerRoom() int {
	text := r.scene.text
	return max(1, r.window.Room()/max(1, len(r.scene.Calls))*utf8.RuneCountInString(text)/max(1, r.window.Count(text)))
}

// changes reports whether a tool can change the answer to another call.
func (r *toolRunner) changes(name string) bool {
	tool, ok := r.tools.Tool(name)
	return ok && slices.Contains([]tools.Permission{tools.Summons, tools.Writes, tools.Retires}, tool.Permission)
}

// readable reports whether a post comes no later in story order than the present scene. The model must not read ahead.
func (r *toolRunner) readable(ctx context.Context, p *annotator.Post) (bool, error) {
	s := &r.scene.Scene
	if p.Thread != s.Thread.ID {
		thread, err := r.Store.Threads.Get(ctx, p.Thread)
		if !errors.Is(err, annotator.NotFound) {
			return thread.Order < s.Thread.Order, err
		}
	}
	last := &s.Posts[len(s.Posts)-1]
	return p.Time < last.Time || p.Time == last.Time && p.ID <= last.ID, nil
}

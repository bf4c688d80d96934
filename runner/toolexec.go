package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"annotator"
	"annotator/context/tokens"
	"annotator/policy"
	"annotator/snapshot"
	"annotator/storage"
	"annotator/tools"
)

// toolExec is TOOL_EXEC: the calls of the reply run in order, each with its result in one transaction.
func (r *Runner) toolExec(ctx context.Context) (annotator.Event, error) {
	d := r.day
	content, err := r.content(ctx)
	if err != nil {
		return "", err
	}
	for len(d.calls) > 0 {
		call, note := d.calls[0], ""
		if len(d.calls) == 1 && (len(content.updates) > 0 || content.problem != nil) {
			note = unread
		}
		row := d.next(annotator.TraceResult)
		row.CallID, row.Tool = call.CallID, call.Tool
		if err := r.runTool(ctx, row, annotator.ToolCall{ID: call.CallID, Name: call.Tool, Arguments: call.Arguments}, note); err != nil {
			return "", err
		}
	}
	return annotator.EventToolsDone, nil
}

// unread is noted in the last result of a reply that has a block of updates beside its calls: it is not at its end, and the block may
// be what it goes on to do by calls.
const unread = "the codex_updates beside these calls were not read, and nothing in them was done: make calls of what is still to do, " +
	"or end with a reply that has the block and no calls"

// errand is a call on its way through the tools: the row that will answer it, and what was decided of it.
type errand struct {
	row      *annotator.Trace
	call     annotator.ToolCall
	decision *storage.ToolDecision
	note     string  // for the model, beside the answer; may be empty
	touched  []int64 // entries
}

func (e *errand) fill(result tools.Result) {
	e.row.Content, e.row.Error, e.row.Shows = result.Content, result.Error, result.Shows
	if e.note != "" { // an answer is an object that is not empty
		e.row.Content = strings.TrimSuffix(result.Content, "}") + `,"note":"` + e.note + `"}`
	}
	e.row.Tokens = tokens.EstimateMessage(e.row.Content)
	e.touched = result.Changed
}

// runTool runs a call and writes its row, whatever comes of it, with a note for the model where there is one.
func (r *Runner) runTool(ctx context.Context, row *annotator.Trace, call annotator.ToolCall, note string) error {
	e := &errand{row: row, call: call, decision: r.decide(call.Name), note: note}
	run := r.runInside
	if tool, ok := r.Tools.Tool(call.Name); ok && tool.Permission == tools.Summons {
		run = r.runBefore
	}
	if err := run(ctx, e); err != nil {
		return err
	}
	r.publish(annotator.Notice{Kind: annotator.NoticeTool, Tool: row.Tool, Reason: row.Error})
	r.names.Invalidate(e.touched...)
	return r.add(row)
}

// runInside runs a call inside the transaction that records its result.
func (r *Runner) runInside(ctx context.Context, e *errand) error {
	return r.Store.Journal.RunTool(ctx, e.row, e.decision, func(g *storage.Glossary, _ *annotator.Trace) error {
		result, err := r.perform(ctx, e, &tools.Env{Glossary: g, CheckEdit: r.guard(g), Snapshots: r.snapshots()})
		e.fill(result)
		return err
	}, func(_ *annotator.Trace, cause error) { e.fill(tools.RolledBackResult(e.call, cause)) })
}

// runBefore runs a call that asks the model before the transaction that records its result: a model takes its time, and a
// transaction has to end.
func (r *Runner) runBefore(ctx context.Context, e *errand) error {
	s := r.snapshots()
	result, err := r.perform(ctx, e, &tools.Env{Glossary: r.Store.Glossary, Snapshots: s})
	if err != nil {
		return err
	}
	if e.fill(result); result.Error != "" {
		s.Change = storage.ConversationChange{}
	}
	return r.Store.Conversations.Apply(ctx, e.row, e.decision, &s.Change)
}

// snapshots returns what answers the tools that ask snapshots, for one call.
func (r *Runner) snapshots() *snapshot.Tools {
	return &snapshot.Tools{
		Store: snapshot.Store{
			Journal: r.Store.Journal, Episodes: r.Store.Episodes, Snapshots: r.Store.Snapshots, Conversations: r.Store.Conversations,
		},
		Client: r.client(), MaxQuestions: r.Config.SummonQuestions,
		Check: func(ctx context.Context) error { return r.checkQuestions(ctx, annotator.PurposeAsk) },
		Request: snapshot.Request{
			Turn: r.day.turn, Scene: r.day.row.N, Context: r.window.Limits.Usable(), MaxTokens: r.Config.SummonTokens,
			Temperature: r.Config.Temperature, Stream: r.Config.Stream, Counter: r.window.Counter(),
		},
	}
}

// perform runs a call, unless its reply or the policy forbids that.
func (r *Runner) perform(ctx context.Context, e *errand, env *tools.Env) (tools.Result, error) {
	if refusal, refused := r.refuseCall(&e.call); refused {
		return refusal, nil
	}
	if refusal, denied := r.denied(&e.call, e.decision); denied {
		return refusal, nil
	}
	env.Posts, env.Scene, env.Actor, env.Readable = r.Corpus, &r.day.scene, annotator.ActorModel, r.isRead
	result, err := r.Tools.Run(ctx, env, e.call)
	r.settle(e.decision, result.Error)
	return result, err
}

// refuseCall tells why the calls of the newest reply are not to be run, if so: each is answered with that.
func (r *Runner) refuseCall(call *annotator.ToolCall) (tools.Result, bool) {
	switch d := r.day; {
	case d.cut:
		return tools.ErrorResult(tools.Truncated, "the reply was cut at its token limit and nothing in it was done; make fewer or smaller calls"), true
	case d.rounds > r.Config.ToolRounds:
		return tools.ErrorResult(tools.RoundLimit, fmt.Sprintf("this scene has had its %d rounds of tools; end it with a line of text", r.Config.ToolRounds)), true
	case d.placed+d.updates >= mostCalls:
		return tools.ErrorResult(tools.CallLimit, fmt.Sprintf("a reply has %d calls run, and this one was not; make it again if it matters", mostCalls)), true
	case call.Name != policy.SelectIntent && d.ran.circles(call, r.changes): // to declare the same again is only polite
		return tools.ErrorResult(tools.Repeated, "this very call was answered before, and nothing has changed since: use that answer, call something "+
			"else, or end the scene with one line of text"), true
	}
	return tools.Result{}, false
}

// isRead reports whether a post comes no later in story order than the scene at hand: the model must not look ahead.
func (r *Runner) isRead(ctx context.Context, p *annotator.Post) (bool, error) {
	s := &r.day.scene
	if p.Thread != s.Thread.ID {
		order, err := r.Store.Threads.Order(ctx, p.Thread)
		if !errors.Is(err, annotator.NotFound) {
			return order < s.Thread.Order, err
		}
	}
	last := &s.Posts[len(s.Posts)-1]
	return p.Time < last.Time || p.Time == last.Time && p.ID <= last.ID, nil
}

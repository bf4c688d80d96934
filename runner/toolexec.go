package runner

import (
	"context"
	"errors"
	"fmt"

	"annotator"
	"annotator/context/tokens"
	"annotator/storage"
	"annotator/tools"
)

// toolExec is TOOL_EXEC: the calls of the reply run in order, each with its result in one transaction.
func (r *Runner) toolExec(ctx context.Context) (annotator.Event, error) {
	d := r.day
	for len(d.calls) > 0 {
		call := d.calls[0]
		row := d.next(annotator.TraceResult)
		row.CallID, row.Tool = call.CallID, call.Tool
		if err := r.runTool(ctx, row, annotator.ToolCall{ID: call.CallID, Name: call.Tool, Arguments: call.Arguments}); err != nil {
			return "", err
		}
	}
	if d.rounds > r.Config.ToolRounds+1 {
		return r.refuse(fmt.Sprintf("the model went on calling tools after %d rounds", d.rounds), nil)
	}
	return annotator.EventToolsDone, nil
}

// runTool runs a call and writes its row, whatever comes of it.
func (r *Runner) runTool(ctx context.Context, row *annotator.Trace, call annotator.ToolCall) error {
	var touched []int64
	fill := func(result tools.Result) {
		row.Content, row.Error, row.Shows = result.Content, result.Error, result.Shows
		row.Tokens = tokens.Estimate(row.Content) + tokens.PerMessage
		touched = result.Touched
	}
	run := r.runInside
	if tool, ok := r.Tools.Tool(call.Name); ok && tool.Permission == tools.Summons {
		run = r.runBefore
	}
	err := run(ctx, row, call, fill)
	if err != nil {
		return err
	}
	r.publish(annotator.Notice{Kind: annotator.NoticeTool, Tool: row.Tool, Reason: row.Error})
	if err := r.add(row); err != nil || len(touched) == 0 {
		return err
	}
	return r.learn(ctx, touched...)
}

// runInside runs a call inside the transaction that records its result.
func (r *Runner) runInside(ctx context.Context, row *annotator.Trace, call annotator.ToolCall, fill func(tools.Result)) error {
	return r.Store.RunTool(ctx, row, func(g *storage.Glossary, _ *annotator.Trace) error {
		result, err := r.perform(ctx, call, g, &past{Runner: r})
		fill(result)
		return err
	}, func(_ *annotator.Trace, cause error) { fill(tools.Failed(call, cause)) })
}

// runBefore runs a call that asks the model before the transaction that records its result: a model takes its time, and a
// transaction has to end.
func (r *Runner) runBefore(ctx context.Context, row *annotator.Trace, call annotator.ToolCall, fill func(tools.Result)) error {
	p := &past{Runner: r}
	result, err := r.perform(ctx, call, r.Store.Glossary(), p)
	if err != nil {
		return err
	}
	if fill(result); result.Error != "" {
		p.effect = storage.Summoning{}
	}
	return r.Store.Summon(ctx, row, &p.effect)
}

func (r *Runner) perform(ctx context.Context, call annotator.ToolCall, g tools.Glossary, p *past) (tools.Result, error) {
	if refusal, refused := r.refuseCall(); refused {
		return refusal, nil
	}
	env := &tools.Env{Glossary: g, Posts: r.Corpus, Scene: &r.day.scene, Actor: annotator.ActorModel, Known: r.isRead, Past: p}
	return r.Tools.Run(ctx, env, call)
}

// refuseCall tells why the calls of the newest reply are not to be run, if so: each is answered with that.
func (r *Runner) refuseCall() (tools.Result, bool) {
	switch d := r.day; {
	case d.cut:
		return tools.Refuse(tools.Truncated, "the reply was cut at its token limit and nothing in it was done; make fewer or smaller calls"), true
	case d.rounds > r.Config.ToolRounds:
		return tools.Refuse(tools.RoundLimit, fmt.Sprintf("this scene has had its %d rounds of tools; end it with a line of text", r.Config.ToolRounds)), true
	}
	return tools.Result{}, false
}

// isRead reports whether a post comes no later in story order than the scene at hand: the model must not look ahead.
func (r *Runner) isRead(ctx context.Context, p *annotator.Post) (bool, error) {
	s := &r.day.scene
	if p.Thread != s.Thread.ID {
		order, err := r.Store.ThreadOrder(ctx, p.Thread)
		if !errors.Is(err, annotator.NotFound) {
			return order < s.Thread.Order, err
		}
	}
	last := &s.Posts[len(s.Posts)-1]
	return p.Time < last.Time || p.Time == last.Time && p.ID <= last.ID, nil
}

package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/context/prompt"
	"annotator/context/tokens"
	"annotator/context/window"
	"annotator/model"
	"annotator/storage"
	"annotator/tools"
)

// Summoned is the model as it was at a snapshot: the context that it had, byte for byte, and what was said to it since. It can
// answer, and do nothing else.
type Summoned struct {
	Snapshot annotator.Snapshot
	Context  storage.Prompt // the system prompt and the tools that were in force
	prompt   *window.Prompt // with what was said since
}

// Summon folds the journal up to a snapshot, for the wire that the model is asked over.
func Summon(ctx context.Context, store *storage.DB, wire model.Encoder, snapshot annotator.Snapshot) (*Summoned, error) {
	stored, err := store.Journal.Prompt(ctx, snapshot.Context)
	if err != nil {
		return nil, err
	}
	prefix, err := prefixOf(wire, &stored)
	if err != nil {
		return nil, err
	}
	p, err := window.At(ctx, snapshot.Trace, prefix, wire.Encode, store.Journal, store.Episodes)
	return &Summoned{Snapshot: snapshot, Context: stored, prompt: p}, err
}

// History returns the encoded messages, joined by commas: those that the model had in view, then what was said since.
func (s *Summoned) History() []byte { return s.prompt.History }

// Hear adds a question and its answer to what was said.
func (s *Summoned) Hear(e storage.Exchange) error {
	if err := s.prompt.Ask(ask(e.Question)); err != nil {
		return err
	}
	return s.prompt.Add(annotator.Message{Role: annotator.RoleAssistant, Content: e.Answer})
}

// ask words a question. What it asks is data: it may quote the story.
func ask(question string) string {
	return "Set the scenes aside and answer a question about what you have read so far. Call no tool: nothing that you say here " +
		"changes the glossary. Answer only from what stands above; where that does not tell, say so. Name the posts that the answer " +
		"rests on in the form [post 123].\n<question>\n" + prompt.Escape(question) + "\n</question>"
}

// Asking says how a summoned model is asked, and on whose account.
type Asking struct {
	Context     int // tokens that prompt and answer may have together; 0: not known
	MaxTokens   int // of the answer
	Temperature float64
	Stream      bool
	Turn        int64 // in which the model itself asks; 0 of a person
	Scene       int
	Counter     *tokens.Counter // estimates the prompt; nil: by rule
}

// errReadOnly says that a summoned model would do something other than answer.
var errReadOnly = annotator.Errorf(annotator.Malformed, "the summoned model gave no answer in words").WithAdvice("ask in other words")

// Ask puts a question and returns the answer, which is not heard yet, with the call that brought it, which is the asker's to
// end. A model that calls tools is told once that it cannot.
func (s *Summoned) Ask(ctx context.Context, c *model.Client, a *Asking, question string) (answer string, call *annotator.Call, err error) {
	p := *s.prompt
	if err := p.Ask(ask(question)); err != nil {
		return "", nil, err
	}
	p.Counter = a.Counter
	request := &model.Request{
		System: p.System, History: p.History, Tools: p.Tools,
		Choice: model.Choice{Mode: model.ChoiceNone}, MaxTokens: a.MaxTokens, Temperature: a.Temperature, Stream: a.Stream,
		LeastPrompt: p.MinTokens(false),
		Call:        annotator.Call{Turn: a.Turn, Scene: a.Scene, Purpose: annotator.PurposeAsk, Estimate: p.Tokens()},
	}
	if a.Context > 0 {
		request.MaxReply = max(1, a.Context-request.Call.Estimate)
	}
	for told := false; ; told = true {
		reply, err := c.Complete(ctx, request)
		if err != nil {
			return "", nil, err
		}
		if text := words(reply); len(reply.Calls) == 0 && text != "" {
			return text, reply.Call, nil
		}
		reply.Call.Discard(errReadOnly.Error(), reply.Body())
		if err := c.Recorder.Fail(ctx, reply.Call); err != nil {
			return "", nil, err
		}
		if told || len(reply.Calls) == 0 {
			return "", nil, errReadOnly
		}
		if err := s.refuse(&p, reply); err != nil {
			return "", nil, err
		}
		request.History = p.History
	}
}

// words returns an answer as it is kept.
func words(reply *model.Reply) string {
	text := codex.Clean(strings.TrimSpace(reply.Text))
	if text != "" && reply.Outcome == model.OutcomeLength {
		text += " [cut]"
	}
	return text
}

// refuse adds the calls of a reply, each answered with the word that a summoned model only reads.
func (s *Summoned) refuse(p *window.Prompt, reply *model.Reply) error {
	called := annotator.Message{Role: annotator.RoleAssistant, Content: strings.TrimSpace(reply.Text)}
	var results []annotator.Message
	for i := range reply.Calls {
		call := annotator.ToolCall{ID: callID(s.Snapshot.ID, i), Name: reply.Calls[i].Name, Arguments: reply.Calls[i].Arguments}
		called.ToolCalls = append(called.ToolCalls, call)
		refusal := tools.ErrorResult(tools.SummonReadOnly, "you only answer here: no tool can be called; say in words what you know")
		results = append(results, annotator.Message{Role: annotator.RoleTool, ToolCallID: call.ID, Tool: call.Name, Content: refusal.Content})
	}
	if err := p.Add(called); err != nil {
		return err
	}
	return p.Add(results...)
}

// past is the snapshots as a tool call asks them. What the call does to the conversations commits with its result.
type past struct {
	*Runner
	effect storage.ConversationChange
}

// List returns the newest snapshots. See tools.Summoner.
func (p *past) List(ctx context.Context, kind string, thread int64, limit int) ([]annotator.Snapshot, error) {
	return p.Store.Snapshots.List(ctx, storage.SnapshotQuery{Kind: kind, Thread: thread, Limit: limit})
}

// Open opens a conversation. See tools.Summoner.
func (p *past) Open(ctx context.Context, snapshot int64, question string) (tools.Answer, error) {
	open, err := p.Store.Conversations.Current(ctx)
	if err != nil {
		return tools.Answer{}, err
	}
	if open != nil {
		return tools.Answer{}, &tools.Failure{
			Code:    tools.SummonActive,
			Message: fmt.Sprintf("snapshot %d is summoned; ask it with summon_continue, or end that with summon_dismiss", open.Snapshot),
		}
	}
	p.effect.Open = snapshot
	return p.ask(ctx, &storage.Conversation{Snapshot: snapshot}, question)
}

// Continue asks the open conversation. See tools.Summoner.
func (p *past) Continue(ctx context.Context, question string) (tools.Answer, error) {
	open, err := p.Store.Conversations.Current(ctx)
	if err != nil {
		return tools.Answer{}, err
	}
	if open == nil {
		return tools.Answer{}, noSummon()
	}
	return p.ask(ctx, open, question)
}

// Dismiss ends the open conversation. See tools.Summoner.
func (p *past) Dismiss(ctx context.Context, summary string) error {
	open, err := p.Store.Conversations.Current(ctx)
	if err != nil {
		return err
	}
	if open == nil {
		return noSummon()
	}
	p.effect = storage.ConversationChange{Dismiss: true, Summary: summary}
	return nil
}

func noSummon() error {
	return &tools.Failure{Code: tools.NoSummon, Message: "no snapshot is summoned; summon_snapshot summons one"}
}

// ask puts a question in a conversation, within what a scene may ask.
func (p *past) ask(ctx context.Context, open *storage.Conversation, question string) (tools.Answer, error) {
	none := tools.Answer{}
	asked, err := p.Store.Conversations.Questions(ctx, p.day.turn)
	if err != nil {
		return none, err
	}
	left := p.Config.SummonQuestions - asked
	if left <= 0 {
		return none, &tools.Failure{Code: tools.SummonLimit, Message: fmt.Sprintf("this scene has asked its %d questions", p.Config.SummonQuestions)}
	}
	if err := p.checkAnswers(ctx, annotator.PurposeAsk); err != nil {
		return none, unanswered(err)
	}
	s, err := p.summon(ctx, open)
	if err != nil {
		return none, err
	}
	text, call, err := s.Ask(ctx, p.client(), &Asking{
		Context: p.window.Limits.Usable(), MaxTokens: p.Config.SummonTokens, Temperature: p.Config.Temperature, Stream: p.Config.Stream,
		Turn: p.day.turn, Scene: p.day.row.N, Counter: p.window.Counter(),
	}, question)
	if err != nil {
		return none, unanswered(err)
	}
	p.effect.Exchange, p.effect.Call = &storage.Exchange{Question: question, Answer: text}, call
	return tools.Answer{Snapshot: s.Snapshot, Text: text, Left: left - 1}, nil
}

// summon folds the context of a conversation, with what was said in it.
func (p *past) summon(ctx context.Context, open *storage.Conversation) (*Summoned, error) {
	snapshot, err := p.Store.Snapshots.Get(ctx, open.Snapshot)
	if errors.Is(err, annotator.NotFound) {
		return nil, &tools.Failure{Code: tools.NotFound, Message: fmt.Sprintf("there is no snapshot %d; list_snapshots names them", open.Snapshot)}
	}
	if err != nil {
		return nil, err
	}
	s, err := Summon(ctx, p.Store, p.Wire, snapshot)
	for i := range open.Exchanges {
		if err == nil {
			err = s.Hear(open.Exchanges[i])
		}
	}
	if kind := annotator.KindOf(err); kind == annotator.Violation || kind == annotator.NotFound {
		err = restoreFailed(err)
	}
	return s, err
}

// unanswered makes a failure of the tool out of what only this question is to blame for.
func unanswered(err error) error {
	switch {
	case errors.Is(err, errReadOnly):
		return &tools.Failure{Code: tools.SummonReadOnly, Message: err.Error() + ", or go on without it"}
	case errors.As(err, new(noAnswer)), errors.As(err, new(*model.Unanswered)):
		return restoreFailed(err)
	}
	return err
}

func restoreFailed(err error) error {
	return &tools.Failure{Code: tools.RestoreFailed, Message: "the snapshot cannot be asked: " + strings.TrimSpace(err.Error())}
}

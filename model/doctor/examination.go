package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"annotator"
	"annotator/model"
)

// check is one row of the table.
type check struct {
	name    string
	needs   stage // that must have been reached before
	decides bool  // a run makes it, too, before its first scene
	run     func(context.Context, *examination) Finding
}

// stage is the state of the examination: later checks need a later stage.
type stage int

const (
	nothing  stage = iota
	reached        // a server answers at the URL
	answered       // the model answers
)

// checks are all checks, in order.
var checks = [...]check{
	{"reaches", nothing, false, reaches},
	{"authenticates", reached, false, authenticates},
	{"lists models", reached, false, listsModels},
	{"answers", reached, false, answers},
	{"context length", answered, false, contextLength},
	{"tokenizes", answered, false, tokenizes},
	{"streams", answered, false, streams},
	{"reports usage", answered, false, reportsUsage},
	{"replays a call", answered, true, replaysCall},
	{"renders all parts", answered, true, rendersParts},
	{"answers beside thoughts", answered, true, answersBesideThoughts},
	{"keeps the system prompt", answered, false, keepsSystem},
	{"calls a tool", answered, false, callsTool},
	{"constrains arguments", answered, true, constrainsArguments},
	{"holds a scene", answered, false, holdsScene},
	{"calls on demand", answered, false, callsOnDemand},
	{"reports cached tokens", answered, false, reportsCached},
	{"keeps a long prompt", answered, false, keepsLongPrompt},
	{"keeps thoughts apart", answered, false, keepsThoughtsApart},
	{"honours json_schema", answered, false, honoursSchema},
}

func ok(format string, args ...any) Finding { return finding(OK, "", format, args...) }

func missing(r remedy, format string, args ...any) Finding {
	return finding(Missing, r, format, args...)
}

func failed(r remedy, format string, args ...any) Finding { return finding(Failed, r, format, args...) }

func skipped(format string, args ...any) Finding { return finding(Skipped, "", format, args...) }

// finding formats the arguments. It describes faults among them, and takes its reason from errors among them.
func finding(state State, r remedy, format string, args ...any) Finding {
	f := Finding{State: state, remedy: r}
	for i, arg := range args {
		switch err := arg.(type) {
		case *model.Fault:
			args[i], f.Reason = describe(err)
		case *annotator.Error:
			f.Reason = err.Reason
		}
	}
	f.Seen = fmt.Sprintf(format, args...)
	return f
}

// because returns the finding with another reason.
func (f Finding) because(reason annotator.Reason) Finding {
	f.Reason = reason
	return f
}

// examination is the state of an examination.
type examination struct {
	*Endpoint
	client *model.Client // the client of Examine retries only with a workaround
	err    error         // of the client, where a run has to stop
	stage  stage
	server Server
	stream bool // replies are streamed, if that works

	withContent   int // replies with text or calls
	reasoningOnly int // complete replies with only reasoning

	models    []model.Model
	listFault *model.Fault // why there is no list of models

	plain, streamed annotator.Usage
	refusesTools    bool
	replay          *model.Request // the one that ends with the results of tools
	replayed        *model.Reply   // its reply
}

// check makes one check within the timeout.
func (e *examination) check(ctx context.Context, c *check) Finding {
	if e.stage < c.needs {
		return Finding{Check: c.name, State: Skipped, Seen: "nothing answers"}
	}
	if e.Timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, e.Timeout)
		defer cancel()
		ctx = bounded
	}
	began := e.Now()
	known := len(e.client.Capabilities.Learned)
	f := c.run(ctx, e)
	if learned := e.client.Capabilities.Learned[known:]; len(learned) > 0 {
		f.Seen += "; adapted: " + strings.Join(learned, ", ")
	}
	f.Check, f.Took = c.name, e.Now().Sub(began)
	return f
}

// complete sends a request as a run does. The reply to a request without a purpose is not inspected.
func (e *examination) complete(ctx context.Context, r *model.Request) (*model.Reply, *model.Fault) {
	r.Temperature, r.Call.Purpose = e.Temperature, cmp.Or(r.Call.Purpose, annotator.PurposeProbe)
	reply, err := e.client.Complete(ctx, r)
	if err == nil {
		err = e.client.EndProbe(ctx, reply.Call)
	}
	if err != nil {
		if unanswered := (*model.Unanswered)(nil); !errors.As(err, &unanswered) {
			e.err = err
		}
		return nil, model.ClassifyTransport(err)
	}
	e.countReply(reply)
	return reply, nil
}

// countReply counts replies with text or calls, and replies with only reasoning.
func (e *examination) countReply(reply *model.Reply) {
	switch {
	case reply.ReasoningOnly():
		e.reasoningOnly++
	case reply.Text != "" || len(reply.Calls) > 0:
		e.withContent++
	}
}

// send sends messages without tools.
func (e *examination) send(ctx context.Context, r model.Request, messages ...annotator.Message) (*model.Reply,
	*model.Fault,
) {
	history, err := e.Wire.Encode(messages)
	if err != nil {
		return nil, model.ClassifyTransport(err)
	}
	r.History = history
	return e.complete(ctx, &r)
}

func user(text string) annotator.Message {
	return annotator.Message{Role: annotator.RoleUser, Content: text}
}

func assistant(text string) annotator.Message {
	return annotator.Message{Role: annotator.RoleAssistant, Content: text}
}

// describe describes a fault with its advice, or returns the reason for advice.
func describe(f *model.Fault) (string, annotator.Reason) {
	switch {
	case f.Reason != "":
		return f.Error(), f.Reason
	case f.Advice != "":
		return f.Error() + "; " + f.Advice, ""
	case f.Kind == annotator.Overloaded:
		return f.Error() + "; try again when it is ready", ""
	case f.Code == model.CodeSilent:
		return f.Error(), annotator.ReasonSlow
	}
	return f.Error(), ""
}

// quote returns the beginning of a reply in quotation marks.
func quote(r *model.Reply) string {
	said := strings.Join(strings.Fields(cmp.Or(r.Text, r.Reasoning)), " ")
	if said == "" {
		return "nothing"
	}
	return strconv.Quote(annotator.Clip(said, 60, "..."))
}

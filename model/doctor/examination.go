package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"annotator"
	"annotator/model"
)

// check is one line of the table.
type check struct {
	name  string
	needs stage // what must have been seen before
	run   func(context.Context, *examination) verdict
}

// stage is how well the endpoint is known to work.
type stage int

const (
	nothing  stage = iota
	reached        // something answers at the address
	answered       // the model answers
)

// checks are all there are.
var checks = [...]check{
	{"reaches", nothing, reaches},
	{"authenticates", reached, authenticates},
	{"lists models", reached, listsModels},
	{"answers", reached, answers},
	{"context length", answered, contextLength},
	{"tokenizes", answered, tokenizes},
	{"streams", answered, streams},
	{"reports usage", answered, reportsUsage},
	{"keeps the system prompt", answered, keepsSystem},
	{"keeps roles", answered, keepsRoles},
	{"calls a tool", answered, callsTool},
	{"calls on demand", answered, callsOnDemand},
	{"replays a call", answered, replaysCall},
	{"reports cached tokens", answered, reportsCached},
	{"keeps a long prompt", answered, keepsLongPrompt},
	{"keeps thoughts apart", answered, keepsThoughtsApart},
	{"honours json_schema", answered, honoursSchema},
}

// verdict is what a check decides.
type verdict struct {
	state  State
	seen   string
	remedy remedy // what would help, where the state is not OK
}

func ok(format string, args ...any) verdict { return verdict{OK, fmt.Sprintf(format, args...), ""} }

func missing(r remedy, format string, args ...any) verdict {
	return verdict{Missing, fmt.Sprintf(format, args...), r}
}

func failed(r remedy, format string, args ...any) verdict {
	return verdict{Failed, fmt.Sprintf(format, args...), r}
}

func skipped(format string, args ...any) verdict {
	return verdict{Skipped, fmt.Sprintf(format, args...), ""}
}

// examination is what is known of the patient so far.
type examination struct {
	*Patient
	stage   stage
	model   string
	server  Server
	stream  bool // replies are streamed, if that works
	context int  // tokens of context; 0: not known

	models  []model.Model
	unlist  *model.Fault // why there is no list of models
	adapted []string     // what the wire does otherwise since the current check began

	plain, streamed annotator.Usage
	thinks, mixed   bool           // thoughts were seen; in the text
	toolless        bool           // requests with tools are refused
	replay          *model.Request // the one that ends with the results of tools
	replayed        *model.Reply   // its reply
}

// check makes one check, in its time.
func (e *examination) check(ctx context.Context, c *check) Finding {
	if e.stage < c.needs {
		return Finding{Check: c.name, State: Skipped, Seen: "nothing answers"}
	}
	ctx, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	began := e.Now()
	e.adapted = nil
	v := c.run(ctx, e)
	if len(e.adapted) > 0 {
		v.seen += "; adapted: " + strings.Join(e.adapted, ", ")
	}
	return Finding{Check: c.name, State: v.state, Seen: v.seen, Took: e.Now().Sub(began), remedy: v.remedy}
}

// mostAdaptations bounds how often one request is sent again in another form.
const mostAdaptations = 5

// complete sends a request, and sends it again where the wire can meet what the server complains of, as a run does.
func (e *examination) complete(ctx context.Context, r *model.Request) (*model.Reply, *model.Fault) {
	r.Model, r.Temperature = e.model, e.Temperature
	for range mostAdaptations {
		reply, err := e.Wire.Complete(ctx, r)
		if err == nil {
			e.settle(reply)
			return reply, nil
		}
		fault := asFault(err)
		adapter, able := e.Wire.(model.Adapter)
		if !able {
			return nil, fault
		}
		said := adapter.Adapt(fault)
		if said == "" {
			return nil, fault
		}
		e.adapted = append(e.adapted, said)
	}
	return nil, &model.Fault{Kind: annotator.Misconfigured, Message: "the server refuses every form of the request"}
}

// settle gives a reply the form in which a run reads it.
func (e *examination) settle(r *model.Reply) {
	said := r.Text
	r.Normalize(&model.Request{})
	e.thinks = e.thinks || r.Reasoning != ""
	e.mixed = e.mixed || r.Text != said
}

func asFault(err error) *model.Fault {
	if f := (*model.Fault)(nil); errors.As(err, &f) {
		return f
	}
	return model.ClassifyTransport(err)
}

// say asks something without tools.
func (e *examination) say(ctx context.Context, r model.Request, messages ...annotator.Message) (*model.Reply, *model.Fault) {
	history, err := e.history(messages)
	if err != nil {
		return nil, asFault(err)
	}
	r.History = history
	return e.complete(ctx, &r)
}

// history encodes messages in the groups that a wire takes: results of tools together.
func (e *examination) history(messages []annotator.Message) ([]byte, error) {
	var parts [][]byte
	for len(messages) > 0 {
		n := 1
		for n < len(messages) && messages[0].Role == annotator.RoleTool && messages[n].Role == annotator.RoleTool {
			n++
		}
		part, err := e.Wire.Encode(messages[:n])
		if err != nil {
			return nil, err
		}
		parts, messages = append(parts, part), messages[n:]
	}
	return bytes.Join(parts, []byte(",")), nil
}

func user(text string) annotator.Message {
	return annotator.Message{Role: annotator.RoleUser, Content: text}
}

func assistant(text string) annotator.Message {
	return annotator.Message{Role: annotator.RoleAssistant, Content: text}
}

// why gives a fault in words, with what can be done about it.
func why(f *model.Fault) string {
	switch {
	case f.Advice != "":
		return f.Error() + "; " + f.Advice
	case f.Kind == annotator.Overloaded:
		return f.Error() + "; try again when it is ready"
	case f.Code == model.CodeSilent:
		return f.Error() + "; see whether the server is busy, and give it longer with --timeout"
	}
	return f.Error()
}

// words are the beginning of what a reply says.
func words(r *model.Reply) string {
	const most = 60
	said := []rune(strings.Join(strings.Fields(cmp.Or(r.Text, r.Reasoning)), " "))
	if len(said) == 0 {
		return "nothing"
	}
	if len(said) > most {
		return fmt.Sprintf("%q", string(said[:most])+"...")
	}
	return fmt.Sprintf("%q", string(said))
}

package doctor

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"annotator"
	"annotator/model"
)

// Token counts measure which parts a chat template renders. A part that is longer in one of two requests, and adds no
// tokens, is not rendered. The parts are longer by powers of two, so that one request measures several parts.

// sample is a short conversation in the form of a run's: a scene, a reply with text and three calls, their results.
// Each number is how many lines a part has in addition to the first.
type sample struct {
	ended               bool // the reply that ends the turn follows, and the next scene
	silent              bool // the reply has no text with its calls
	scene               int
	system, tools, text int
	calls, results      [3]int
}

// unit is a line of words without characters that are escaped in the arguments of a call.
const unit = "The lamp on the quay was lit in the evening, and it burned until the boats were home. "

func units(n int) string { return strings.TrimSpace(strings.Repeat(unit, 1+n)) }

// noteTool is the only tool of a sample.
const noteTool = "note"

func (s *sample) messages() []annotator.Message {
	all := []annotator.Message{user(units(s.scene)), assistant(units(s.text))}
	if s.silent {
		all[1].Content = ""
	}
	for i := range s.calls {
		call := annotator.ToolCall{
			ID: fmt.Sprintf("doctor%03d", i), Name: noteTool,
			Arguments: fmt.Sprintf(`{"text":%q}`, units(s.calls[i])),
		}
		all[1].ToolCalls = append(all[1].ToolCalls, call)
		all = append(all, annotator.Message{
			Role: annotator.RoleTool, ToolCallID: call.ID, Tool: noteTool,
			Content: units(s.results[i]),
		})
	}
	if s.ended {
		all = append(all, assistant("So it is noted."), user("The boats are home."))
	}
	return all
}

// count returns the number of tokens that the server counts in a sample; 0 if it does not report it.
func (e *examination) count(ctx context.Context, s sample) (int, *model.Fault) {
	history, err := e.Wire.Encode(s.messages())
	if err != nil {
		return 0, model.ClassifyTransport(err)
	}
	schema := `{"type":"object","properties":{"text":{"type":"string","description":"what is noted"}},` +
		`"required":["text"]}`
	tools, err := e.Wire.EncodeTools([]annotator.ToolDefinition{{
		Name: noteTool, Description: units(s.tools),
		Schema: []byte(schema),
	}})
	if err != nil {
		return 0, model.ClassifyTransport(err)
	}
	reply, fault := e.complete(ctx, &model.Request{
		System: units(s.system), History: history, Tools: tools, MaxTokens: fewTokens, Stream: e.stream,
		Call: annotator.Call{Estimate: sampleTokens},
	})
	if fault != nil || !reply.Usage.Exact {
		return 0, fault
	}
	return reply.Usage.Prompt, nil
}

// sampleTokens is the approximate number of tokens in a sample.
const sampleTokens = 300

// The parts of a rendering, as bits.
const (
	partSystem = 1 << iota
	partTools
	partText
	partCall // the first; the bits of two more follow
	_
	_
	partResult // the first; the bits of two more follow
	_
	_
	allParts   = 1<<9 - 1
	allCalls   = 7 * partCall
	allResults = 7 * partResult
)

// rendered has the parts that a template renders: within a turn, and in an ended turn. silent has those calls that it
// renders in a reply without text. It is measured only if the template renders no call of a reply with text.
type rendered struct{ within, ended, silent int }

// always returns the parts that are rendered in both turns.
func (r rendered) always() int { return r.within & r.ended }

// parts measures which parts the template renders. known is false if the server reports no counts.
func (e *examination) parts(ctx context.Context) (r rendered, known bool, fault *model.Fault) {
	const lines = 7
	short, fault := e.count(ctx, sample{})
	if fault != nil || short == 0 {
		return r, false, fault
	}
	long, fault := e.count(ctx, sample{scene: lines})
	perUnit := float64(long-short) / lines
	if fault != nil || perUnit < 1 {
		return r, false, fault
	}
	weights := [3]int{1, 2, 4}
	longer := []sample{{system: weights[0], tools: weights[1], text: weights[2]}, {calls: weights}, {results: weights}}
	if r.within, fault = e.longerParts(ctx, sample{}, longer, perUnit); fault != nil {
		return r, false, fault
	}
	if r.ended, fault = e.longerParts(ctx, sample{ended: true}, longer, perUnit); fault != nil {
		return r, false, fault
	}
	if r.within&allCalls == 0 {
		r.silent, fault = e.longerParts(ctx, sample{silent: true}, longer[1:2], perUnit)
		r.silent *= partCall
	}
	return r, true, fault
}

// longerParts returns the parts that add tokens to a sample if they are longer. Each of the longer samples has three
// bits, for parts that are one, two and four lines longer.
func (e *examination) longerParts(ctx context.Context, short sample, longer []sample, perUnit float64) (parts int,
	fault *model.Fault,
) {
	base, fault := e.count(ctx, short)
	for at := 0; at < len(longer) && fault == nil; at++ {
		s := longer[at]
		s.ended, s.silent = short.ended, short.silent
		var n int
		n, fault = e.count(ctx, s)
		added := int(math.Round(float64(n-base) / perUnit))
		parts |= min(max(added, 0), 7) << (3 * at)
	}
	return parts, fault
}

// Limits of the measurement, which is repeated after a workaround. Each takes up to twelve requests.
const (
	maxMeasures = 3
	measureTime = 5 * time.Minute
)

// rendersParts finds the parts that the chat template omits, and adopts the workarounds that help.
func rendersParts(ctx context.Context, e *examination) Finding {
	if e.Measured {
		return skipped("it was measured when the run began")
	}
	bounded, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	var r rendered
	for range maxMeasures {
		var known bool
		var fault *model.Fault
		r, known, fault = e.parts(bounded)
		if bounded.Err() != nil && ctx.Err() == nil {
			e.err = nil
			return skipped("it takes longer than %s", measureTime)
		}
		if fault != nil {
			return skipped("%s", fault)
		}
		if !known {
			return skipped("no tokens are reported that could be compared")
		}
		if !e.workAround(ctx, r) {
			break
		}
	}
	return e.reportParts(ctx, r)
}

// workAround adopts the workarounds for parts that are omitted, and reports whether any is new.
func (e *examination) workAround(ctx context.Context, r rendered) (found bool) {
	always := r.always()
	partly := func(all int) bool { return r.within&all != 0 && always&all != all }
	for _, one := range []struct {
		needs model.Workarounds
		helps bool
	}{
		{model.SystemInUser, always&partSystem == 0},
		{model.PairCalls, partly(allCalls) || partly(allResults)},
		{model.NoTextBesideCalls, r.within&partText != 0 && r.ended&partText == 0 || r.silent != 0},
	} {
		found = one.helps && e.adopt(ctx, one.needs) || found
	}
	return found
}

// reportParts returns the finding about the parts that are omitted with all workarounds.
func (e *examination) reportParts(ctx context.Context, r rendered) Finding {
	always := r.always() | partText // text with calls is not needed
	if always == allParts {
		return ok("the system prompt, the tools, calls and results, by counts of tokens")
	}
	e.adopt(ctx, model.LooseCount)
	var dropped []string
	for _, part := range []struct {
		all  int
		name string
	}{
		{partSystem, "the system prompt"},
		{partTools, "the tools"},
		{allCalls, "the model's calls"},
		{allResults, "the results of tools"},
	} {
		switch {
		case always&part.all == part.all:
		case r.within&part.all == part.all:
			dropped = append(dropped, part.name+" of a turn that has ended")
		case r.within&part.all != 0:
			dropped = append(dropped, "some of "+part.name)
		default:
			dropped = append(dropped, part.name)
		}
	}
	list := strings.Join(dropped, ", ")
	switch {
	case always&partSystem == 0:
		return failed(template, "the template drops %s", list)
	case always&partTools == 0:
		return missing(template, "the template drops %s: the model has to write blocks of updates, which a run reads",
			list)
	case r.within&allResults != allResults:
		return failed(template, "the template drops %s: the model never learns what its calls did", list)
	}
	return missing(template, "the template drops %s", list)
}

// adopt adopts a workaround, and reports whether it is new.
func (e *examination) adopt(ctx context.Context, needs model.Workarounds) bool {
	is, err := e.client.Adopt(ctx, needs)
	if err != nil {
		e.err = err
	}
	return is
}

package doctor

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"annotator"
	"annotator/model"
)

// reaches requests the list of models, which later checks use.
func reaches(ctx context.Context, e *examination) Finding {
	models, err := e.Wire.Models(ctx)
	if err != nil {
		e.listFault = model.ClassifyTransport(err)
		if s := e.listFault.Status; s == 0 || s/100 == 3 {
			return failed("", "%s", e.listFault)
		}
	}
	e.stage, e.models, e.server = reached, models, recognise(ctx, e.Endpoint)
	return ok("%s", e.server.describe())
}

func authenticates(_ context.Context, e *examination) Finding {
	switch f := e.listFault; {
	case f != nil && (f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden):
		return failed("", "%s", f)
	case f != nil:
		return skipped("without a list of models it cannot be told; the answer shows it")
	case e.Keyed:
		return ok("the key is accepted")
	}
	return ok("no key is sent, and none is asked for")
}

func listsModels(_ context.Context, e *examination) Finding {
	if e.listFault != nil || len(e.models) == 0 {
		return e.withoutList()
	}
	if e.client.Model == "" {
		e.client.Model = e.models[0].ID
		return ok("%s; a run takes the first where none is named", e.listed())
	}
	if !slices.ContainsFunc(e.models, func(m model.Model) bool { return m.Called(e.client.Model) }) {
		return missing("", "%s is not among them: %s", e.client.Model, e.listed())
	}
	return ok("%s is among %d", e.client.Model, len(e.models))
}

func (e *examination) withoutList() Finding {
	var because any = "the list is empty"
	if e.listFault != nil {
		because = e.listFault
	}
	if e.client.Model == "" {
		return failed("", "%s", because).because(annotator.ReasonNoModel)
	}
	return missing("", "%s; %s is taken as it is", because, e.client.Model)
}

func (e *examination) listed() string {
	return model.FirstNames(e.models, func(m model.Model) string { return m.ID })
}

// fewTokens is the limit of a reply whose text does not matter. Some servers refuse a lower one.
const fewTokens = 16

func answers(ctx context.Context, e *examination) Finding {
	reply, fault := e.send(ctx, model.Request{MaxTokens: fewTokens}, user("Answer with the word yes."))
	if fault != nil {
		return failed("", "%s", fault)
	}
	e.stage, e.plain = answered, reply.Usage
	if reply.Model != "" && reply.Model != e.client.Model {
		return ok("%s says %s, first byte after %s", reply.Model, quote(reply), rounded(reply.FirstByte))
	}
	return ok("it says %s, first byte after %s", quote(reply), rounded(reply.FirstByte))
}

func rounded(d time.Duration) string {
	if d < time.Millisecond {
		return "less than 1ms"
	}
	return d.Round(time.Millisecond).String()
}

// streams checks the body of the response: some servers ignore the request for a stream.
func streams(ctx context.Context, e *examination) Finding {
	reply, fault := e.send(ctx, model.Request{MaxTokens: 4 * fewTokens, Stream: true},
		user("Count from one to ten, in words."))
	switch {
	case fault != nil && e.Stream:
		e.stream = false
		return failed("", "%s", fault).because(annotator.ReasonNoStream)
	case fault != nil:
		return missing("", "%s", fault)
	}
	e.streamed = reply.Usage
	if strings.HasPrefix(strings.TrimSpace(string(reply.Raw)), "{") {
		return missing("", "the reply comes in one piece, after %s", rounded(reply.Duration))
	}
	return ok("first byte after %s, all after %s", rounded(reply.FirstByte), rounded(reply.Duration))
}

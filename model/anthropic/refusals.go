package anthropic

import (
	"net/http"
	"regexp"

	"annotator/model"
	"annotator/model/endpoint"
)

// forbiddenCall is the fault of a reply that calls a tool although it must not.
func forbiddenCall(r *model.Reply) *model.Fault {
	f := endpoint.Unusable("the model calls %s where no tool may be called", endpoint.ToolName(r.Calls[0].Name))
	f.Status, f.Raw, f.Usage, f.FirstByte, f.Duration = http.StatusOK, r.Raw, r.Usage, r.FirstByte, r.Duration
	return f
}

// refusals are the messages of servers, most specific first.
var refusals = []model.Refusal{
	{Needs: model.NoTemperature, Pattern: model.RefusalOf("temperature"), Effect: "the temperature is left to the model"},
	{Needs: model.NoForcedCall, Pattern: regexp.MustCompile(`tool_choice forces tool use|tool_choice.*thinking`), Effect: "no tool call is required of the model"},
	{Needs: model.ForbidCalls, Pattern: regexp.MustCompile(`where no tool may be called`), Effect: "the API is told where no tool may be called, which costs its cache"},
}

// Refusals lists how servers refuse the usual form of a request. See model.Wire.
func (*Client) Refusals() []model.Refusal { return refusals }

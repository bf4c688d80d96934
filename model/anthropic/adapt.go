package anthropic

import (
	"net/http"
	"regexp"

	"annotator/model"
	"annotator/model/endpoint"
)

// What models want otherwise.
const (
	noTemperature endpoint.Quirk = 1 << iota // newer ones sample as they like
	noForce                                  // those that think before they answer are not to be made to call a tool
	needsNone                                // it has to be told by the API, too, that no tool may be called
)

// callsUnbidden is the fault of a reply that calls a tool although it must not, and that was not kept from it.
func callsUnbidden(r *model.Reply) *model.Fault {
	f := endpoint.Unusable("the model calls %s where no tool may be called", endpoint.ToolName(r.Calls[0].Name))
	f.Status, f.Raw, f.Usage, f.FirstByte, f.Duration = http.StatusOK, r.Raw, r.Usage, r.FirstByte, r.Duration
	return f
}

// lessons are what the API says of a quirk.
var lessons = []endpoint.Lesson{
	{Quirk: noTemperature, Said: endpoint.Refuses("temperature"), Does: "the temperature is left to the model"},
	{Quirk: noForce, Said: regexp.MustCompile(`tool_choice forces tool use|tool_choice.*thinking`), Does: "no tool call is required of the model"},
	{Quirk: needsNone, Said: regexp.MustCompile(`where no tool may be called`), Does: "the API is told where no tool may be called, which costs its cache"},
}

// Adapt learns what the model wants otherwise. See model.Adapter.
func (c *Client) Adapt(f *model.Fault) string { return c.quirks.Learn(f, lessons) }

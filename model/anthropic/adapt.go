package anthropic

import (
	"regexp"

	"annotator/model"
	"annotator/model/endpoint"
)

// What models want otherwise.
const (
	noTemperature endpoint.Quirk = 1 << iota // newer ones sample as they like
	noForce                                  // those that think before they answer are not to be made to call a tool
)

// lessons are what the API says of a quirk.
var lessons = []endpoint.Lesson{
	{Quirk: noTemperature, Said: endpoint.Refuses("temperature"), Does: "the temperature is left to the model"},
	{Quirk: noForce, Said: regexp.MustCompile(`tool_choice forces tool use|tool_choice.*thinking`), Does: "no tool call is required of the model"},
}

// Adapt learns what the model wants otherwise. See model.Adapter.
func (c *Client) Adapt(f *model.Fault) string { return c.quirks.Learn(f, lessons) }

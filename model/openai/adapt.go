package openai

import (
	"regexp"

	"annotator/model"
	"annotator/model/endpoint"
)

// What servers want otherwise.
const (
	noSystem      endpoint.Quirk = 1 << iota // there is no system role: its prompt begins the first message of the user
	oneOfARole                               // two messages of one role must not follow each other: they are sent as one
	newLimit                                 // max_tokens is max_completion_tokens
	noTemperature                            // this and those below are left out
	noUsage
	noSeed
	noNamedTool // a tool cannot be chosen by name: any is demanded instead
	noChoice
)

// lessons are how servers say so, the most exact first.
var lessons = []endpoint.Lesson{
	{Quirk: noSystem, Said: regexp.MustCompile(`system role (is )?not supported|role'? does not support 'system'|only user and assistant roles`), Does: "the system prompt goes into the first message of the user"},
	{Quirk: oneOfARole, Said: regexp.MustCompile(`roles must alternate`), Does: "neighbouring messages of one role go as one"},
	{Quirk: newLimit, Said: endpoint.Refuses(`max_tokens`), Does: "the limit on a reply goes as max_completion_tokens"},
	{Quirk: noTemperature, Said: endpoint.Refuses(`temperature`), Does: "the temperature is left to the server"},
	{Quirk: noUsage, Said: endpoint.Refuses(`stream_options`), Does: "no account of tokens is asked for in streams"},
	{Quirk: noSeed, Said: endpoint.Refuses(`seed`), Does: "no seed is sent"},
	{Quirk: noNamedTool, Said: regexp.MustCompile(`tool_choice.*\bobject\b`), Does: "a tool is not chosen by name"},
	{Quirk: noChoice, Said: endpoint.Refuses(`tool_choice`), Does: "no choice of tools is sent"},
}

// Adapt learns what a server wants otherwise. See model.Adapter.
func (c *Client) Adapt(f *model.Fault) string { return c.quirks.Learn(f, lessons) }

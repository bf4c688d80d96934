package openai

import (
	"regexp"

	"annotator/model"
)

// refusals are the messages of servers, most specific first.
var refusals = []model.Refusal{
	{Needs: model.SystemInUser, Pattern: regexp.MustCompile(`system role (is )?not supported|role'? does not support 'system'|only user and assistant roles`), Effect: "the system prompt goes into the first message of the user"},
	{Needs: model.MergeRoles, Pattern: regexp.MustCompile(`roles must alternate`), Effect: "neighbouring messages of one role go as one"},
	{Needs: model.MaxCompletionTokens, Pattern: model.RefusalOf(`max_tokens`), Effect: "the limit on a reply goes as max_completion_tokens"},
	{Needs: model.NoTemperature, Pattern: model.RefusalOf(`temperature`), Effect: "the temperature is left to the server"},
	{Needs: model.NoStreamUsage, Pattern: model.RefusalOf(`stream_options`), Effect: "no account of tokens is asked for in streams"},
	{Needs: model.NoSeed, Pattern: model.RefusalOf(`seed`), Effect: "no seed is sent"},
	{Needs: model.NoNamedTool, Pattern: regexp.MustCompile(`tool_choice.*\bobject\b`), Effect: "a tool is not chosen by name"},
	{Needs: model.NoToolChoice, Pattern: model.RefusalOf(`tool_choice`), Effect: "no choice of tools is sent"},
}

// Refusals lists how servers refuse the usual form of a request. See model.Wire.
func (*Client) Refusals() []model.Refusal { return refusals }

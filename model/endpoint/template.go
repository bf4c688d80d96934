package endpoint

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"

	"annotator/model"
)

// TemplateRefusals returns the refusals of chat templates, with the workarounds that Conversation makes. Every wire of
// a server with chat templates has them. A history that contains toolResult has the result of a tool.
func TemplateRefusals(toolResult string) []model.Refusal {
	const systemInUser = "the system prompt goes into the first message of the user"
	return []model.Refusal{
		{
			Needs:   model.SystemInUser,
			Pattern: regexp.MustCompile(`system role (is )?not supported|role'? does not support 'system'`),
			Effect:  systemInUser,
		},
		{
			Needs: model.SystemInUser, Pattern: regexp.MustCompile(`only user and assistant roles`),
			Effect:  systemInUser,
			Without: toolResult,
		},
		{
			Needs: model.PairCalls, Pattern: regexp.MustCompile(`only supports single tool-calls`),
			Effect: "each of several calls goes as a message of its own, with its result",
		},
		{Needs: model.NoTextBesideCalls, Effect: "text beside calls is not sent"},
	}
}

// Conversation returns the system prompt of a request and its history in the form that the server's chat template
// needs. It calls arrange if one of the workarounds in arranged is in force. With the workaround SystemInUser, the
// system prompt is in the first message of the user.
func Conversation[T any](
	r *model.Request, user UserText, arranged model.Workarounds, arrange func([]T, model.Workarounds) []T,
) (system string, history []byte, err error) {
	history = r.History
	if w := r.Workarounds & arranged; w != 0 {
		history, err = rearrange(history, func(all []T) []T { return arrange(all, w) })
	}
	if r.System == "" || !r.Workarounds.Has(model.SystemInUser) || err != nil {
		return r.System, history, err
	}
	history, err = user.putSystem(r.System, history)
	return "", history, err
}

// UserText is how a wire encodes a text message of the user: the bytes before the text and after it.
type UserText struct{ Before, Behind string }

// putSystem puts a system prompt before a history: into its first message, if that is the user's. It works on bytes, so
// the rest of the history is unchanged.
func (u UserText) putSystem(system string, history []byte) ([]byte, error) {
	rest, begun := bytes.CutPrefix(history, []byte(u.Before))
	if begun {
		system += "\n\n"
	}
	text, err := Marshal(system)
	if err != nil {
		return nil, err
	}
	text = text[1 : len(text)-1]
	switch {
	case begun:
		return slices.Concat([]byte(u.Before), text, rest), nil
	case len(history) > 0:
		rest = slices.Concat([]byte{','}, history)
	}
	return slices.Concat([]byte(u.Before), text, []byte(u.Behind), rest), nil
}

// rearrange decodes the elements of a history, arranges them and encodes them again.
func rearrange[T any](history []byte, arrange func([]T) []T) ([]byte, error) {
	var all []T
	if err := json.Unmarshal(slices.Concat([]byte{'['}, history, []byte{']'}), &all); err != nil {
		return nil, unsendable(err)
	}
	return MarshalElements(arrange(all))
}

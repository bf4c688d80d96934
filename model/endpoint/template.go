package endpoint

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"

	"annotator/model"
)

// TemplateRefusals are how chat templates refuse what any wire sends, with the workarounds that every wire of a server
// with chat templates has: those that Conversation makes. A history that holds toolResult has the result of a tool.
func TemplateRefusals(toolResult string) []model.Refusal {
	const systemInUser = "the system prompt goes into the first message of the user"
	return []model.Refusal{
		{Needs: model.SystemInUser,
			Pattern: regexp.MustCompile(`system role (is )?not supported|role'? does not support 'system'`),
			Effect:  systemInUser},
		{Needs: model.SystemInUser, Pattern: regexp.MustCompile(`only user and assistant roles`), Effect: systemInUser,
			Without: toolResult},
		{Needs: model.PairCalls, Pattern: regexp.MustCompile(`only supports single tool-calls`),
			Effect: "each of several calls goes as a message of its own, with its result"},
		{Needs: model.NoTextBesideCalls, Effect: "text beside calls is not sent"},
	}
}

// Conversation returns the system prompt of a request and its history, as the chat template of a server needs them:
// arranged where one of the workarounds in arranged is in force, and with the system prompt in the first message of the
// user where that is another.
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

// UserText is how a wire writes a message of the user that is a text: what stands before the text, and what behind it.
type UserText struct{ Before, Behind string }

// putSystem puts a system prompt at the beginning of a history, and there of the message of the user that it begins
// with. It works on bytes, so the history stays as it is.
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

// rearrange decodes the elements of a history, has them arranged, and encodes them again.
func rearrange[T any](history []byte, arrange func([]T) []T) ([]byte, error) {
	var all []T
	if err := json.Unmarshal(slices.Concat([]byte{'['}, history, []byte{']'}), &all); err != nil {
		return nil, Unsendable(err)
	}
	return MarshalElements(arrange(all))
}

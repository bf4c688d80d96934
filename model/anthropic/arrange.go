package anthropic

import (
	"slices"

	"annotator/model"
	"annotator/model/endpoint"
)

// userText is how a message of the user is encoded.
var userText = endpoint.UserText{Before: `{"role":"user","content":[{"type":"text","text":"`, Behind: endOfText}

const endOfText = `"` + endOfMessage

// toolResult is a substring of every history that has the result of a tool.
const toolResult = `{"type":"` + blockToolResult + `",`

// arrange omits texts before calls, and puts each of several calls into a message of its own, followed by its result.
// Results are in the order of the calls.
func arrange(all []message, w model.Workarounds) (arranged []message) {
	isCall := func(b block) bool { return b.Type == blockToolUse }
	for at := 0; at < len(all); at++ {
		m := all[at]
		first := slices.IndexFunc(m.Content, isCall)
		if first > 0 && w.Has(model.NoTextBesideCalls) {
			m.Content, first = m.Content[first:], 0
		}
		calls := len(m.Content) - first
		if first < 0 || calls < 2 || !w.Has(model.PairCalls) || at+1 == len(all) || len(all[at+1].Content) < calls {
			arranged = append(arranged, m)
			continue
		}
		results := all[at+1]
		for i := range calls {
			one := m.Content[first+i : first+i+1]
			if i == 0 {
				one = m.Content[:first+1]
			}
			arranged = append(arranged, message{m.Role, one}, message{results.Role, results.Content[i : i+1]})
		}
		at++
	}
	return arranged
}

package responses

import (
	"bytes"
	"encoding/json"

	"annotator/model"
	"annotator/model/endpoint"
)

// userText is how a message of the user is encoded.
var userText = endpoint.UserText{Before: `{"type":"message","role":"user","content":"`, Behind: `"}`}

// toolResult is a substring of every history that has the result of a tool.
const toolResult = `{"type":"` + itemResult + `",`

// arrange omits texts before calls, and puts each result after its call. Results are in the order of the calls.
func arrange(all []json.RawMessage, w model.Workarounds) (arranged []json.RawMessage) {
	is := func(at int, kind string) bool {
		return at < len(all) && bytes.HasPrefix(all[at], []byte(`{"type":"`+kind+`"`))
	}
	for at := 0; at < len(all); {
		calls := 0
		for is(at+calls, itemCall) {
			calls++
		}
		switch {
		case calls > 0 && w.Has(model.PairCalls) && is(at+2*calls-1, itemResult):
			for i := range calls {
				arranged = append(arranged, all[at+i], all[at+calls+i])
			}
			at += 2 * calls
		case calls > 0:
			arranged, at = append(arranged, all[at:at+calls]...), at+calls
		case w.Has(model.NoTextBesideCalls) && is(at, itemMessage) && is(at+1, itemCall):
			at++
		default:
			arranged, at = append(arranged, all[at]), at+1
		}
	}
	return arranged
}

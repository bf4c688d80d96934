package endpoint

import (
	"bytes"
	"fmt"
	"io"

	"annotator"
	"annotator/model"
)

// Limits of a response. No useful reply comes near them; the memory holds several copies of what they allow.
const (
	answerLimit = 32 << 20 // bytes of a stream, most of which are not text
	eventLimit  = 16 << 20 // bytes of an event or a line of a stream, or of a response that is one object
	replyLimit  = 4 << 20  // bytes of the text, the reasoning and the calls of a reply
	valueLimit  = 1 << 18  // values of an event or an object: when parsed, even an empty one takes a hundred bytes
)

// maxCompletion is more tokens than any complete reply has.
const maxCompletion = 1 << 24

// maxTokens is more tokens than a prompt can have: each is at least a byte, but for those of the chat template.
func maxTokens(body Segments) int {
	const around = 1 << 16
	return int(body.size()) + around
}

// MaxParts is how many calls or blocks an Assembler takes: empty ones would fill the memory within a short response.
const MaxParts = 1 << 12

// CheckParts returns the fault of a reply with more parts than MaxParts.
func CheckParts(n int) error {
	if n <= MaxParts {
		return nil
	}
	return Unusable("the reply has more than %d calls or blocks", MaxParts)
}

// callWeight is the size of a call in memory without its name and arguments, in bytes.
const callWeight = 256

func tooLong(what string, limit int) *model.Fault {
	return &model.Fault{Kind: annotator.Refused, Message: fmt.Sprintf("%s is longer than %d MiB", what, limit>>20)}
}

// readObject reads a response that is one object.
func readObject(src io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(src, eventLimit+1))
	if err == nil && len(body) > eventLimit {
		err = tooLong("an answer in one piece", eventLimit)
	}
	if err != nil {
		return nil, err
	}
	return body, checkValues(body)
}

// checkValues refuses JSON whose number of values would exhaust the memory when it is parsed.
func checkValues(data []byte) error {
	if bytes.Count(data, []byte(",")) < valueLimit {
		return nil
	}
	return &model.Fault{
		Kind:    annotator.Refused,
		Message: fmt.Sprintf("a piece of the answer has more than %d values", valueLimit),
	}
}

// checkReply refuses a reply that is too long to be processed.
func checkReply(r *model.Reply) error {
	size := len(r.Text) + len(r.Reasoning)
	for i := range r.Calls {
		size += len(r.Calls[i].Name) + len(r.Calls[i].Arguments) + callWeight
	}
	if size > replyLimit {
		return tooLong("the reply", replyLimit)
	}
	return nil
}

package endpoint

import (
	"bytes"
	"fmt"
	"io"

	"annotator"
	"annotator/model"
)

// Limits on an answer. No reply of use comes near them, and what they let through fits into memory several times over, as it
// must: as it came, as parsed, and as put together.
const (
	answerLimit = 32 << 20 // bytes of a stream, most of which stand around its words
	eventLimit  = 16 << 20 // bytes of an event or a line of a stream, or of an answer that is one object
	replyLimit  = 4 << 20  // bytes of what a reply says, its calls included
	valueLimit  = 1 << 18  // values of an event or an object: when parsed, even an empty one takes a hundred bytes
)

// mostCompletion is more tokens than any reply has that comes to its end.
const mostCompletion = 1 << 24

// mostTokens is more tokens than the prompt of a request can have: each stands for a byte at least, but for those that the server
// puts around it.
func mostTokens(body Segments) int {
	const around = 1 << 16
	return int(body.size()) + around
}

// MostParts is how many calls or blocks an Assembler puts together. No reply of use comes near it, and empty ones would fill the memory
// long before the answer is too long.
const MostParts = 1 << 12

// CheckParts returns the fault of a reply that has more parts than MostParts.
func CheckParts(n int) error {
	if n <= MostParts {
		return nil
	}
	return Unusable("the reply has more than %d calls or blocks", MostParts)
}

// callWeight is what a call counts for beside its name and arguments, in bytes.
const callWeight = 256

func tooLong(what string, limit int) *model.Fault {
	return &model.Fault{Kind: annotator.Refused, Message: fmt.Sprintf("%s is longer than %d MiB", what, limit>>20)}
}

// readObject reads an answer that is one object.
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

// checkValues refuses JSON of so many values that to parse it would take more memory than there may be.
func checkValues(data []byte) error {
	if bytes.Count(data, []byte(",")) < valueLimit {
		return nil
	}
	return &model.Fault{Kind: annotator.Refused, Message: fmt.Sprintf("a piece of the answer has more than %d values", valueLimit)}
}

// checkReply refuses a reply that says too much for all that is done with replies.
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

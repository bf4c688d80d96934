package scripted

import (
	"math/bits"

	"annotator"
	"annotator/model/chatwire"
)

// blockTokens is the size of a block of the prefix cache, vLLM's default.
const blockTokens = 16

// The template's own tokens are greater than every token of four bytes, so that no text contains one.
const (
	tokenOpen uint64 = 1<<40 + iota // a message begins
	tokenEnd                        // the end of a message, which the model itself generates
	tokenNewline
	tokenCallOpen
	tokenCallEnd
	tokenThinkOpen
	tokenThinkEnd
	tokenRole = 1 << 41 // plus the role's first letter
)

// Tokens returns the number of tokens of a text by the simulated tokenizer. A message costs four more, and a tool call
// costs two more than its name and its arguments.
func Tokens(text string) int { return chatwire.Tokens(len(text)) }

// chain is a place in a rendered prompt: the hash of all tokens before it, and their number. The hash at the end of a
// block is its key in the prefix cache. So a key identifies the whole prompt up to there, as in vLLM.
type chain struct {
	hash   uint64
	tokens int
}

// renderer renders messages from a place on, and collects the keys of the completed blocks.
type renderer struct {
	chain
	blocks []uint64
}

func (r *renderer) token(t uint64) {
	r.hash = bits.RotateLeft64((r.hash^t)*0x9e3779b97f4a7c15, 29)
	r.tokens++
	if r.tokens%blockTokens == 0 {
		r.blocks = append(r.blocks, r.hash)
	}
}

func (r *renderer) piece(text string) {
	for len(text) >= chatwire.BytesPerToken {
		r.token(uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24)
		text = text[chatwire.BytesPerToken:]
	}
	if text == "" {
		return
	}
	rest := uint64(len(text)) << 32
	for i := range len(text) {
		rest |= uint64(text[i]) << (8 * i)
	}
	r.token(rest)
}

// salt is not part of the prompt. It changes the keys of all following blocks.
func (r *renderer) salt(value []byte) {
	for _, b := range value {
		r.hash = bits.RotateLeft64((r.hash^uint64(b))*0x9e3779b97f4a7c15, 29)
	}
}

func (r *renderer) message(m *annotator.Message) {
	r.open(m.Role)
	r.body(m)
	r.token(tokenEnd)
	r.token(tokenNewline)
}

func (r *renderer) open(role annotator.Role) {
	r.token(tokenOpen)
	if role == "" {
		role = "?"
	}
	r.token(tokenRole + uint64(role[0]))
}

// body omits the ids of tool calls: the server adds them after the model has generated the call.
func (r *renderer) body(m *annotator.Message) {
	if m.Reasoning != "" {
		r.token(tokenThinkOpen)
		r.piece(m.Reasoning)
		r.token(tokenThinkEnd)
	}
	r.piece(m.Content)
	for i := range m.ToolCalls {
		r.token(tokenCallOpen)
		r.piece(m.ToolCalls[i].Name)
		r.piece(m.ToolCalls[i].Arguments)
		r.token(tokenCallEnd)
	}
}

package offline

import (
	"encoding/binary"
	"hash/fnv"
	"sync"
)

const bytesPerToken = 4

// tokensOf estimates the tokens of a text by its length in bytes.
func tokensOf(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// What a message and a tool call cost beside their text, in tokens.
const (
	messageOverhead = 4
	callOverhead    = 10
)

func (m *message) tokens() int {
	n := messageOverhead + tokensOf(len(m.Content))
	for i := range m.ToolCalls {
		n += m.ToolCalls[i].tokens()
	}
	return n
}

func (c *toolCall) tokens() int {
	return callOverhead + tokensOf(len(c.Function.Name)+len(c.Function.Arguments))
}

func (a *answer) tokens() int {
	n := tokensOf(len(a.text))
	for i := range a.calls {
		n += a.calls[i].tokens()
	}
	return n
}

// prefix is a prompt up to the end of some message: a hash of all there is to that point, and its tokens.
type prefix struct {
	hash   uint64
	tokens int
}

// prefixes returns the prompt's prefixes, each one message longer than the one before: the first is the tools alone, the
// last the whole prompt.
func (r *request) prefixes() []prefix {
	h := fnv.New64a()
	put := func(s string) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(s)))
		h.Write(size[:])
		h.Write([]byte(s))
	}
	put(string(r.Tools))
	all := []prefix{{h.Sum64(), tokensOf(len(r.Tools))}}
	for i := range r.Messages {
		m := &r.Messages[i]
		put(m.Role)
		put(string(m.Content))
		for j := range m.ToolCalls {
			put(m.ToolCalls[j].ID)
			put(m.ToolCalls[j].Function.Name)
			put(m.ToolCalls[j].Function.Arguments)
		}
		all = append(all, prefix{h.Sum64(), all[i].tokens + m.tokens()})
	}
	return all
}

// maxPrefixes bounds the memory of the cache; past it everything is forgotten, as by a server that ran out of blocks.
const maxPrefixes = 1 << 16

// prefixCache remembers which prompts it has seen, as a model server does that keeps what it computed for a prefix.
type prefixCache struct {
	mu   sync.Mutex
	seen map[uint64]struct{}
}

// add remembers the prefixes of a prompt and returns the tokens of the longest that was known.
func (c *prefixCache) add(all []prefix) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil || len(c.seen) > maxPrefixes {
		c.seen = map[uint64]struct{}{}
	}
	cached := 0
	for _, p := range all {
		if _, ok := c.seen[p.hash]; ok {
			cached = p.tokens
		}
		c.seen[p.hash] = struct{}{}
	}
	return cached
}

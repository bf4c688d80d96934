package offline

import (
	"hash/fnv"
	"sync"

	"annotator"
	"annotator/model/chatwire"
)

// The cost of a message and of a tool call without their text, in tokens.
const (
	messageOverhead = 4
	callOverhead    = 10
)

func messageTokens(content string, calls []annotator.ToolCall) int {
	n := chatwire.Tokens(len(content))
	for i := range calls {
		n += callTokens(&calls[i])
	}
	return n
}

func callTokens(c *annotator.ToolCall) int {
	return callOverhead + chatwire.Tokens(len(c.Name)+len(c.Arguments))
}

// prefix is a prompt up to the end of some message: a hash of all there is to that point, and its tokens.
type prefix struct {
	hash   uint64
	tokens int
}

// prefixes returns the prompt's prefixes, from the tools alone to the whole prompt, each one message longer.
func (r *request) prefixes() []prefix {
	h := fnv.New64a()
	h.Write(r.Tools)
	all := []prefix{{h.Sum64(), chatwire.Tokens(len(r.Tools))}}
	for i := range r.messages {
		m := &r.messages[i]
		h.Write(chatwire.JSON(m))
		all = append(all, prefix{h.Sum64(), all[i].tokens + messageOverhead + messageTokens(m.Content, m.ToolCalls)})
	}
	return all
}

// maxPrefixes bounds the memory of the cache. A full cache is emptied, as by a server that has run out of blocks.
const maxPrefixes = 1 << 16

// prefixCache holds the prefixes of former prompts, as a server does that keeps what it computed.
type prefixCache struct {
	mu     sync.Mutex
	hashes map[uint64]bool
}

// add returns the tokens of the longest of a prompt's prefixes that the cache holds, and adds them all.
func (c *prefixCache) add(all []prefix) (tokens int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hashes == nil || len(c.hashes) > maxPrefixes {
		c.hashes = map[uint64]bool{}
	}
	for _, p := range all {
		if c.hashes[p.hash] {
			tokens = p.tokens
		}
		c.hashes[p.hash] = true
	}
	return tokens
}

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

// prefix is a prompt up to the end of a message: its hash and its tokens.
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

// maxPrefixes limits the memory of the cache. A full cache is emptied, as in a server without free blocks.
const maxPrefixes = 1 << 16

// prefixCache has the prefixes of earlier prompts, as the prefix cache of a server.
type prefixCache struct {
	mu     sync.Mutex
	hashes map[uint64]bool
}

// add adds all prefixes of a prompt. It returns the tokens of the longest one that the cache already had.
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

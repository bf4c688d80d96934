package scripted

// rememberedPrompts is the number of conversations that can alternate without decoding one from its beginning again.
const rememberedPrompts = 16

// prefixCache has the keys of all blocks ever computed, and the newest prompts, whose blocks are all in it. The list is
// replaced and never changed in place, so that a request can search it without the server's lock.
type prefixCache struct {
	blocks  map[uint64]struct{}
	prompts []*prompt // the newest first
}

func newPrefixCache() prefixCache { return prefixCache{blocks: map[uint64]struct{}{}} }

// nearest returns the stored prompt with the longest common prefix with a body, or an empty one.
func nearest(prompts []*prompt, body []byte) *prompt {
	best, longest := &prompt{}, 0
	for _, p := range prompts {
		n := commonPrefix(p.body, body)
		if n > longest {
			best, longest = p, n
		}
		if n >= p.ends[len(p.ends)-1] {
			break
		}
	}
	return best
}

// admit adds a prompt to the cache, and returns how many of its tokens were cached.
func (c *prefixCache) admit(p *prompt) (cached int) {
	blocks := p.shared
	for _, key := range p.fresh {
		if _, ok := c.blocks[key]; !ok {
			break
		}
		blocks++
	}
	c.add(p.fresh)
	c.remember(p)
	// The last token is always computed, since it produces the first token of the reply.
	return min(blocks, (p.end.tokens-1)/blockTokens) * blockTokens
}

func (c *prefixCache) add(keys []uint64) {
	for _, key := range keys {
		c.blocks[key] = struct{}{}
	}
}

// remember replaces the prompt that this one extends.
func (c *prefixCache) remember(p *prompt) {
	prompts := make([]*prompt, 1, rememberedPrompts+1)
	prompts[0] = p
	for _, q := range c.prompts {
		if q != p.replaces {
			prompts = append(prompts, q)
		}
	}
	p.replaces = nil
	c.prompts = prompts[:min(len(prompts), rememberedPrompts)]
}

// Package budget says how many tokens a prompt and its reply may have.
package budget

import (
	"cmp"

	"annotator"
)

// Budget learns how many tokens the server takes, and answers whether a prompt and its reply fit. The zero Budget takes
// any request: before Begin nothing is bounded.
type Budget struct {
	Wanted   int // tokens of prompt and reply together; 0: those of the server's context, within the usual bounds
	MaxReply int // tokens of a reply; 0: what the prompt leaves, up to a part of the budget
	Replies  int // tokens of a reply that the server takes, if it has refused more; 0: not known
	Margin   int // tokens that neither prompt nor reply uses

	// The server's context, in tokens of prompt and reply together, by source; 0: not known.
	Listed     int // in the endpoint's list of models
	Loaded     int // as the server reports through other addresses than the API's
	Configured int // by the user
	Told       int // in a refusal
	Shown      int // where a reply was cut off; Update decides whether it counts

	context int // in force; 0 before Begin
	reply   int // tokens that every prompt leaves for its reply
	longest int // tokens of the longest reply
}

// The least and the most of a budget that nobody has set, in tokens.
const (
	least = 32_768 // also where the server's context is not known
	most  = 65_536 // in a novel no model is reliable beyond that, and longer prompts save little
)

// MinScene is the least number of tokens for a scene, after the prefix and the reply. With less, no run begins.
const MinScene = 1024

// The length of replies where nobody has set it, and of all in a lowered budget.
const (
	replyShare = 4     // the part of the budget that a reply may take; the scene needs the rest
	usualReply = 4_096 // tokens that every prompt leaves for its reply, if a reply may take them
)

// Server returns the smallest context that is known of the server; 0 for none.
func (b *Budget) Server() int {
	context := 0
	for _, n := range []int{b.Listed, b.Loaded, b.Configured, b.Told} {
		if n > 0 && (context == 0 || n < context) {
			context = n
		}
	}
	return context
}

// Tell records the context that a refusal names; 0 for none.
func (b *Budget) Tell(context int) {
	if context > 0 && (b.Told == 0 || context < b.Told) {
		b.Told = context
	}
}

// Usual returns the budget before it is lowered to the server's context: the one that is wanted, else one by that
// context.
func (b *Budget) Usual() int { return cmp.Or(b.Wanted, min(max(b.Server(), least), most)) }

// Begin puts the budget in force, and reports whether it is lowered to the server's context.
func (b *Budget) Begin() bool {
	b.context, b.reply, b.longest = b.Usual(), b.MaxReply, b.MaxReply
	if b.MaxReply == 0 {
		b.longest = b.context / replyShare
		b.reply = min(usualReply, b.longest)
	}
	return b.lower(b.Server())
}

// Update lowers the budget to the server's context as it is known now, and reports whether it does. It ignores a
// context, shown by a cut reply, that leaves no room for a scene with a prefix of the given size. The server may end
// replies for another reason.
func (b *Budget) Update(prefix int) bool {
	if shown := *b; shown.lower(b.Shown) && shown.Check(prefix) == nil {
		b.Told = b.Shown
	}
	return b.lower(b.Server())
}

func (b *Budget) lower(context int) bool {
	if context <= 0 || context >= b.context {
		return false
	}
	b.context, b.reply, b.longest = context, min(b.reply, context/replyShare), min(b.longest, context/replyShare)
	return true
}

// Context returns the tokens of prompt and reply together, with the margin.
func (b *Budget) Context() int { return b.context }

// Reply returns the tokens that every prompt leaves for its reply.
func (b *Budget) Reply() int { return b.reply }

// Prompt returns the most tokens of a prompt.
func (b *Budget) Prompt() int { return b.ReplyTo(0) - b.reply }

// Longest returns the most tokens of the reply to a prompt of the given size. It is at least Reply if the prompt has at
// most Prompt tokens, and never less than 1.
func (b *Budget) Longest(prompt int) int {
	most := b.longest
	if b.Replies > 0 {
		most = min(most, max(b.Replies, b.reply))
	}
	return max(1, min(most, b.ReplyTo(prompt)))
}

// ReplyTo returns how many tokens are left for the reply to a prompt of the given size. The number may exceed Longest,
// and may be negative.
func (b *Budget) ReplyTo(prompt int) int { return b.context - b.Margin - prompt }

// Check refuses a budget that leaves less than MinScene after a prefix of the given size. Otherwise scene after scene
// would be quarantined.
func (b *Budget) Check(prefix int) error {
	free := b.Prompt() - prefix
	if free >= MinScene {
		return nil
	}
	return annotator.Errorf(annotator.Misused,
		"a context of %d tokens leaves %d for a scene, beside %d for the system prompt and tools and %d for the reply",
		b.context, max(free, 0), prefix, b.reply).
		WithReason(annotator.ReasonContextTooSmall)
}

package window

import (
	"annotator"
	"annotator/context/tokens"
)

// Limits says how many tokens a request may have.
type Limits struct {
	Context int // of prompt and reply together
	Reply   int
	Margin  int // kept free
}

// replyShare is which part of a lowered context a reply may take. The scene needs the rest.
const replyShare = 4

// MinScene is how many tokens must be left for a scene, beside the prefix and the reply, or no run begins.
const MinScene = 1024

// The least and the most of a context budget that nobody has set, in tokens.
const (
	leastContext = 32_768 // also where nobody says what the model takes
	mostContext  = 65_536 // in a novel no model is reliable beyond that, and longer prompts save little
)

// DefaultContext returns the context budget for a model that takes so many tokens; 0: it is not known how many. It is to be lowered
// to what a smaller model takes.
func DefaultContext(tokens int) int { return min(max(tokens, leastContext), mostContext) }

// Usable returns the tokens of prompt and reply together.
func (l Limits) Usable() int { return l.Context - l.Margin }

// Prompt returns the tokens that a prompt may have.
func (l Limits) Prompt() int { return l.PromptWithin(l.Context) }

// PromptWithin returns the tokens that a prompt could have in another context.
func (l Limits) PromptWithin(context int) int { return context - l.Reply - l.Margin }

// ReplyAfter returns the tokens that a reply to a prompt may have.
func (l Limits) ReplyAfter(p *Prompt) int { return l.Usable() - p.Tokens() }

// Lower takes in how many tokens the model takes, 0 if that is not known, and reports whether that is less than before.
func (l *Limits) Lower(context int) bool {
	if context <= 0 || context >= l.Context {
		return false
	}
	l.Context, l.Reply = context, min(l.Reply, context/replyShare)
	return true
}

// Check refuses limits under which hardly a scene could be read beside a prefix. Else a whole story would be
// quarantined in no time. A nil counter has learned nothing of the server's tokens.
func (l Limits) Check(prefix Prefix, counter *tokens.Counter) error {
	used := counter.Count(prefix.size)
	free := l.Prompt() - used
	if free >= MinScene {
		return nil
	}
	return annotator.Errorf(annotator.Misused,
		"a context of %d tokens leaves %d for a scene, beside %d for the system prompt and tools and %d for the reply",
		l.Context, max(free, 0), used, l.Reply).
		WithReason(annotator.ReasonContextTooSmall)
}

// Fits returns what tells why no run would begin with so many tokens of context, beside a prefix; 0: these limits. A prompt that
// the server has counted teaches the estimates; nil: none was.
func (l Limits) Fits(prefix Prefix) func(context int, counted *annotator.Call) error {
	return func(context int, counted *annotator.Call) error {
		var counter tokens.Counter
		if counted != nil {
			counter.Observe(counted.Characters, counted.Usage.Prompt)
		}
		lowered := l
		lowered.Lower(context)
		return lowered.Check(prefix, &counter)
	}
}

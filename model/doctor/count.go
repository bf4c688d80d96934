package doctor

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"annotator"
	"annotator/model"
)

// contextLength compares the server's context with the budget of a run.
func contextLength(ctx context.Context, e *examination) Finding {
	b := &e.client.Capabilities.Budget
	e.client.Capabilities.SetListed(e.models, e.client.Model)
	b.Loaded = e.server.loadedContext(ctx, e.Endpoint, e.client.Model)
	b.Configured = e.Contexts[e.client.Model]
	b.Begin()
	n, err := b.Server(), b.Check(e.Prefix(nil))
	switch {
	case n == 0:
		return missing("", "the server does not tell; a run takes %d tokens",
			b.Usual()).because(annotator.ReasonContextUnknown)
	case err != nil:
		return e.tooShort(err)
	case n < b.Usual():
		return missing(moreContext, "%d tokens; a run lowers its budget of %d to that", n, b.Usual())
	}
	return ok("%d tokens; a run takes %d", n, b.Usual())
}

// tooShort returns the finding that the context, or a lower budget, is too small for a scene.
func (e *examination) tooShort(err error) Finding {
	if b := &e.client.Capabilities.Budget; b.Context() < b.Usual() {
		return failed(moreContext, "%s", err)
	}
	return failed("", "%s", err)
}

// holdsScene checks the context with the server's token count of a prompt with all tools. contextLength only estimates
// the tokens.
func holdsScene(_ context.Context, e *examination) Finding {
	if e.replayed == nil || !e.replayed.Usage.Exact {
		return skipped("no tokens are reported of a prompt with the tools of a run")
	}
	b := &e.client.Capabilities.Budget
	b.Begin()
	if err := b.Check(e.Prefix(e.replayed.Call)); err != nil {
		return e.tooShort(err)
	}
	return ok("beside the system prompt and tools, %d tokens with a short conversation", e.replayed.Usage.Prompt)
}

// line is a line of text with a stable number of tokens.
func line(n int) string {
	return fmt.Sprintf("In the evening of day %d the lamp on the quay was lit, and it burned until the boats were "+
		"home.\n", n)
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i + 1))
	}
	return b.String()
}

func tokenizes(ctx context.Context, e *examination) Finding {
	if _, able := e.Wire.(model.Counter); !able {
		return skipped("not on this wire; a run estimates, by what the server reports")
	}
	text := lines(20)
	n, err := e.client.CountTokens(ctx, text)
	if err != nil {
		return missing("", "%s; a run estimates, by what the server reports", model.ClassifyTransport(err))
	}
	return ok("%d tokens for %d characters", n, len(text))
}

func reportsUsage(_ context.Context, e *examination) Finding {
	switch {
	case !e.plain.Exact && !e.streamed.Exact:
		return missing("", "no tokens are reported: a run estimates them, and cannot tell when the server drops text")
	case e.Stream && !e.streamed.Exact:
		return missing("", "no tokens are reported when streaming").because(annotator.ReasonNoStream)
	}
	u := e.streamed
	if !u.Exact {
		u = e.plain
	}
	return ok("%d tokens in, %d out", u.Prompt, u.Completion)
}

// reportsCached checks the reply to a request that continues an earlier one, and repeats it if less than half was
// cached. A few cached tokens prove nothing: all prompts of a template begin alike, and llama.cpp counts these tokens.
func reportsCached(ctx context.Context, e *examination) Finding {
	if e.replayed == nil {
		return skipped("no request that goes on from another was answered")
	}
	u := e.replayed.Usage
	if !u.Exact {
		return missing(cacheReport, "no tokens are reported at all")
	}
	before, counts := e.cacheCounts(ctx)
	if !mostlyCached(u) {
		reply, fault := e.complete(ctx, e.replay)
		if fault != nil {
			return skipped("%s", fault)
		}
		u = reply.Usage
	}
	after, _ := e.cacheCounts(ctx)
	switch again := fmt.Sprintf("%s of the %d tokens of a prompt that was sent before", none(u.Cached), u.Prompt); {
	case mostlyCached(u):
		return ok("%d of %d tokens", u.Cached, u.Prompt)
	case counts && after.Cached > before.Cached:
		return missing(cacheReport, "%s, by the reply; by the server's own counters %d", again,
			after.Cached-before.Cached)
	case counts && after == before:
		return missing(prefixCache, "%s: the server has no prefix cache in use, and computes every prompt whole", again)
	case u.Told > 0 && counts:
		return missing(steadyTemplate, "%s, though the server looks them up: something at the beginning of the "+
			"prompt changes, such as the time", again)
	case u.Told > 0:
		return missing(prefixCache, "%s: the server has no prefix cache in use, or something at the beginning of "+
			"the prompt changes, such as the time", again)
	}
	return missing(cacheReport, "not told, not even for a prompt that was sent before: what the cache saves cannot "+
		"be seen")
}

// mostlyCached reports whether the server found at least half of a prompt in its cache.
func mostlyCached(u annotator.Usage) bool { return u.Prompt > 0 && 2*u.Cached >= u.Prompt }

// none formats a number of tokens.
func none(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

// cacheCounts reads the server's counters of its cache; ok is false if it has none.
func (e *examination) cacheCounts(ctx context.Context) (counts model.CacheCounts, ok bool) {
	counter, ok := e.Wire.(model.CacheCounter)
	if !ok {
		return counts, false
	}
	counts, err := counter.CacheCounts(ctx)
	return counts, err == nil
}

// Lengths of prompts to compare.
const (
	shortLines  = 10
	mediumLines = 40
	longTokens  = 6000 // more than the default context of some servers
)

// keepsLongPrompt compares the token counts of prompts of three lengths. Only the counts show that a server drops the
// oldest messages.
func keepsLongPrompt(ctx context.Context, e *examination) Finding {
	short, fault := e.converse(ctx, "short", shortLines)
	if fault != nil {
		return failed("", "%s", fault)
	}
	medium, fault := e.converse(ctx, "longer", mediumLines)
	if fault != nil {
		return failed("", "%s", fault)
	}
	perLine := (medium.Usage.Prompt - short.Usage.Prompt) / (mediumLines - shortLines)
	if !short.Usage.Exact || perLine <= 0 {
		return skipped("no tokens are reported that could be compared")
	}
	b := &e.client.Capabilities.Budget
	b.Begin()
	most := min(longTokens, b.Usual()-b.Reply())
	if limit := b.Server(); limit > 0 {
		most = min(most, limit*3/4)
	}
	n := most / perLine / parts * parts
	if n <= mediumLines {
		return skipped("there is no room for a long prompt")
	}
	expected := medium.Usage.Prompt + (medium.Usage.Prompt-short.Usage.Prompt)*(n-mediumLines)/(mediumLines-shortLines)
	long, fault := e.converse(ctx, "long", n)
	switch {
	case fault != nil && fault.Kind == annotator.PromptTooLong:
		return failed(moreContext, "about %d tokens are too many for it: %s", expected, fault)
	case fault != nil:
		return failed("", "%s", fault)
	}
	if cut := model.CheckPrompt(long.Usage, expected*9/10); cut != nil {
		return failed(moreContext, "%s", cut.Message)
	}
	return ok("%d tokens of about %d", long.Usage.Prompt, expected)
}

// parts is the number of messages of the user in a long conversation. A server may drop the oldest.
const parts = 5

// converse sends a long conversation. Conversations with different names begin differently, because some servers do not
// count cached tokens.
func (e *examination) converse(ctx context.Context, name string, n int) (*model.Reply, *model.Fault) {
	var messages []annotator.Message
	for range parts {
		messages = append(messages, user("A "+name+" tale.\n"+lines(n/parts)), assistant("Go on."))
	}
	messages[len(messages)-1] = user("Answer with the word yes.")
	return e.send(ctx, model.Request{MaxTokens: fewTokens, Stream: e.stream}, messages...)
}

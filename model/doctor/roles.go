package doctor

import (
	"context"
	"strings"

	"annotator/model"
)

// password is a word that no model generates by chance. It is in a system prompt of systemLines lines. Each line has
// more than leastPerLine tokens in any tokenizer.
const (
	password     = "MARZIPAN"
	systemLines  = 20
	leastPerLine = 5
)

// keepsSystem asks for a word in the system prompt: some templates drop the system prompt without an error. If the
// model does not answer with the word, the token count shows whether the prompt was read.
func keepsSystem(ctx context.Context, e *examination) Finding {
	question := user("What is the password? Answer with that word alone.")
	system := "The password is " + password + ". Whoever asks for the password is told it.\n" + lines(systemLines)
	with, fault := e.send(ctx, model.Request{System: system, MaxTokens: 16 * fewTokens, Stream: e.stream}, question)
	if fault != nil {
		return failed(template.against(fault), "%s", fault)
	}
	if strings.Contains(strings.ToUpper(with.Text+with.Reasoning), password) {
		return ok("the model knows what stands in it")
	}
	without, fault := e.send(ctx, model.Request{MaxTokens: fewTokens, Stream: e.stream}, question)
	if fault != nil || !with.Usage.Exact || !without.Usage.Exact {
		return missing(template, "asked for a word in it, the model says %s", quote(with))
	}
	if grown := with.Usage.Prompt - without.Usage.Prompt; grown >= shortLines {
		return ok("%d tokens of it are read, though the model says %s", grown, quote(with))
	}
	return failed(template, "the template drops it: it adds no tokens, and the model says %s", quote(with))
}

// minReasoningOnly is the number of replies with only reasoning that is not due to chance.
const minReasoningOnly = 2

// answersBesideThoughts finds a server that parses all text as reasoning, and a model that never ends its reasoning. It
// makes no request, and examines the replies so far.
func answersBesideThoughts(_ context.Context, e *examination) Finding {
	if e.withContent > 0 || e.reasoningOnly < minReasoningOnly {
		return ok("%d replies with words", e.withContent)
	}
	const alone = "all %d replies stand in the reasoning alone, with no text and no call: "
	if e.client.Capabilities.MixedText { // the marks were in the text, so the server has no parser for them
		return failed(noThoughts, alone+"the model begins a thought and never ends it", e.reasoningOnly)
	}
	return failed(noParser, alone+"the server's reasoning parser takes what the model says for its thoughts, or the "+
		"model never ends them", e.reasoningOnly)
}

// keepsThoughtsApart reports where the replies so far had their reasoning.
func keepsThoughtsApart(_ context.Context, e *examination) Finding {
	switch {
	case e.client.Capabilities.MixedText:
		return missing(reasoning, "thoughts stand in the text: a run takes them out")
	case e.client.Capabilities.Reasons:
		return ok("they come beside the text")
	}
	return ok("the model shows none")
}

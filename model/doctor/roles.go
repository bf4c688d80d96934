package doctor

import (
	"context"
	"strings"

	"annotator/model"
)

// password is a word that no model generates by chance. It is in a system prompt of systemLines lines, each of which
// has more than leastPerLine tokens in any tokenizer.
const (
	password     = "MARZIPAN"
	systemLines  = 20
	leastPerLine = 5
)

// keepsSystem asks for a word in the system prompt: some templates drop the system prompt without an error. A model
// that does not say it may still have read it, which the token count shows.
func keepsSystem(ctx context.Context, e *examination) Finding {
	question := user("What is the password? Answer with that word alone.")
	system := "The password is " + password + ". Whoever asks for the password is told it.\n" + lines(systemLines)
	told, fault := e.say(ctx, model.Request{System: system, MaxTokens: 16 * fewTokens, Stream: e.stream}, question)
	if fault != nil {
		return failed(template.against(fault), "%s", fault)
	}
	if strings.Contains(strings.ToUpper(told.Text+told.Reasoning), password) {
		return ok("the model knows what stands in it")
	}
	untold, fault := e.say(ctx, model.Request{MaxTokens: fewTokens, Stream: e.stream}, question)
	if fault != nil || !told.Usage.Exact || !untold.Usage.Exact {
		return missing(template, "asked for a word in it, the model says %s", words(told))
	}
	if grown := told.Usage.Prompt - untold.Usage.Prompt; grown >= shortLines {
		return ok("%d tokens of it are read, though the model says %s", grown, words(told))
	}
	return failed(template, "the template drops it: it adds no tokens, and the model says %s", words(told))
}

// fewSwallowed is how many replies with nothing but reasoning are no chance.
const fewSwallowed = 2

// answersBesideThoughts finds a server whose parser of reasoning takes all that the model says for thoughts, and a
// model that never ends a thought. No request is made for it: it judges the replies so far.
func answersBesideThoughts(_ context.Context, e *examination) Finding {
	if e.spoken > 0 || e.swallowed < fewSwallowed {
		return ok("%d replies with words", e.spoken)
	}
	const alone = "all %d replies stand in the reasoning alone, with no text and no call: "
	if e.client.Capabilities.MixedText { // the marks came in the text, so no parser has read them
		return failed(noThoughts, alone+"the model begins a thought and never ends it", e.swallowed)
	}
	return failed(noParser, alone+"the server's reasoning parser takes what the model says for its thoughts, or the "+
		"model never ends them", e.swallowed)
}

// keepsThoughtsApart reports where reasoning was in all replies so far.
func keepsThoughtsApart(_ context.Context, e *examination) Finding {
	switch {
	case e.client.Capabilities.MixedText:
		return missing(reasoning, "thoughts stand in the text: a run takes them out")
	case e.client.Capabilities.Reasons:
		return ok("they come beside the text")
	}
	return ok("the model shows none")
}

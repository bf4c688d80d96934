package model

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
	"annotator/model/textcalls"
)

// CodeSilent is the code of a call in which no token arrived for too long.
const CodeSilent = "silent"

// The codes of unusable complete replies.
const (
	CodeFiltered  = "content_filter"
	CodeFinish    = "unknown_finish"
	CodeBroken    = "broken_off"   // the server failed in the middle of it
	CodeNoCall    = "no_call"      // the server says that a tool is called, and sends no call
	CodeEcho      = "echo"         // it is a piece of the prompt
	CodeRunOn     = "run_on"       // it continues with the turn of another speaker
	CodeEmpty     = "empty_reply"  // neither a word nor a call
	CodeThinking  = "only_thought" // it reached its limit before the first word
	CodeStuck     = "repetition"
	CodeBlanks    = "blanks" // strict tools let the model write nothing else
	CodeDamaged   = "damaged_text"
	CodeManyCalls = "too_many_calls"
	CodeModel     = "another_model"
	CodePromptCut = "prompt_cut"
)

// MaxCalls is the maximum number of tool calls in a reply. A model that makes more is in a loop.
const MaxCalls = 256

// Inspect returns the fault of an unusable complete reply; nil if it can be used. An unusable reply is a failed call,
// so the same Policy decides about it. The reply must be normalized.
func Inspect(r *Request, reply *Reply) *Fault {
	// Checks that say most about the server come first.
	for _, check := range []func(*Request, *Reply) *Fault{
		checkPrompt, checkModel, checkFinish, checkBlanks, checkText,
		checkSilence, checkEcho, checkTurns,
	} {
		if f := check(r, reply); f != nil {
			f.Raw, f.Usage, f.FirstByte, f.Duration = reply.Raw, reply.Usage, reply.FirstByte, reply.Duration
			return f
		}
	}
	return nil
}

func fault(kind annotator.Kind, code, format string, args ...any) *Fault {
	return &Fault{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

func (f *Fault) because(reason annotator.Reason) *Fault {
	f.Reason = reason
	return f
}

func (f *Fault) advise(advice string) *Fault {
	f.Advice = advice
	return f
}

func checkPrompt(r *Request, reply *Reply) *Fault { return CheckPrompt(reply.Usage, r.LeastPrompt) }

// CheckPrompt detects a server that has not read the whole prompt: it counts fewer tokens than the prompt can have.
func CheckPrompt(counted annotator.Usage, least int) *Fault {
	if !counted.Exact || counted.Prompt >= least {
		return nil
	}
	return fault(annotator.Misconfigured, CodePromptCut,
		"it counts %d tokens of a prompt that has at least %d: it drops the beginning of what it is sent",
		counted.Prompt, least).because(annotator.ReasonPromptCut)
}

// checkModel detects a reply of another model than the requested one, if the request demands that.
func checkModel(r *Request, reply *Reply) *Fault {
	if !r.SameModel || reply.Model == "" || reply.Model == r.Model {
		return nil
	}
	return fault(annotator.Misconfigured, CodeModel, "it was asked for the model %s, and %s answered", clip(r.Model),
		clip(reply.Model)).
		because(annotator.ReasonOtherModel)
}

// checkFinish checks why the reply ended. A reply that reached its limit is checked by checkSilence.
func checkFinish(_ *Request, reply *Reply) *Fault {
	switch reply.Outcome {
	case OutcomeCalls:
		if len(reply.Calls) == 0 {
			return fault(annotator.Malformed, CodeNoCall,
				"the server says that the model calls a tool (finish_reason %q), and sends no call", reply.Finish)
		}
	case OutcomeFiltered:
		f := fault(annotator.Refused, CodeFiltered, "the server's content filter ended the reply (finish_reason %q)",
			reply.Finish)
		f.Filtered = true
		return f.advise(adviceFilter)
	case OutcomeBroken:
		return fault(annotator.Malformed, CodeBroken, "the server broke the reply off (finish_reason %q)", reply.Finish)
	case OutcomeUnknown:
		return fault(annotator.Refused, CodeFinish, "the reply ended for a reason that is not known (finish_reason %q)",
			reply.Finish)
	}
	return nil
}

// checkText checks the texts of a reply. Damaged characters in reasoning are accepted: it is not used.
func checkText(r *Request, reply *Reply) *Fault {
	if n := len(reply.Calls); n > MaxCalls {
		return fault(annotator.Malformed, CodeManyCalls, "the reply makes %d tool calls, more than %d", n, MaxCalls)
	}
	parts := []string{reply.Text}
	for i := range reply.Calls {
		parts = append(parts, reply.Calls[i].Name, reply.Calls[i].Arguments)
	}
	for _, part := range append(parts, reply.Reasoning) {
		if f := FindLoop(part); f != nil {
			return f
		}
	}
	for _, part := range parts {
		if what, certain := damage(part); what != "" && (certain || !excused(r, reply, part)) {
			return fault(annotator.Malformed, CodeDamaged, "the reply holds %s", what)
		}
	}
	return nil
}

// longBlank matches more white space than JSON is indented by.
var longBlank = regexp.MustCompile(`\s{64}`)

// checkBlanks detects a model that writes white space up to the limit inside a call. The cause is the server's grammar
// for strict tools, which excludes what the model would write. The fault ends strict tools: see StrictRefused.
func checkBlanks(r *Request, reply *Reply) *Fault {
	n := len(reply.Calls)
	if !reply.Cut || n == 0 || !r.Workarounds.Strict() || !longBlank.MatchString(reply.Calls[n-1].Arguments) {
		return nil
	}
	f := fault(annotator.Malformed, CodeBlanks,
		"the model writes nothing but white space in a call: the grammar of the strict tools rules out what it "+
			"would write")
	f.Status = http.StatusOK
	return f
}

// FindLoop returns the fault of a model that repeats one text over and over; nil if there is none.
func FindLoop(text string) *Fault {
	unit, times := stuck(text)
	if times == 0 {
		return nil
	}
	return fault(annotator.Malformed, CodeStuck, "the model is stuck: it repeats %q at least %d times", clip(unit),
		times).advise(adviceStuck)
}

// escapes matches the escapes of JSON: a surrogate pair, NUL, half of a pair, any other.
var escapes = regexp.MustCompile(`(?s)\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|` +
	`\\u(0000)|\\u([dD][89a-fA-F][[:xdigit:]]{2})|\\.`)

// damage describes how a text is damaged; empty if it is not. Decoding JSON replaces invalid UTF-8 and halves of
// surrogate pairs with the replacement character. Some servers do so for a character that is split between two tokens,
// so that character alone is not certain damage. Arguments are JSON inside JSON, so their escapes are not decoded.
func damage(text string) (what string, certain bool) {
	nul, half := strings.ContainsRune(text, 0), false
	for _, found := range escapes.FindAllStringSubmatch(text, -1) {
		nul, half = nul || found[1] != "", half || found[2] != ""
	}
	switch {
	case nul:
		return "the character NUL", true
	case half || !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError):
		return "broken characters (invalid UTF-8, or half of a surrogate pair)", half
	}
	return "", false
}

// excused reports whether damage has another cause: it is quoted from the story, or the limit cut the last character.
func excused(r *Request, reply *Reply, part string) bool {
	if !utf8.Valid(reply.Raw) {
		return false
	}
	quoted := bytes.ContainsRune(r.History, utf8.RuneError) || bytes.Contains(r.History, []byte(`\ufffd`))
	rest, _ := damage(strings.TrimRight(part, string(utf8.RuneError)))
	return quoted || reply.Cut && rest == ""
}

// checkSilence detects a reply without words. Exclamation marks, which a model writes after a numeric overflow, are no
// words.
func checkSilence(r *Request, reply *Reply) *Fault {
	switch {
	case len(reply.Calls) > 0 || strings.ContainsFunc(reply.Text, says) || textcalls.Nothing(reply.Text):
		return nil
	case reply.Cut:
		return fault(annotator.Malformed, CodeThinking,
			"the reply reached its limit of %d tokens before its first word", r.MaxTokens).
			because(annotator.ReasonReplyCut)
	case r.Rules != nil && thinksCall(reply, r.Rules): // the problem is reported to the model
		return nil
	case reply.ReasoningOnly():
		return fault(annotator.Malformed, CodeEmpty,
			"the reply is empty: all of it stands in its reasoning, where a server puts it whose reasoning parser "+
				"is not that of the model").advise(adviceParser)
	case strings.TrimSpace(reply.Text) == "":
		return fault(annotator.Malformed, CodeEmpty, "the reply is empty: it has no text and no tool call")
	}
	return fault(annotator.Malformed, CodeStuck, "the reply has no word in it, only %q",
		clip(reply.Text)).advise(adviceStuck)
}

// minEcho is the minimum length, in bytes, of a text that counts as a copy of the prompt.
const minEcho = 1000

// checkEcho detects a reply that repeats the prompt. A summary may repeat the last one word for word.
func checkEcho(r *Request, reply *Reply) *Fault {
	text := strings.TrimSpace(reply.Text)
	if len(text) < minEcho || len(reply.Calls) > 0 || r.Choice.Mode == ChoiceNone {
		return nil
	}
	written := strings.Trim(annotator.EncodeJSON(text), `"`) // as wires write it
	if !bytes.Contains(r.History, []byte(written)) && !bytes.Contains(r.History, []byte(text)) {
		return nil
	}
	return fault(annotator.Malformed, CodeEcho, "the reply is a piece of the prompt, %d bytes long", len(text))
}

// turns matches the beginnings of turns in chat templates. Some models write ChatML's mark before a call.
var turns = regexp.MustCompile(`<\|im_start\|>\s*(?:user|system|assistant|tool|developer|function|observation)\b|` +
	`<\|(?:start_header_id|start|turn)\|>|<start_of_turn>|<\|START_OF_TURN_TOKEN\|>`)

// ownTurn matches the beginning of a call of gpt-oss within its own turn, with or without a tool's name.
var ownTurn = regexp.MustCompile(`^<\|start\|>assistant(?:(?:<\|channel\|>\w+)? to=functions\.|` +
	`<\|channel\|>commentary\b)`)

// nextTurn returns the start of another speaker's turn in a text, and its mark; the end of the text if there is none.
// Some servers leave the beginning of the model's own turn in the text. Such marks in the story are escaped in prompts,
// and may be quoted.
func nextTurn(r *Request, text string) (at int, mark string) {
	for _, found := range turns.FindAllStringIndex(text, -1) {
		if strings.TrimSpace(text[:found[0]]) == "" || ownTurn.MatchString(text[found[0]:]) {
			continue
		}
		mark := text[found[0]:found[1]]
		mark = mark[:strings.LastIndex(mark, ">")+1]
		if !bytes.Contains(r.History, []byte(strings.Trim(mark, "<>"))) {
			return found[0], mark
		}
		break
	}
	return len(text), ""
}

// checkTurns detects a reply that continues with the turns of other speakers: the server does not recognise the end of
// the model's turn.
func checkTurns(r *Request, reply *Reply) *Fault {
	_, mark := nextTurn(r, reply.Text)
	if mark == "" {
		return nil
	}
	return fault(annotator.Malformed, CodeRunOn, "the reply goes on with another turn (%s)", mark).
		advise(adviceTurns)
}

func says(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || r > unicode.MaxASCII && r != utf8.RuneError &&
		unicode.IsSymbol(r)
}

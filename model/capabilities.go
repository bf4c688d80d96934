package model

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"annotator"
	"annotator/budget"
)

// Capabilities are what is known of the server behind an endpoint, from its list of models, its replies and its faults,
// and from the configuration. They are learned and never forgotten: a server does not change its API in the middle of a
// run.
type Capabilities struct {
	Reached       bool        // something has answered at the address, if only with an error
	Answered      bool        // a model has answered
	Workarounds   Workarounds // what requests do otherwise
	Learned       []string    // the same in words, in the order in which it was learned
	TextCalls     bool        // the server leaves tool calls in the text of replies
	Reasons       bool        // the model's replies have reasoning
	NoTokenizer   bool        // the server cannot count the tokens of a text
	NoCacheCounts bool        // the server does not count what its cache saves
	MixedText     bool        // the server leaves reasoning in the text of replies
	RunsOn        bool        // the server does not end replies where the model's turn ends
	OtherModels   []string    // that have answered in place of the one called; at most maxOtherModels
	Budget        budget.Budget
}

// reach takes in how a request ended.
func (c *Capabilities) reach(err error) {
	f, isFault := errors.AsType[*Fault](err)
	c.Reached = c.Reached || err == nil || isFault && (f.Status != 0 || f.NotAnAPI)
}

// SetListed takes in what a list of models says of the context of one of them, and reports whether it is in the list.
func (c *Capabilities) SetListed(models []Model, id string) bool {
	for _, m := range models {
		if m.Called(id) {
			c.Budget.Listed = m.MaxContext
			return true
		}
	}
	return false
}

// Workarounds are a set of what a wire can do otherwise for a server that refuses the usual form of a request.
type Workarounds uint32

// The workarounds. Each wire knows some of them.
const (
	SystemInUser        Workarounds = 1 << iota // the system prompt begins the first message of the user
	MergeRoles                                  // neighbouring messages of one role are sent as one
	MaxCompletionTokens                         // max_tokens is called max_completion_tokens
	NoTemperature
	NoStreamUsage
	NoSeed
	NoNamedTool  // a tool cannot be required by name: any is required
	NoToolChoice // no choice of tools is sent
	NoToolSubset // all tools are allowed where only some should be
	NoForcedCall // no tool call is required
	ForbidCalls  // the API, too, is told that no tool may be called
	NoCallIDs
	NoSignatures
	PairCalls         // of several calls in a reply, each is a message of its own, with its result behind it
	NoTextBesideCalls // the text of a reply that calls tools is left out
	StrictTools       // the server is to hold the arguments of calls to the tools' schemas
	NoStrictTools     // it refuses that
	LooseCount        // the template leaves parts of a prompt out, so fewer tokens than it must have are right
)

// Strict reports whether tools are marked so that the server holds the arguments of calls to their schemas.
func (w Workarounds) Strict() bool { return w.Has(StrictTools) && !w.Has(NoStrictTools) }

// ForTemplates are the workarounds for what chat templates refuse or leave out.
const ForTemplates = SystemInUser | MergeRoles | PairCalls | NoTextBesideCalls

// rendering are the workarounds that tell how messages are rendered, by the names under which a database keeps them.
var rendering = [...]struct {
	one  Workarounds
	name string
}{
	{SystemInUser, "system_in_user"},
	{MergeRoles, "merge_roles"},
	{PairCalls, "pair_calls"},
	{NoTextBesideCalls, "no_text_beside_calls"},
	{NoCallIDs, "no_call_ids"},
	{NoSignatures, "no_signatures"},
	{StrictTools, "strict_tools"},
	{NoStrictTools, "no_strict_tools"},
	{LooseCount, "loose_count"},
}

// Rendering names those of the workarounds that tell how messages are rendered, parted by spaces.
func (w Workarounds) Rendering() string {
	var names []string
	for _, r := range rendering {
		if w.Has(r.one) {
			names = append(names, r.name)
		}
	}
	return strings.Join(names, " ")
}

// ParseRendering is the inverse of Rendering. Names that are not known are left out.
func ParseRendering(names string) (w Workarounds) {
	for _, r := range rendering {
		if slices.Contains(strings.Fields(names), r.name) {
			w |= r.one
		}
	}
	return w
}

// Has reports whether a workaround is in the set.
func (w Workarounds) Has(one Workarounds) bool { return w&one != 0 }

// Refusal is how a server says that it needs a workaround.
type Refusal struct {
	Needs   Workarounds
	Pattern *regexp.Regexp // of the fault's parameter and message, in lower case; nil: no server says it
	Effect  string         // what is done from then on, in words

	Of      Workarounds // with which the server means them; 0: whatever is in force
	Without string      // bytes of a history with which the server means something else; empty: none
}

// StrictRefused matches how servers refuse strict tools, or the schemas of them.
var StrictRefused = regexp.MustCompile(`(?s)\bstrict\b|invalid schema for function|invalid_function_parameters|` +
	`structural_tag|grammar|additionalproperties`)

// What is done about strict tools, in words.
const (
	StrictEffect   = "the server is to hold the arguments of calls to the tools' schemas"
	NoStrictEffect = "the arguments of calls are not held to the tools' schemas"
)

// RefusalOf matches the name of a setting together with a word that says it is not wanted.
func RefusalOf(setting string) *regexp.Regexp {
	const word = `(unsupported|not support|deprecated|unknown|unrecognized|unexpected|extra inputs|extra_forbidden|` +
		`not permitted|not allowed)`
	setting = `\b` + setting + `\b`
	return regexp.MustCompile(`(?s)` + word + `.*` + setting + `|` + setting + `.*` + word)
}

// Learn takes in the first of a wire's refusals that the fault of a request matches and that was not learned before. It
// returns the effect, or "" where nothing was learned.
func (c *Capabilities) Learn(f *Fault, request *Request, refusals []Refusal) string {
	if !aboutForm(f) {
		return ""
	}
	text := strings.ToLower(cmp.Or(f.Param, "-") + " " + f.Message)
	for i := range refusals {
		r := &refusals[i]
		if r.Of != 0 && !c.Workarounds.Has(r.Of) || r.Without != "" &&
			bytes.Contains(request.History, []byte(r.Without)) {
			continue
		}
		if !c.Workarounds.Has(r.Needs) && r.Pattern != nil && r.Pattern.MatchString(text) {
			c.Workarounds |= r.Needs
			c.Learned = append(c.Learned, r.Effect)
			return r.Effect
		}
	}
	return ""
}

// Adopt takes in a workaround that no refusal asked for, and reports whether the wire knows it and it was not in force.
func (c *Capabilities) Adopt(needs Workarounds, refusals []Refusal) bool {
	refusals = append(slices.Clip(refusals), Refusal{Needs: LooseCount}) // on any wire
	at := slices.IndexFunc(refusals, func(r Refusal) bool { return r.Needs == needs })
	if at < 0 || c.Workarounds.Has(needs) {
		return false
	}
	c.Workarounds |= needs
	if effect := refusals[at].Effect; effect != "" {
		c.Learned = append(c.Learned, effect)
	}
	return true
}

// learnChoice takes in that a server ignores a tool required by name, as llama.cpp does: the reply calls none.
func (c *Client) learnChoice(r *Request, reply *Reply) {
	named := r.Choice.Mode == ChoiceRequired && len(r.Choice.Allowed) == 1 && r.Rules != nil
	if named && len(reply.Calls)+len(reply.Updates) == 0 && reply.Problem == nil && !reply.Cut {
		c.Capabilities.Adopt(NoNamedTool, c.Wire.Refusals())
	}
}

// aboutForm reports whether a fault may be about the form of a request. A template that fails is a 500 to some servers,
// and a frame of a stream to others.
func aboutForm(f *Fault) bool {
	switch f.Kind {
	case annotator.Misconfigured, annotator.Refused, annotator.Transient, annotator.Malformed:
	default:
		return false
	}
	switch f.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusOK:
		return true
	}
	return false
}

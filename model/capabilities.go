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

// Capabilities is what is known of the server behind an endpoint. It comes from the list of models, replies, faults and
// the configuration. Nothing is removed: a server does not change its API in the middle of a run.
type Capabilities struct {
	Reached       bool        // a server has answered at the URL, if only with an error
	Answered      bool        // a model has answered
	Workarounds   Workarounds // in force
	Learned       []string    // their effects, in the order in which they were learned
	TextCalls     bool        // the server leaves tool calls in the text of replies
	Reasons       bool        // the model's replies have reasoning
	NoTokenizer   bool        // the server cannot count the tokens of a text
	NoCacheCounts bool        // the server has no counters of its cache
	MixedText     bool        // the server leaves reasoning in the text of replies
	RunsOn        bool        // the server does not end replies where the model's turn ends
	OtherModels   []string    // that have answered in place of the one called; at most maxOtherModels
	Budget        budget.Budget
}

// setReached records that a server answered, from the result of a request.
func (c *Capabilities) setReached(err error) {
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

// Workarounds is a set of changes to requests for a server that refuses their usual form.
type Workarounds uint32

// The workarounds. Each wire supports some of them.
const (
	SystemInUser        Workarounds = 1 << iota // the system prompt begins the first message of the user
	MergeRoles                                  // adjacent messages of one role are sent as one
	MaxCompletionTokens                         // max_tokens is called max_completion_tokens
	NoTemperature
	NoStreamUsage
	NoSeed
	NoNamedTool  // in place of a tool required by name, any is required
	NoToolChoice // no choice of tools is sent
	NoToolSubset // all tools are allowed in place of some
	NoForcedCall // no tool call is required
	ForbidCalls  // the API's choice also forbids calls
	NoCallIDs
	NoSignatures
	PairCalls         // each of several calls is a message of its own, followed by its result
	NoTextBesideCalls // the text of a reply with calls is omitted
	StrictTools       // the server enforces the tools' schemas
	NoStrictTools     // the server refuses StrictTools
	LooseCount        // the template omits parts of a prompt, so a count below the least is valid
)

// Strict reports whether tools are marked as strict: the server enforces their schemas.
func (w Workarounds) Strict() bool { return w.Has(StrictTools) && !w.Has(NoStrictTools) }

// ForTemplates are the workarounds for what chat templates refuse or omit.
const ForTemplates = SystemInUser | MergeRoles | PairCalls | NoTextBesideCalls

// rendering lists the workarounds that affect how messages are rendered, by their names in a database.
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

// Rendering returns the names, separated by spaces, of the workarounds that affect how messages are rendered.
func (w Workarounds) Rendering() string {
	var names []string
	for _, r := range rendering {
		if w.Has(r.one) {
			names = append(names, r.name)
		}
	}
	return strings.Join(names, " ")
}

// ParseRendering is the inverse of Rendering. Unknown names are ignored.
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

// Refusal is an error message of servers that need a workaround.
type Refusal struct {
	Needs   Workarounds
	Pattern *regexp.Regexp // matches the fault's parameter and message in lower case; nil: never
	Effect  string         // description of the workaround

	Of      Workarounds // in force when the pattern has this meaning; 0: any
	Without string      // if the history has it, the pattern has another meaning; empty: none
}

// StrictRefused matches refusals of strict tools or of their schemas.
var StrictRefused = regexp.MustCompile(`(?s)\bstrict\b|invalid schema for function|invalid_function_parameters|` +
	`structural_tag|grammar|additionalproperties`)

// The effects of the workarounds for strict tools.
const (
	StrictEffect   = "the server is to hold the arguments of calls to the tools' schemas"
	NoStrictEffect = "the arguments of calls are not held to the tools' schemas"
)

// RefusalOf matches the name of a setting together with a word of refusal.
func RefusalOf(setting string) *regexp.Regexp {
	const word = `(unsupported|not support|deprecated|unknown|unrecognized|unexpected|extra inputs|extra_forbidden|` +
		`not permitted|not allowed)`
	setting = `\b` + setting + `\b`
	return regexp.MustCompile(`(?s)` + word + `.*` + setting + `|` + setting + `.*` + word)
}

// Learn records the first of a wire's refusals that matches the fault of a request and was not learned before. It
// returns the effect, or "" if nothing was learned.
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

// Adopt records a workaround without a refusal. It reports whether the wire supports it and it was not in force.
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

// learnChoice records that a server ignores a tool required by name, as llama.cpp does: the reply has no calls.
func (c *Client) learnChoice(r *Request, reply *Reply) {
	named := r.Choice.Mode == ChoiceRequired && len(r.Choice.Allowed) == 1 && r.Rules != nil
	if named && len(reply.Calls)+len(reply.Updates) == 0 && reply.Problem == nil && !reply.Cut {
		c.Capabilities.Adopt(NoNamedTool, c.Wire.Refusals())
	}
}

// aboutForm reports whether a fault may be about the form of a request. If a template fails, some servers answer 500,
// and others send a frame of a stream.
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

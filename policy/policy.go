// Package policy decides which tools a model may call, by the mode of the request and the intent that the model has
// declared.
//
// The matrix of modes, intents and tools is a file, policy.yaml, which a configuration can replace. Decide is total and
// fails closed: it denies an unknown mode, intent or tool, and a call for which the check itself fails. A model
// declares an intent by calling SelectIntent before any other tool. The intent is in force until the turn ends or
// another one is declared. Turn computes it from the rows of the turn.
package policy

import (
	"fmt"
	"slices"
	"strings"
)

// SelectIntent is the name of the tool by which a model declares its intent.
const SelectIntent = "select_active_intent"

// Level is how strictly a run applies the policy.
type Level string

// The levels.
const (
	Off     Level = "off"     // no intents; only the rules that hold at every level
	Observe Level = "observe" // all calls run; denials are recorded only
	Enforce Level = "enforce" // calls that the policy does not permit are denied
)

// Levels returns the levels, from the least to the most strict.
func Levels() []Level { return []Level{Off, Observe, Enforce} }

// Mode is the kind of request that a model answers.
type Mode string

// The modes.
const (
	Annotate  Mode = "annotate"  // read a scene
	Curate    Mode = "curate"    // judge an entry
	Summon    Mode = "summon"    // answer its own question, at a snapshot
	Summarise Mode = "summarise" // summarise the window
	Ask       Mode = "ask"       // answer the question of a person, at a snapshot
)

// Modes returns the modes.
func Modes() []Mode { return []Mode{Annotate, Curate, Summon, Summarise, Ask} }

// Intent is a purpose that a model may declare for its next calls.
type Intent struct {
	Name    string
	Meaning string // the description in the model's prompt
}

// Policy is a matrix of modes, intents and tools. It is immutable.
type Policy struct {
	hash    string // SHA-256 of the file; empty for the default policy
	intents []Intent
	modes   map[Mode]map[string][]string // tools, by intent
}

// Hash returns the SHA-256 of the policy's file as 64 hexadecimal digits. It is empty for the default policy and for
// nil.
func (p *Policy) Hash() string {
	if p == nil {
		return ""
	}
	return p.hash
}

// The codes of a denial.
const (
	UnknownMode    = "UNKNOWN_MODE"
	UnknownIntent  = "UNKNOWN_INTENT"  // the mode does not have the intent
	UnknownTool    = "UNKNOWN_TOOL"    // no intent of the mode permits the tool
	IntentRequired = "INTENT_REQUIRED" // no intent is declared
	NotPermitted   = "NOT_PERMITTED"   // the declared intent does not permit the tool
	CheckFailed    = "POLICY_FAILED"   // the check itself failed
)

// Decision is the result of a check of a call.
type Decision struct {
	Mode   Mode
	Intent string // in force at the call; empty if none
	Tool   string
	Code   string // of the denial; empty if the call is permitted
	Reason string // of the denial, for the model
}

// Permitted reports whether the call may run.
func (d *Decision) Permitted() bool { return d.Code == "" }

// Decide decides whether a model may call a tool. The intent is the one in force, empty if there is none.
func (p *Policy) Decide(mode Mode, intent, tool string) (d Decision) {
	d = Decision{Mode: mode, Intent: intent, Tool: tool}
	defer func() {
		if cause := recover(); cause != nil {
			d.Code = CheckFailed
			d.Reason = fmt.Sprintf("whether %.100q may be called could not be checked, so it may not: %v", tool, cause)
		}
	}()
	d.Code, d.Reason = p.denial(mode, intent, tool)
	return d
}

// denial returns the code and the reason of a denial; an empty code if the call is permitted. The model reads the
// reason.
func (p *Policy) denial(mode Mode, intent, tool string) (code, reason string) {
	intents, known := p.modes[mode]
	permitting := p.intentsPermitting(mode, tool)
	needed := strings.Join(permitting, " or ")
	permitted, declared := intents[intent]
	switch {
	case !known:
		return UnknownMode, fmt.Sprintf("there is no mode %.100q, so no tool may be called", mode)
	case len(intents) == 0:
		return NotPermitted, fmt.Sprintf("no tool may be called here (%s); answer in text", mode)
	case tool == SelectIntent:
		return "", ""
	case len(permitting) == 0:
		return UnknownTool, fmt.Sprintf("no intent permits %.100q", tool)
	case intent == "":
		return IntentRequired, fmt.Sprintf(
			"nothing was done: declare with %s what you are about to do, then call %s again (it needs %s)",
			SelectIntent, tool, needed)
	case !declared:
		return UnknownIntent, fmt.Sprintf(
			"nothing was done: there is no intent %.100q; declare another with %s (%s needs %s)",
			intent, SelectIntent, tool, needed)
	case !slices.Contains(permitted, tool):
		return NotPermitted, fmt.Sprintf("nothing was done: the intent %s does not permit %s; "+
			"if you mean it, declare %s with %s and call it again", intent, tool, needed, SelectIntent)
	}
	return "", ""
}

// intentsPermitting returns the intents of a mode that permit a tool, in order.
func (p *Policy) intentsPermitting(mode Mode, tool string) []string {
	var names []string
	for _, intent := range p.intents {
		if slices.Contains(p.modes[mode][intent.Name], tool) {
			names = append(names, intent.Name)
		}
	}
	return names
}

// Permits reports whether some intent of a mode permits a tool.
func (p *Policy) Permits(mode Mode, tool string) bool {
	return len(p.intentsPermitting(mode, tool)) > 0
}

// RequiredIntent returns the first intent of a mode that permits a tool; empty if there is none or the policy is nil.
func (p *Policy) RequiredIntent(mode Mode, tool string) string {
	if p == nil {
		return ""
	}
	if permitting := p.intentsPermitting(mode, tool); len(permitting) > 0 {
		return permitting[0]
	}
	return ""
}

// Intents returns the intents of a mode, in order.
func (p *Policy) Intents(mode Mode) []Intent {
	var all []Intent
	for _, intent := range p.intents {
		if _, has := p.modes[mode][intent.Name]; has {
			all = append(all, intent)
		}
	}
	return all
}

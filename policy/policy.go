// Package policy says which tools a model may call: by the mode that it works in, and by the intent that it has
// declared.
//
// The matrix is a file, policy.yaml, which a configuration can replace. Decide is total and fails closed: an unknown
// mode, intent or tool is denied, and so is a call for which the check itself breaks. A model declares its intent by
// calling Select before any other tool. The intent holds for the turn; what the rows of a turn say of it, Turn adds
// up.
package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Select is the name of the tool by which a model declares its intent.
const SelectIntent = "select_active_intent"

// Level is how far a run goes by the policy.
type Level string

// The levels.
const (
	Off     Level = "off"     // no intents; only what holds whatever the level
	Observe Level = "observe" // calls run, and what would have been denied is on record
	Enforce Level = "enforce" // what the policy does not permit is denied
)

// Levels returns the levels, from the least to the most.
func Levels() []Level { return []Level{Off, Observe, Enforce} }

// Mode is what a model is asked to do.
type Mode string

// The modes.
const (
	Annotate  Mode = "annotate"  // read a scene
	Curate    Mode = "curate"    // judge an entry
	Summon    Mode = "summon"    // answer itself, as it was at a snapshot
	Summarise Mode = "summarise" // sum up the window
	Ask       Mode = "ask"       // answer a person, as it was at a snapshot
)

// Modes returns the modes.
func Modes() []Mode { return []Mode{Annotate, Curate, Summon, Summarise, Ask} }

// Intent is what a model may say that it is about to do.
type Intent struct {
	Name    string
	Meaning string // what the model is told of it
}

// Policy is a matrix of modes, intents and tools. It does not change.
type Policy struct {
	intents []Intent
	modes   map[Mode]map[string][]string // tools, by intent
}

// The codes of a denial.
const (
	UnknownMode    = "UNKNOWN_MODE"
	UnknownIntent  = "UNKNOWN_INTENT"  // of an intent that the mode does not have
	UnknownTool    = "UNKNOWN_TOOL"    // no intent of the mode permits it
	IntentRequired = "INTENT_REQUIRED" // none is declared yet
	NotPermitted   = "NOT_PERMITTED"   // the declared intent does not permit the tool
	CheckFailed    = "POLICY_FAILED"   // the check itself broke
)

// Decision is what a policy says of a call.
type Decision struct {
	Mode   Mode
	Intent string // that was in force; empty where none was
	Tool   string
	Code   string // of a denial; empty where the call is permitted
	Reason string // why it is denied, for the model
}

// Permitted reports whether the call may run.
func (d *Decision) Permitted() bool { return d.Code == "" }

// Decide says whether a model may call a tool. The intent is the one in force, empty where none is.
func (p *Policy) Decide(mode Mode, intent, tool string) (d Decision) {
	d = Decision{Mode: mode, Intent: intent, Tool: tool}
	defer func() {
		if cause := recover(); cause != nil {
			d.Code, d.Reason = CheckFailed, fmt.Sprintf("whether %.100q may be called could not be checked, so it may not: %v", tool, cause)
		}
	}()
	d.Code, d.Reason = p.denial(mode, intent, tool)
	return d
}

// deny returns the code and the reason of a denial; no code where the call is permitted.
func (p *Policy) denial(mode Mode, intent, tool string) (code, reason string) {
	intents, known := p.modes[mode]
	permitting := p.intentsPermitting(mode, tool)
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
		return IntentRequired, fmt.Sprintf("nothing was done: declare with %s what you are about to do, then call %s again (it needs %s)",
			SelectIntent, tool, strings.Join(permitting, " or "))
	case !declared:
		return UnknownIntent, fmt.Sprintf("nothing was done: there is no intent %.100q; declare another with %s (%s needs %s)",
			intent, SelectIntent, tool, strings.Join(permitting, " or "))
	case !slices.Contains(permitted, tool):
		return NotPermitted, fmt.Sprintf("nothing was done: the intent %s does not permit %s; if you mean it, declare %s with %s and call it again",
			intent, tool, strings.Join(permitting, " or "), SelectIntent)
	}
	return "", ""
}

// permitting returns the intents of a mode that permit a tool, in order.
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

// Needs returns the first intent of a mode that permits a tool; empty where none does.
func (p *Policy) RequiredIntent(mode Mode, tool string) string {
	if p == nil {
		return ""
	}
	if permitting := p.intentsPermitting(mode, tool); len(permitting) > 0 {
		return permitting[0]
	}
	return ""
}

// Intents returns the intents that a mode has, in order.
func (p *Policy) Intents(mode Mode) []Intent {
	var all []Intent
	for _, intent := range p.intents {
		if _, has := p.modes[mode][intent.Name]; has {
			all = append(all, intent)
		}
	}
	return all
}

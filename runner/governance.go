package runner

import (
	"fmt"

	"annotator/codex"
	"annotator/context/prompt"
	"annotator/policy"
	"annotator/storage"
	"annotator/tools"
)

// intents returns the prompt's text about intents; nil if none are declared.
func (c *Config) intents() *prompt.Intents {
	if c.Governance == policy.Off {
		return nil
	}
	p := c.Policy
	return &prompt.Intents{
		New:    p.RequiredIntent(policy.Annotate, tools.CreateName),
		Update: p.RequiredIntent(policy.Annotate, tools.UpdateName),
	}
}

// decide returns whether the policy permits a call of a tool now. It does not depend on the arguments.
func (r *toolRunner) decide(tool string) *storage.ToolDecision {
	if r.config.Governance == policy.Off {
		return &storage.ToolDecision{}
	}
	d := r.config.Policy.Decide(policy.Annotate, r.scene.Intent.Intent, tool)
	decision := &storage.ToolDecision{
		Mode: string(d.Mode), Intent: d.Intent, Verdict: storage.Allow, Rule: d.Code,
		Reason: d.Reason,
	}
	switch {
	case d.Permitted():
	case r.config.Governance == policy.Observe:
		decision.Verdict = storage.WouldDeny
	default: // an unknown level denies, too
		decision.Verdict = storage.Deny
	}
	return decision
}

// recordDenial records that a call was refused by a rule that holds under any policy.
func (r *toolRunner) recordDenial(d *storage.ToolDecision, code string) {
	var reason string
	switch code {
	case tools.NotMentioned:
		reason = "the scene does not name the entry"
	case tools.EditCap:
		reason = fmt.Sprintf("the scene has taken something away %d times", r.config.EditCap)
	case codex.Locked:
		reason = "a person has locked the entry"
	default:
		return
	}
	*d = storage.ToolDecision{
		Mode: string(policy.Annotate), Intent: r.scene.Intent.Intent, Verdict: storage.Deny,
		Rule: code, Reason: reason,
	}
}

package runner

import (
	"context"
	"fmt"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/context/prompt"
	"annotator/policy"
	"annotator/storage"
	"annotator/tools"
)

// intents returns what the prompt says of intents; nil if none are declared.
func (r *Runner) intents() *prompt.Intents {
	if r.config.Governance == policy.Off {
		return nil
	}
	p := r.config.Policy
	return &prompt.Intents{New: p.RequiredIntent(policy.Annotate, tools.CreateName), Update: p.RequiredIntent(policy.Annotate, tools.UpdateName)}
}

// decide returns whether the policy permits a call of a tool now. It does not depend on the arguments.
func (r *Runner) decide(tool string) *storage.ToolDecision {
	if r.config.Governance == policy.Off {
		return &storage.ToolDecision{}
	}
	d := r.config.Policy.Decide(policy.Annotate, r.scene.intent.Intent, tool)
	decision := &storage.ToolDecision{Mode: string(d.Mode), Intent: d.Intent, Verdict: storage.Allow, Rule: d.Code, Reason: d.Reason}
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
func (r *Runner) recordDenial(d *storage.ToolDecision, code string) {
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
	*d = storage.ToolDecision{Mode: string(policy.Annotate), Intent: r.scene.intent.Intent, Verdict: storage.Deny, Rule: code, Reason: reason}
}

// editCheck returns a check that refuses destructive edits of entries that the scene does not name, and those beyond the cap, under
// any policy. It bounds what a story can do that orders the model to destroy the codex.
func (r *Runner) editCheck(g *storage.Glossary) func(context.Context, *annotator.Entry, []annotator.Revision) error {
	return func(ctx context.Context, e *annotator.Entry, revisions []annotator.Revision) error {
		if !codex.Destructive(revisions) {
			return nil
		}
		if !r.mayRemoveFrom(e) {
			return &tools.Failure{Code: tools.NotMentioned, Message: fmt.Sprintf("scene %d does not name entry %d, %q: it may add to it, "+
				"and take nothing away from it", r.scene.row.N, e.ID, e.Name())}
		}
		n, err := r.countDestructive(ctx, g)
		if err == nil && n >= r.config.EditCap {
			err = &tools.Failure{Code: tools.EditCap, Message: fmt.Sprintf("this scene has taken something away from the glossary %d times, "+
				"which is as often as a scene may; add to entries, or leave them as they are", n)}
		}
		return err
	}
}

// mayRemoveFrom reports whether the scene at hand names an entry, in any case, by a name that the entry had before the scene, or
// whether the entry was made and changed by this scene alone.
func (r *Runner) mayRemoveFrom(e *annotator.Entry) bool {
	n := r.scene.row.N
	if e.First.Scene() == n && e.Last.Scene() == n {
		return true
	}
	var names []string
	for _, alias := range e.Aliases {
		if alias.From.Scene() < n {
			names = append(names, strings.ToLower(alias.Name)) // a lower-case name is found in any case
		}
	}
	index := mention.New()
	index.SetNames(e.ID, names)
	return len(index.Find(r.scene.story())) > 0
}

// countDestructive counts the destructive edits that the scene at hand has made, also before it was refused and read again.
func (r *Runner) countDestructive(ctx context.Context, g *storage.Glossary) (int, error) {
	revisions, err := g.OfScene(ctx, r.scene.row.N, r.scene.turn)
	edits := map[int64][]annotator.Revision{}
	for _, revision := range revisions {
		edits[revision.Trace] = append(edits[revision.Trace], revision)
	}
	n := 0
	for _, edit := range edits {
		if codex.Destructive(edit) {
			n++
		}
	}
	return n, err
}

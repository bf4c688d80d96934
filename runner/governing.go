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

// intents are what the prompt says of the policy; nil where the model is not told of it.
func (r *Runner) intents() *prompt.Intents {
	if r.Config.Governance == policy.Off {
		return nil
	}
	p := r.Config.Policy
	return &prompt.Intents{New: p.RequiredIntent(policy.Annotate, tools.CreateName), Update: p.RequiredIntent(policy.Annotate, tools.UpdateName)}
}

// decide has the policy say whether a tool may be called now. It comes before arguments are read and anything is done.
func (r *Runner) decide(tool string) *storage.ToolDecision {
	if r.Config.Governance == policy.Off {
		return &storage.ToolDecision{}
	}
	d := r.Config.Policy.Decide(policy.Annotate, r.day.governed.Intent, tool)
	decision := &storage.ToolDecision{Mode: string(d.Mode), Intent: d.Intent, Verdict: storage.Allow, Rule: d.Code, Reason: d.Reason}
	switch {
	case d.Permitted():
	case r.Config.Governance == policy.Observe:
		decision.Verdict = storage.WouldDeny
	default: // whatever the level is called, what is not permitted is denied
		decision.Verdict = storage.Deny
	}
	return decision
}

// denied returns the answer to a call that the policy denies. A tool that there is not has a better answer: the names of those
// that there are.
func (r *Runner) denied(call *annotator.ToolCall, d *storage.ToolDecision) (tools.Result, bool) {
	if _, exists := r.Tools.Tool(call.Name); !exists || d.Verdict != storage.Deny {
		return tools.Result{}, false
	}
	return tools.ErrorResult(d.Rule, d.Reason), true
}

// settle puts on record that a call was refused by a rule that holds whatever the policy says.
func (r *Runner) settle(d *storage.ToolDecision, code string) {
	var reason string
	switch code {
	case tools.NotMentioned:
		reason = "the scene does not name the entry"
	case tools.EditCap:
		reason = fmt.Sprintf("the scene has taken something away %d times", r.Config.EditCap)
	case codex.Locked:
		reason = "a person has locked the entry"
	default:
		return
	}
	*d = storage.ToolDecision{Mode: string(policy.Annotate), Intent: r.day.governed.Intent, Verdict: storage.Deny, Rule: code, Reason: reason}
}

// guard refuses edits that no scene may make, whatever the policy says: to take something away from an entry that the scene does
// not name, and to take away more often than the cap allows. A text that orders a model to destroy the codex gets no further.
func (r *Runner) guard(g *storage.Glossary) func(context.Context, *annotator.Entry, []annotator.Revision) error {
	return func(ctx context.Context, e *annotator.Entry, revisions []annotator.Revision) error {
		if !codex.Destructive(revisions) {
			return nil
		}
		if !r.mayUndo(e) {
			return &tools.Failure{Code: tools.NotMentioned, Message: fmt.Sprintf("scene %d does not name entry %d, %q: it may add to it, "+
				"and take nothing away from it", r.day.row.N, e.ID, e.Name())}
		}
		taken, err := r.taken(ctx, g)
		if err == nil && taken >= r.Config.EditCap {
			err = &tools.Failure{Code: tools.EditCap, Message: fmt.Sprintf("this scene has taken something away from the glossary %d times, "+
				"which is as often as a scene may; add to entries, or leave them as they are", taken)}
		}
		return err
	}
}

// mayUndo reports whether the scene at hand names an entry, in any case and by a name that the entry had before this scene, or has
// made it itself and nothing has been added to it since.
func (r *Runner) mayUndo(e *annotator.Entry) bool {
	n := r.day.row.N
	if e.First.Scene() == n && e.Last.Scene() == n {
		return true
	}
	var names []string
	for _, alias := range e.Aliases {
		if alias.From.Scene() < n {
			names = append(names, strings.ToLower(alias.Name)) // which is found in any case
		}
	}
	index := mention.New()
	index.SetNames(e.ID, names)
	return len(index.Find(r.day.story())) > 0
}

// taken counts the edits that the scene at hand has made and that took something away. What it did before it was refused counts: to
// have it read again is no leave to take away more.
func (r *Runner) taken(ctx context.Context, g *storage.Glossary) (int, error) {
	revisions, err := g.OfScene(ctx, r.day.row.N, r.day.turn)
	edits := map[int64][]annotator.Revision{}
	for _, revision := range revisions {
		edits[revision.Trace] = append(edits[revision.Trace], revision)
	}
	taken := 0
	for _, edit := range edits {
		if codex.Destructive(edit) {
			taken++
		}
	}
	return taken, err
}

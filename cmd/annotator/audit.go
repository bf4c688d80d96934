package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/policy"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
)

func newAudit(a *app) *cobra.Command {
	var filter storage.AuditFilter
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List every tool call with its intent, the decision and the changes",
		Long: longHelp(`
List every tool call of the run in order: the intent that the model had declared, the decision about the call and its
reason, the error of the call, and the revisions that it made. Calls outside governance have no decision. With --denied,
list only calls that were denied, or would have been denied if the policy were enforced.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator audit --scene 12
  annotator audit --denied
  annotator audit --intent RETIRE
  annotator audit --tool glossary_delete --json | jq '.effect[]'`,
	}
	flags := cmd.Flags()
	flags.IntVar(&filter.Scene, "scene", 0, "only calls of the scene with this `NUMBER`")
	flags.StringVar(&filter.Tool, "tool", "", "only calls of the tool with this `NAME`")
	flags.StringVar(&filter.Intent, "intent", "", "only calls under the declared intent with this `NAME`; - for none")
	flags.BoolVar(&filter.Denied, "denied", false, "only calls that were denied, or would have been")
	flags.BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	return onDatabase(cmd, func(ctx context.Context, db *storage.DB, _ []string) error {
		if err := require(ctx, filter.Scene, db.Scenes.Get); err != nil {
			return err
		}
		found, at, scenes := false, view.NewPositions(ctx, db), &sceneLabels{db: db}
		err := a.printRecords("-", !asJSON, records(db.Journal.Audit(ctx, filter), func(c *storage.Audited) record {
			found = true
			return auditRecord(c, scenes.label(ctx, c.Scene), at.At)
		}))
		err = cmp.Or(err, at.Err, scenes.err)
		if err != nil || found {
			return err
		}
		if err = cmp.Or(requireTool(filter.Tool), requireIntent(filter.Intent)); err == nil && !asJSON {
			fmt.Fprintln(a.out, "no call was found")
		}
		return err
	})
}

// auditedCall is a tool call as audit prints it.
type auditedCall struct {
	ID        int64                     `json:"id"` // of the call's row in the journal
	CallID    string                    `json:"tool_call_id"`
	Scene     int                       `json:"scene"`
	Turn      int64                     `json:"turn_id"`
	Tool      string                    `json:"tool_name"`
	Arguments json.RawMessage           `json:"arguments"` // a string if the model wrote no JSON
	Decision  *storage.ToolDecision     `json:"decision"`  // null for a call outside governance
	Status    storage.InteractionStatus `json:"status"`
	Error     string                    `json:"error"`
	Effect    []effect                  `json:"effect"`
}

// effect is a revision that a call made.
type effect struct {
	Revision int64           `json:"revision"`
	Entry    int64           `json:"entry"`
	Field    annotator.Field `json:"field"`
	Old      string          `json:"old"` // empty if there was no value
	New      string          `json:"new"` // empty if no value is left
}

func auditRecord(c *storage.Audited, place string, at func(annotator.Place) annotator.Position) record {
	call := auditedCall{
		c.Trace, c.CallID, c.Scene, c.Turn, c.Tool, rawJSON(c.Arguments), c.Decision, c.Status,
		c.Error,
		[]effect{},
	}
	for i := range c.Revisions {
		r := &c.Revisions[i]
		call.Effect = append(call.Effect, effect{
			r.ID, r.Entry, r.Field, codex.ValueText(r.Field, r.Old, at),
			codex.ValueText(r.Field, r.New, at),
		})
	}
	intent, decision := "-", "-"
	if d := c.Decision; d != nil {
		intent, decision = cmp.Or(d.Intent, "-"), strings.TrimSpace(string(d.Verdict)+" "+d.Rule)
	}
	return record{call, []string{
		place, fmt.Sprintf("turn %d", c.Turn), oneLine(c.Tool), oneLine(intent), decision,
		call.outcome(),
	}}
}

// outcome summarises the result of a call.
func (c *auditedCall) outcome() string {
	switch {
	case c.Error != "":
		return "error " + c.Error
	case c.Status == storage.Pending:
		return "no result yet"
	case c.Tool == policy.SelectIntent:
		var declared struct{ Intent, Justification string }
		_ = json.Unmarshal(c.Arguments, &declared) // the tool has parsed them before
		return shorten(declared.Intent+": "+declared.Justification, 90)
	case len(c.Effect) == 0:
		return "-"
	}
	first, last := c.Effect[0], c.Effect[len(c.Effect)-1]
	changes := make([]string, len(c.Effect))
	for i, e := range c.Effect {
		changes[i] = string(e.Field) + " " + oldToNew(e.Old, e.New)
	}
	return fmt.Sprintf("#%d r%d-%d: %s", first.Entry, first.Revision, last.Revision,
		shorten(strings.Join(changes, ", "), 120))
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"annotator"
	"annotator/policy"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// auditOptions are what `annotator audit` is told.
type auditOptions struct {
	*app
	db     string
	filter storage.AuditFilter
	json   bool
}

func newAudit(a *app) *cobra.Command {
	o := &auditOptions{app: a}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List every tool call with its intent, what was decided of it, and what it changed",
		Long: described(`
List every tool call of the run, the first one first: the intent that the model had declared, what was decided of the call and
why, the error that it got, and the revisions that it made. Calls that nothing governed have no decision. With --denied, only
those that were denied, or would have been where the policy is only observed.`, exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator audit --scene 12
  annotator audit --denied
  annotator audit --tool glossary_delete --json | jq '.effect[]'`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return untilSignal(cmd.Context(), func(ctx context.Context) error {
				return withDatabase(ctx, o.db, func(db *storage.DB) error { return o.run(ctx, db) })
			})
		},
	}
	flags := cmd.Flags()
	databaseFlag(flags, &o.db)
	flags.IntVar(&o.filter.Scene, "scene", 0, "only calls of the scene of this `NUMBER`")
	flags.StringVar(&o.filter.Tool, "tool", "", "only calls of the tool of this `NAME`")
	flags.BoolVar(&o.filter.Denied, "denied", false, "only calls that were denied, or would have been")
	flags.BoolVar(&o.json, "json", false, "print JSON, an object a line")
	return cmd
}

func (o *auditOptions) run(ctx context.Context, db *storage.DB) error {
	if err := knownScene(ctx, db, o.filter.Scene); err != nil {
		return err
	}
	view := memoryOptions{app: o.app, out: "-", list: !o.json}
	found := false
	err := view.run(items(db.Journal.Audit(ctx, o.filter), func(c *storage.Audited) memoryItem {
		found = true
		return auditItem(c)
	}))
	if err != nil || found {
		return err
	}
	if err := knownTool(o.filter.Tool); err != nil || o.json {
		return err
	}
	_, err = fmt.Fprintln(o.out, "no call was found")
	return err
}

// auditedCall is a tool call as the audit prints it.
type auditedCall struct {
	ID        int64                     `json:"id"` // of the call's row in the journal
	CallID    string                    `json:"tool_call_id"`
	Scene     int                       `json:"scene"`
	Turn      int64                     `json:"turn_id"`
	Tool      string                    `json:"tool_name"`
	Arguments json.RawMessage           `json:"arguments"` // a string where the model wrote no JSON
	Decision  *storage.ToolDecision     `json:"decision"`  // null where nothing governed the call
	Status    storage.InteractionStatus `json:"status"`
	Error     string                    `json:"error"`
	Effect    []effect                  `json:"effect"`
}

// effect is a revision that a call made.
type effect struct {
	Revision int64           `json:"revision"`
	Entry    int64           `json:"entry"`
	Field    annotator.Field `json:"field"`
	Old      string          `json:"old"` // empty where there was nothing
	New      string          `json:"new"` // empty where nothing is left
}

func auditItem(c *storage.Audited) memoryItem {
	printed := auditedCall{c.Trace, c.CallID, c.Scene, c.Turn, c.Tool, asJSON(c.Arguments), c.Decision, c.Status, c.Error, []effect{}}
	for i := range c.Revisions {
		r := &c.Revisions[i]
		printed.Effect = append(printed.Effect, effect{r.ID, r.Entry, r.Field, worded(r.Field, r.Old), worded(r.Field, r.New)})
	}
	intent, verdict := "-", "-"
	if d := c.Decision; d != nil {
		intent, verdict = cmp.Or(d.Intent, "-"), strings.TrimSpace(string(d.Verdict)+" "+d.Rule)
	}
	return memoryItem{printed, []string{
		fmt.Sprintf("scene %d", c.Scene), fmt.Sprintf("turn %d", c.Turn), oneLine(c.Tool), oneLine(intent), verdict, printed.outcome(),
	}}
}

// outcome tells in a few words what came of a call.
func (c *auditedCall) outcome() string {
	switch {
	case c.Error != "":
		return "error " + c.Error
	case c.Status == storage.Pending:
		return "no result yet"
	case c.Tool == policy.SelectIntent:
		var declared struct{ Intent, Justification string }
		_ = json.Unmarshal(c.Arguments, &declared) // it was read when it ran
		return shortened(declared.Intent+": "+declared.Justification, 90)
	case len(c.Effect) == 0:
		return "-"
	}
	first, last := c.Effect[0], c.Effect[len(c.Effect)-1]
	changes := make([]string, len(c.Effect))
	for i, e := range c.Effect {
		changes[i] = string(e.Field) + " " + fromTo(e.Old, e.New)
	}
	return fmt.Sprintf("#%d r%d-%d: %s", first.Entry, first.Revision, last.Revision, shortened(strings.Join(changes, ", "), 120))
}

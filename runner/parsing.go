package runner

import (
	"context"
	"slices"
	"strings"

	"annotator"
	"annotator/context/tokens"
	"annotator/policy"
	"annotator/tools"
)

// parsing is PARSING: a text reply may have codex updates. They run through the same tools as calls do, each with its
// row in one transaction. What failed is sent back to the model once.
func (r *Runner) parsing(ctx context.Context) (annotator.Event, error) {
	d := r.day
	content, err := r.content(ctx)
	if err != nil {
		return "", err
	}
	switch p := content.problem; {
	case p == nil:
	case p.Origin == annotator.OriginText:
		return r.reask(ctx, "", unreadableCall(p.Text))
	default:
		return r.reask(ctx, "", "Your codex_updates could not be read: "+p.Text+". Send the whole block again, corrected.")
	}
	for _, update := range content.updates[min(d.updates, len(content.updates)):] {
		if err := r.runUpdate(ctx, update.Arguments); err != nil {
			return "", err
		}
	}
	if len(d.failed) > 0 && d.reasks == 0 || d.undeclared() {
		return r.reask(ctx, "", "Some of your codex_updates were not made:\n"+strings.Join(d.failures(), "\n")+
			"\nSend a block with only these, corrected, or an empty one.")
	}
	return annotator.EventParsed, nil
}

// runUpdate runs an element of a block as a tool call.
func (r *Runner) runUpdate(ctx context.Context, element string) error {
	d := r.day
	update, err := tools.ParseUpdate(element)
	if err != nil {
		return err
	}
	call, err := update.Call(ctx, r.Store.Glossary)
	if err != nil {
		return err
	}
	row := d.next(annotator.TraceUpdate)
	row.CallID, row.Tool, row.Arguments = annotator.CallID(d.turn, row.Seq), call.Name, call.Arguments
	return r.runTool(ctx, row, call, "")
}

// failures are the answers to the updates of the newest block that failed.
func (d *day) failures() []string {
	var answers []string
	for _, row := range d.failed {
		answers = append(answers, row.Content)
	}
	return answers
}

// undeclared reports whether updates of the newest block were denied for lack of an intent. The scene of a model that
// does not correct this is refused: otherwise it would read the whole story and write nothing.
func (d *day) undeclared() bool {
	return slices.ContainsFunc(d.failed, func(row *annotator.Trace) bool { return row.Error == policy.IntentRequired })
}

// declareAgain is added to a correction: the correction is a new request, for which nothing is declared.
const declareAgain = "Nothing is declared any more: before you change anything, declare your intent again, with " + policy.SelectIntent +
	" or in the block."

// reask sends a correction to the model, as a note, with a code if it has one. After a second one in a row the scene is
// refused with what the model wrote: another correction costs a request, stays in the window, and hardly ever helps.
// Valid calls show that the first has helped, and reset the count. A scene has a limit of rounds of these, so in all it
// has at most twice as many requests.
func (r *Runner) reask(ctx context.Context, code, correction string) (annotator.Event, error) {
	d := r.day
	if d.reasks > 0 {
		return r.refuse("the model was corrected and did no better: " + correction)
	}
	if r.Config.Governance != policy.Off {
		correction += " " + declareAgain
	}
	row := d.next(annotator.TraceNote)
	row.Content, row.Error = correction, code
	row.Tokens = tokens.EstimateMessage(correction)
	if err := r.Store.Journal.Append(ctx, row); err != nil {
		return "", err
	}
	return annotator.EventReask, r.add(row)
}

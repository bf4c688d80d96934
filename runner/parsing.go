package runner

import (
	"context"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/context/tokens"
	"annotator/model/textcalls"
	"annotator/policy"
	"annotator/tools"
)

// parsing is PARSING: a text reply may carry codex updates. They run through the same tools as calls do, each with its
// row in one transaction. What could not be done is put to the model once.
func (r *Runner) parsing(ctx context.Context) (annotator.Event, error) {
	d := r.day
	text := d.reply.Content
	_, _, wrong, err := r.spoken(ctx, text)
	if err != nil {
		return "", err
	}
	if wrong != "" {
		return r.reask(ctx, "", misspoken(wrong))
	}
	updates, wrong, err := r.updates(ctx, text)
	if err != nil {
		return "", err
	}
	if wrong != "" {
		return r.reask(ctx, "", "Your codex_updates could not be read: "+wrong+". Send the whole block again, corrected.")
	}
	for _, update := range updates[min(d.updates, len(updates)):] {
		if err := r.runUpdate(ctx, &update); err != nil {
			return "", err
		}
	}
	if len(d.failed) > 0 && d.reasks == 0 || d.undeclared() {
		return r.reask(ctx, "", "Some of your codex_updates were not made:\n"+strings.Join(d.failures(), "\n")+
			"\nSend a block with only these, corrected, or an empty one.")
	}
	return annotator.EventParsed, nil
}

// updates reads the block of codex updates in a text, and tells what is wrong with it. A block that the model was shown is not
// taken for its own: a story may quote one.
func (r *Runner) updates(ctx context.Context, text string) (updates []tools.Update, wrong string, err error) {
	updates, _, unreadable := tools.Updates(text, func(array string) bool {
		if err != nil || !codex.HasWord(array) { // to say that nothing has changed is no quotation
			return false
		}
		var shown []string
		shown, err = r.window.Texts(ctx)
		return textcalls.Quoted(array, shown...)
	})
	if unreadable != nil {
		wrong = unreadable.Error()
	}
	return updates, wrong, err
}

// runUpdate runs an item of a block as the call that it amounts to.
func (r *Runner) runUpdate(ctx context.Context, update *tools.Update) error {
	d := r.day
	call, err := update.Call(ctx, r.Store.Glossary)
	if err != nil {
		return err
	}
	row := d.next(annotator.TraceUpdate)
	row.CallID, row.Tool, row.Arguments = annotator.CallID(d.turn, row.Seq), call.Name, call.Arguments
	return r.runTool(ctx, row, call, "")
}

// failures are what the items of the newest block were answered that failed.
func (d *day) failures() []string {
	var answers []string
	for _, row := range d.failed {
		answers = append(answers, row.Content)
	}
	return answers
}

// undeclared reports whether the newest block was denied for want of an intent. A model that does not mend that when it is told
// would read the whole story and write nothing, so its scene is refused.
func (d *day) undeclared() bool {
	return slices.ContainsFunc(d.failed, func(row *annotator.Trace) bool { return row.Error == policy.IntentRequired })
}

// declareAgain is said with a correction: it is a new request, for which nothing is declared.
const declareAgain = "Nothing is declared any more: before you change anything, declare your intent again, with " + policy.SelectIntent +
	" or in the block."

// reask puts a correction to the model, as a note with a code if it has one. One that does not help is the last: the scene is refused with what the model wrote. A second
// would cost another request, its words would stay in the window beside those of the first, and hardly ever help. Calls that are
// sound show that the first has helped, and make up for it; a scene has rounds of these as configured, so that in all it has no more
// than twice as many requests.
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

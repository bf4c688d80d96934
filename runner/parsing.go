package runner

import (
	"context"
	"strings"

	"annotator"
	"annotator/context/tokens"
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
		return r.reask(ctx, misspoken(wrong))
	}
	updates, found, err := tools.Updates(text)
	if err != nil {
		return r.reask(ctx, "Your codex_updates could not be read: "+err.Error()+". Send the whole block again, corrected.")
	}
	if !found {
		return annotator.EventParsed, nil
	}
	var failed []string
	for _, update := range updates[min(d.updates, len(updates)):] {
		row := d.next(annotator.TraceUpdate)
		call, err := update.Call(ctx, r.Store.Glossary())
		if err != nil {
			return "", err
		}
		row.CallID, row.Tool, row.Arguments = callID(d.turn, row.Seq), call.Name, call.Arguments
		if err := r.runTool(ctx, row, call); err != nil {
			return "", err
		}
		if row.Error != "" {
			failed = append(failed, row.Content)
		}
	}
	if len(failed) > 0 && d.reasks == 0 {
		return r.reask(ctx, "Some of your codex_updates were not made:\n"+strings.Join(failed, "\n")+
			"\nSend a block with only these, corrected, or an empty one.")
	}
	return annotator.EventParsed, nil
}

// declareAgain is said with a correction: it is a new request, for which nothing is declared.
const declareAgain = "Declare your intent with " + policy.Select + " again before you change anything."

// reask puts a correction to the model, once a scene; after that the scene is refused with what the model wrote.
func (r *Runner) reask(ctx context.Context, correction string) (annotator.Event, error) {
	d := r.day
	if d.reasks > 0 {
		return r.refuse("the model was corrected and did no better: " + correction)
	}
	if r.Config.Governance != policy.Off {
		correction += " " + declareAgain
	}
	row := d.next(annotator.TraceNote)
	row.Content = correction
	row.Tokens = tokens.Estimate(correction) + tokens.PerMessage
	if err := r.Store.Append(ctx, row); err != nil {
		return "", err
	}
	return annotator.EventReask, r.add(row)
}

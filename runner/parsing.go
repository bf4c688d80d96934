package runner

import (
	"context"
	"slices"

	"annotator"
	"annotator/policy"
	"annotator/tools"
	"annotator/view"
)

// parsing is PARSING: the codex updates of a text reply run through the same tools as calls, each with its row in one
// transaction. One message to the model says which of them failed.
func (r *Runner) parsing(ctx context.Context) (annotator.Event, error) {
	s := r.scene
	content := &s.Reply.Parsed
	if content.Problem != nil {
		return r.correct(ctx, "", unreadable(content.Problem, s.Cut))
	}
	for _, update := range content.Updates[s.Updates:] {
		if err := r.toolRunner().runUpdate(ctx, update); err != nil {
			return "", err
		}
	}
	// A model that declares no intent after a correction would read the whole story and write nothing, so its scene is
	// refused.
	undeclared := slices.ContainsFunc(s.Failed, func(row *annotator.Trace) bool {
		return row.Error == policy.IntentRequired
	})
	if len(s.Failed) > 0 && s.Corrections == 0 || undeclared {
		correction := "Some of your codex_updates were not made:\n"
		for _, row := range s.Failed {
			correction += row.Content + "\n"
		}
		return r.correct(ctx, "", correction+"Send a block with only these, corrected, or an empty one.")
	}
	return annotator.EventParsed, nil
}

// runUpdate runs an element of a block. Its row is call and result.
func (r *toolRunner) runUpdate(ctx context.Context, update annotator.ParsedCall) error {
	call, err := tools.Resolve(ctx, view.Glossary{Glossary: r.Store.Glossary}, update)
	if err != nil {
		return err
	}
	row := r.scene.nextRow(annotator.TraceUpdate)
	row.CallID, row.Tool, row.Arguments = annotator.CallID(row.Turn, row.Seq), call.Tool, string(call.Arguments)
	row.Parsed.ParsedCall = call
	return r.runTool(ctx, row, row, "")
}

package main

import (
	"context"
	"fmt"
	"io"

	"annotator"
	"annotator/codex"
	"annotator/edits"
	"annotator/exporters"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
)

func newEditLog(a *app) *cobra.Command {
	return group("edits", "Carry a person's edits to another run", `
Carry the edits of people to another run of the same story, such as one with another model. A log has no numbers of
entries and facts: an entry is found by its names, and a fact by its words or else by its quotation.`,
		"  annotator edits export -o edits.json\n  annotator edits apply --db second.annotator.db edits.json",
		newEditLogExport(a), newEditLogApply(a))
}

func newEditLogExport(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the edits of people to a file",
		Long: longHelp(`
Write the edits of people that were not undone to a file, for other runs of the same story. Of several edits that set
the same, such as the name of an entry, the last one is written. Entries that people made, changes that they took back
and answers to the model's questions are among them. What is about this run only is left out, and listed.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: "  annotator edits export -o edits.json\n  annotator edits export --db book.annotator.db",
		PreRunE: func(*cobra.Command, []string) error { return refuseDatabase(out) },
	}
	cmd.Flags().StringVarP(&out, "output", "o", "-", "`FILE` to write; - is standard output")
	return onDatabase(cmd, func(ctx context.Context, db *storage.DB, _ []string) error {
		log, left, err := editLog(ctx, db)
		if err != nil {
			return err
		}
		for _, text := range left {
			fmt.Fprintln(a.err, "left out: "+clean(text))
		}
		if isStdout(out) {
			return a.printJSON(log)
		}
		return exporters.WriteFile(out, func(w io.Writer) error { return writeJSON(w, log, "  ") })
	})
}

// editLog returns the edits of people that were not undone.
func editLog(ctx context.Context, db *storage.DB) (*edits.Log, []string, error) {
	run, err := db.Run.Status(ctx)
	if err != nil {
		return nil, nil, err
	}
	v := view.At(db, view.Moment{})
	past, err := v.Edits(ctx)
	if err != nil {
		return nil, nil, err
	}
	ops := make([]annotator.Operation, len(past))
	for i := range past {
		ops[i] = past[i].Operation
	}
	positions := view.NewPositions(ctx, db)
	c := &run.Corpus
	story := exporters.Story{Title: c.Title, CorpusHash: c.Hash, Threads: c.Threads, Scenes: c.Scenes}
	log, left, err := edits.NewLog(story, ops, &edits.History{
		Past: func(id int64) ([]annotator.Revision, error) { return v.Revisions(ctx, id) },
		Question: func(number int64) (string, error) {
			questions, err := v.Questions(ctx)
			for i := range questions {
				if questions[i].ID == number {
					return questions[i].Text, err
				}
			}
			return "", err
		},
		Position: func(scene annotator.Order) annotator.Position { return positions.At(annotator.PlaceAt(scene, 0)) },
	})
	if err == nil {
		err = positions.Err
	}
	return log, left, err
}

func newEditLogApply(a *app) *cobra.Command {
	o := &fileEdits{edit: edit{app: a}}
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Apply the edits of a file that another run has written",
		Long: longHelp(`
Apply the edits of a file that `+"`annotator edits export`"+` has written in another run of the same story. It shows
them, asks, and applies them as one decision, which one `+"`annotator undo`"+` takes back. Each answer to a question of
the model is another one. What does not fit is listed: what this run does not have, and what its model has not asked.
To apply a file again changes nothing more. FILE - is standard input.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator edits apply edits.json
  annotator edits apply --db second.annotator.db --dry-run edits.json`,
	}
	o.addFlags(cmd.Flags())
	return onFile(cmd, func(ctx context.Context, path, file string) error {
		text, err := o.read(file)
		if err != nil {
			return err
		}
		log, lines, err := edits.ReadLog(text)
		if err != nil {
			return inFile(file, err)
		}
		var plan *edits.Plan
		err = withDatabase(ctx, path, func(db *storage.DB) error {
			plan, err = o.resolve(ctx, db, log, lines)
			return err
		})
		if err == nil {
			_, err = o.offer(ctx, path, plan)
		}
		return err
	})
}

// resolve finds in a database what the edits of a log are about.
func (o *fileEdits) resolve(ctx context.Context, db *storage.DB, log *edits.Log, lines []int) (plan *edits.Plan,
	err error,
) {
	entries, err := allEntries(ctx, view.At(db, view.Moment{}))
	if err != nil {
		return nil, err
	}
	err = o.onDraft(ctx, db, nil, func(c *edits.Codex) error {
		target := &edits.Target{Codex: c, Order: func(p annotator.Position) (annotator.Order, error) {
			moment, err := view.MomentAt(ctx, db, view.Point{Kind: view.PointPost, ID: p.Post})
			return moment.Place.Order(), err
		}}
		target.Question = func(entry int64, text string) (number int64, answer string, err error) {
			questions, err := view.At(db, view.Moment{}).Questions(ctx)
			for i := range questions {
				if q := &questions[i]; q.Entry == entry && codex.Normalize(q.Text) == codex.Normalize(text) {
					if number = q.ID; q.Answer != nil {
						answer = q.Answer.Text
					}
				}
			}
			return number, answer, err
		}
		target.SetEntries(entries)
		plan, err = edits.Resolve(log, lines, target)
		return err
	})
	return plan, err
}

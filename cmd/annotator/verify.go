package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"annotator"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// verifyOptions are what `annotator verify` is told.
type verifyOptions struct {
	*app
	db     string
	corpus string
	repair bool
	json   bool
}

// autoCorpus stands for the corpus that the run was made from.
const autoCorpus = "auto"

func newVerify(a *app) *cobra.Command {
	o := &verifyOptions{app: a}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Prove that a database holds what it promises",
		Long: described(`
Prove the invariants of a database: that its journal is whole and unchanged, that every change of the codex has its cause,
that the codex is the sum of its revisions, and that each quotation stands in the corpus where it says.

A file that cannot be written is checked as far as it can be, and what was not checked is told.

--repair rebuilds the full-text index first, which is all that can be mended: the rest are promises about what happened.`,
			exitMisused, exitHalted, exitViolation, exitInterrupted),
		Example: `  annotator verify
  annotator verify --db book.annotator.db --corpus moved/book.corpus.db
  annotator verify --repair`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return untilSignal(cmd.Context(), o.run) },
	}
	flags := cmd.Flags()
	databaseFlag(flags, &o.db)
	flags.StringVar(&o.corpus, "corpus", autoCorpus, "`FILE` to hold the quotations against; auto: the run's own, if it is there")
	flags.BoolVar(&o.repair, "repair", false, "rebuild the full-text index first; no run may be going on")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// verification is what verify finds.
type verification struct {
	Database string            `json:"database"`
	Corpus   string            `json:"corpus"` // that the quotations were held against; empty if they were not
	OK       bool              `json:"ok"`
	Checks   []storage.Finding `json:"checks"`
}

func (o *verifyOptions) run(ctx context.Context) error {
	if o.repair {
		if err := o.rebuild(ctx); err != nil {
			return err
		}
	}
	var found verification
	err := withDatabase(ctx, o.db, func(db *storage.DB) (err error) {
		found, err = o.verify(ctx, db)
		return err
	})
	if err != nil {
		return err
	}
	if err := o.print(&found); err != nil || found.OK {
		return err
	}
	if found.otherCorpus() {
		return annotator.Errorf(annotator.Violation, "%s does not say what %s quotes of it", found.Corpus, found.Database).
			WithAdvice("put the corpus back that the run was made from, or name it with --corpus")
	}
	return annotator.Errorf(annotator.Violation, "%s does not hold what it promises", found.Database).
		WithAdvice("go back to a backup, or begin a new database with `annotator run --no-resume`")
}

// otherCorpus reports whether all is well but the quotations: then the corpus has changed, or is of another story.
func (v *verification) otherCorpus() bool {
	return !slices.ContainsFunc(v.Checks, func(f storage.Finding) bool { return len(f.Violations) > 0 && f.Check != storage.CheckQuotations })
}

func (o *verifyOptions) rebuild(ctx context.Context) error {
	path, err := findDatabase(o.db)
	if err != nil {
		return err
	}
	if !exists(path) {
		return annotator.Errorf(annotator.NotFound, "there is no database at %s", path)
	}
	db, err := storage.OpenWriter(ctx, path, holder(), o.now)
	if err != nil {
		return err
	}
	return cmp.Or(db.Maintenance.RebuildIndex(ctx), db.Close())
}

func (o *verifyOptions) verify(ctx context.Context, db *storage.DB) (verification, error) {
	found := verification{Database: db.Path()}
	story, err := openStory(ctx, db, o.corpus)
	if err != nil {
		return found, err
	}
	var body func(context.Context, int64) (string, error)
	if story != nil {
		defer func() { _ = story.Close() }()
		found.Corpus = story.Path()
		body = func(ctx context.Context, id int64) (string, error) {
			post, err := story.Post(ctx, id)
			if err != nil {
				return "", err
			}
			return post.Body, nil
		}
	}
	found.Checks, err = db.Maintenance.Verify(ctx, body)
	found.OK = storage.Clean(found.Checks)
	for i := range found.Checks {
		found.Checks[i].Violations = append([]string{}, found.Checks[i].Violations...) // an empty list, not null
	}
	return found, err
}

func (o *verifyOptions) print(found *verification) error {
	if o.json {
		return o.printJSON(found)
	}
	rows := [][]string{}
	for _, check := range found.Checks {
		state, says := "ok", check.Law
		if check.Unchecked != "" {
			state, says = "not checked", check.Unchecked
		}
		if n := len(check.Violations) + check.More; n > 0 {
			state = count(n, "violation")
		}
		rows = append(rows, []string{check.Check, state, says})
	}
	if found.Corpus == "" {
		rows = append(rows, []string{storage.CheckQuotations, "not checked", "the corpus is not there; name it with --corpus"})
	}
	if err := table(o.out, rows); err != nil {
		return err
	}
	return o.printViolations(found.Checks)
}

func (o *verifyOptions) printViolations(checks []storage.Finding) error {
	for _, check := range checks {
		if len(check.Violations) == 0 {
			continue
		}
		fmt.Fprintf(o.out, "\n%s\n", check.Check)
		for _, violation := range check.Violations {
			fmt.Fprintf(o.out, "  %s\n", oneLine(violation))
		}
		if check.More > 0 {
			fmt.Fprintf(o.out, "  and %d more\n", check.More)
		}
	}
	return nil
}

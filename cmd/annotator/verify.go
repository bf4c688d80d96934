package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"annotator"
	"annotator/corpus"
	"annotator/runner/entries"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// verifyOptions are the options of `annotator verify`.
type verifyOptions struct {
	*app
	db     string
	corpus string
	repair bool
	json   bool
}

func newVerify(a *app) *cobra.Command {
	o := &verifyOptions{app: a}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check the invariants of a database",
		Long: longHelp(`
Check the invariants of a database: its journal is complete and unchanged, every change of the codex has its cause, the
codex is the sum of its revisions, and each quotation occurs in the corpus at its position.

A file that cannot be written is checked as far as possible; the output says what was not checked.

--repair rebuilds the full-text index first. Nothing else can be repaired: the other data record what happened.`,
			exitMisused, exitHalted, exitViolation, exitInterrupted),
		Example: `  annotator verify
  annotator verify --db book.annotator.db --corpus moved/book.corpus.db
  annotator verify --repair`,
	}
	flags := cmd.Flags()
	corpusFlag(flags, &o.corpus, "`FILE` to check the quotations against")
	flags.BoolVar(&o.repair, "repair", false, "rebuild the full-text index first; no run may be active")
	jsonFlag(flags, &o.json)
	return onRun(cmd, func(ctx context.Context, path string, _ []string) error {
		o.db = path
		return o.run(ctx)
	})
}

// verification is the result of verify.
type verification struct {
	Database string            `json:"database"`
	Corpus   string            `json:"corpus"` // that the quotations were checked against; empty if they were not
	OK       bool              `json:"ok"`
	Checks   []storage.Finding `json:"checks"`
}

func (o *verifyOptions) run(ctx context.Context) error {
	if o.repair {
		if err := o.withWriter(ctx, o.db,
			func(db *storage.DB) error { return db.Maintenance.RebuildIndex(ctx) }); err != nil {
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
	if err := o.printResult(&found, o.json); err != nil || found.OK {
		return err
	}
	if !slices.ContainsFunc(found.Checks, concernsDatabase) {
		return annotator.Errorf(annotator.Violation, "%s does not contain what %s has read in it", found.Corpus,
			found.Database).
			WithAdvice("restore the corpus that the run was made from, or name it with --corpus")
	}
	violated := annotator.Errorf(annotator.Violation, "%s violates its invariants", found.Database)
	if !slices.ContainsFunc(found.Checks, func(f storage.Finding) bool {
		return len(f.Violations) > 0 &&
			f.Check != storage.CheckIndex
	}) {
		return violated.WithAdvice("`annotator verify --repair` rebuilds the index")
	}
	return violated.
		WithAdvice("restore a backup, or start a new database with `annotator run --no-resume`")
}

// corpusChecks are the checks that need the corpus.
func corpusChecks() []string {
	return []string{
		storage.CheckCorpus, storage.CheckFormer, storage.CheckMentions, storage.CheckWords, storage.CheckQuotations,
	}
}

// concernsDatabase reports whether a violation is one of the database, not only of the corpus.
func concernsDatabase(f storage.Finding) bool {
	return len(f.Violations) > 0 && !slices.Contains(corpusChecks(), f.Check)
}

func (o *verifyOptions) verify(ctx context.Context, db *storage.DB) (verification, error) {
	found := verification{Database: db.Path()}
	story, err := openCorpus(ctx, db, db.Path(), o.corpus, false)
	if err != nil {
		return found, err
	}
	var source *storage.Source
	if story != nil {
		defer func() { _ = story.Close() }()
		found.Corpus = story.Path()
		if source, err = sourceOf(ctx, story); err != nil {
			return found, err
		}
	}
	found.Checks, err = db.Maintenance.Verify(ctx, source)
	found.OK = storage.Clean(found.Checks)
	for i := range found.Checks {
		found.Checks[i].Violations = append([]string{}, found.Checks[i].Violations...) // an empty list, not null
	}
	return found, err
}

// sourceOf returns the corpus in the form that the checks compare.
func sourceOf(ctx context.Context, story *corpus.DB) (*storage.Source, error) {
	body := func(ctx context.Context, id int64) (string, error) {
		post, err := story.Post(ctx, id)
		if err != nil {
			return "", err
		}
		return post.Body, nil
	}
	identity, err := story.Identity(ctx)
	return &storage.Source{Body: body, Story: story, Identity: identity, Finder: entries.FindMentions}, err
}

func (v *verification) print(w io.Writer) {
	rows := [][]string{}
	for _, check := range v.Checks {
		state, text := "ok", check.Law
		if check.Unchecked != "" {
			state, text = "not checked", check.Unchecked
		}
		if n := len(check.Violations) + check.More; n > 0 {
			state = annotator.Quantity(n, "violation")
		}
		rows = append(rows, []string{check.Check, state, text})
	}
	if v.Corpus == "" {
		for _, check := range corpusChecks() {
			rows = append(rows, []string{check, "not checked", "the corpus was not found; name it with --corpus"})
		}
	}
	printTable(w, rows)
	for _, check := range v.Checks {
		if len(check.Violations) > 0 {
			fmt.Fprintf(w, "\n%s\n", check.Check)
		}
		for _, violation := range check.Violations {
			fmt.Fprintf(w, "  %s\n", oneLine(violation))
		}
		if check.More > 0 {
			fmt.Fprintf(w, "  and %d more\n", check.More)
		}
	}
}

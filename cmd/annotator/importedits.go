package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/corpus"
	"annotator/edits"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fileEdits takes edits from a file.
type fileEdits struct {
	edit
	yes, dryRun, asJSON bool
	what                string // the file, in messages
}

func (o *fileEdits) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.by, "by", "", "the `NAME` of who edits, which the history keeps; empty: nobody says")
	flags.BoolVarP(&o.yes, "yes", "y", false, "apply without a question")
	flags.BoolVar(&o.dryRun, "dry-run", false, "show what would be changed, and change nothing")
	jsonFlag(flags, &o.asJSON)
	corpusFlag(flags, &o.corpus, "corpus `FILE` in which quotations and names are looked for")
}

func newImportEdits(a *app) *cobra.Command {
	o := &fileEdits{edit: edit{app: a}}
	cmd := &cobra.Command{
		Use:   "import-edits FILE",
		Short: "Take an export back that you have changed",
		Long: longHelp(`
Take an export back that you have changed: JSON, YAML, or a table of the format names. It shows what the file changes,
asks, and applies it as one decision, which one `+"`annotator undo`"+` takes back. FILE - is standard input.

The file is compared with the codex as it was exported, so what a run or a person has changed since stays as it is. A
change of the same is a conflict: it is shown, and left out. A field that the file does not have is as it was, and so
is an entry. What is missing in a list, such as a fact or a name, is taken away. A fact or an entry without an id is
new. docs/formats.md lists what can be changed. To import a file again changes nothing.

What you write is locked, as with the other commands that edit. A run may be active: then the edits are stored, and the
run applies them before its next scene.`, exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator export --format yaml -o book.yaml
  annotator import-edits book.yaml
  annotator import-edits --db book.annotator.db --yes names.csv`,
	}
	o.addFlags(cmd.Flags())
	return onFile(cmd, func(ctx context.Context, path, file string) error {
		text, err := o.read(file)
		if err != nil {
			return err
		}
		_, err = o.take(ctx, path, file, text)
		return err
	})
}

// onFile makes a command take a file, and the database of a run as onRun does. A source comes before the file.
func onFile(cmd *cobra.Command, run func(ctx context.Context, path, file string) error) *cobra.Command {
	var named string
	cmd.Flags().StringVar(&named, "db", "",
		"database `FILE` of the run; empty: that of SOURCE, or the only one in this folder")
	name, file, _ := strings.Cut(cmd.Use, " ")
	cmd.Use, cmd.Args = name+" [SOURCE] "+file, arguments(1, 2)
	return untilSignalled(cmd, func(ctx context.Context, args []string) (err error) {
		path := named
		if len(args) == 2 {
			path, err = runOf(ctx, args[0])
		} else if path == "" && exists(databaseOf(args[0])) {
			path = databaseOf(args[0]) // of book.yaml, if several are in this folder
		}
		if err == nil {
			path, err = findExisting(path)
		}
		if err != nil {
			return err
		}
		return run(ctx, path, args[len(args)-1])
	})
}

// read reads the file; - is standard input.
func (o *fileEdits) read(file string) ([]byte, error) {
	from := o.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, annotator.Errorf(annotator.NotFound, "read %s: %w", file, err)
		}
		defer func() { _ = f.Close() }()
		from = f
	} else if !o.yes && !o.dryRun {
		return nil, annotator.Errorf(annotator.Misused, "the file is standard input, so no question can be answered").
			WithAdvice("add --yes or --dry-run")
	}
	text, err := io.ReadAll(io.LimitReader(from, edits.MaxSize+1))
	if err != nil {
		return nil, annotator.Errorf(annotator.Storage, "read %s: %w", file, err)
	}
	return text, nil
}

// take compares a file with the codex, shows what it changes, and applies that if the user agrees. It reports whether
// nothing of the file is left to be applied.
func (o *fileEdits) take(ctx context.Context, path, file string, text []byte) (done bool, err error) {
	f, err := edits.Read(file, text)
	if err != nil {
		return false, inFile(file, err)
	}
	o.what = file
	var plan *edits.Plan
	err = withDatabase(ctx, path, func(db *storage.DB) error {
		return o.onDraft(ctx, db, f.IDs(), func(c *edits.Codex) error {
			if err := o.bind(ctx, db, f, c); err != nil {
				return err
			}
			plan, err = edits.Compare(f, c)
			return err
		})
	})
	if err != nil {
		return false, err
	}
	return o.offer(ctx, path, plan)
}

// inFile names the file of an error.
func inFile(file string, err error) error {
	if annotator.KindOf(err) != annotator.Misused {
		return err
	}
	return annotator.Errorf(annotator.Misused, "%s: %w", file, err).
		WithAdvice("correct the file, and import it again; nothing was changed")
}

// bind checks that a file is of the story of the database, and sets its limit.
func (o *fileEdits) bind(ctx context.Context, db *storage.DB, f *edits.File, c *edits.Codex) error {
	run, err := db.Run.Status(ctx)
	if err != nil {
		return err
	}
	if hash := f.Story.CorpusHash; hash != "" && hash != run.Corpus.Hash {
		return annotator.Errorf(annotator.Misused, "%s is an export of another story, %q, or of another version of it",
			o.what, f.Story.Title).
			WithAdvice("name the database that it was exported from with --db; to carry edits to another run, use " +
				"`annotator edits`")
	}
	if f.AsOf == nil {
		return nil
	}
	point, err := view.ParsePoint(fmt.Sprintf("scene:%d", f.AsOf.Scene))
	if err != nil {
		return err
	}
	moment, err := view.MomentAt(ctx, db, point)
	c.Limit = moment.Place.Order()
	return err
}

// onDraft calls run with the codex, after the edits that wait to be applied. The entries with the ids are read at once.
func (o *fileEdits) onDraft(ctx context.Context, db *storage.DB, ids []int64, run func(*edits.Codex) error) error {
	v := view.At(db, view.Moment{})
	known, err := v.EntriesByID(ctx, ids)
	if err != nil {
		return err
	}
	positions := view.NewPositions(ctx, db)
	story, missing := openCorpus(ctx, db, db.Path(), o.corpus, true)
	if missing == nil {
		defer func() { _ = story.Close() }()
	}
	c := &edits.Codex{
		Draft: &edits.Draft{
			Read: func(id int64) (*annotator.Entry, error) {
				if e := known[id]; e != nil {
					return e, nil
				}
				e, err := v.Entry(ctx, id)
				if annotator.KindOf(err) == annotator.NotFound {
					return nil, nil
				}
				return e, err
			},
			Past: func(id int64) ([]annotator.Revision, error) { return v.Revisions(ctx, id) },
		},
		Position: positions.At,
		Named: func(name string) (int64, error) {
			found, err := v.Named(ctx, name)
			for i := range found {
				if found[i].Status.Live() && codex.Normalize(found[i].Name()) == codex.Normalize(name) {
					return found[i].ID, err
				}
			}
			return 0, err
		},
		Ground: func(post int64, quote string) (annotator.Evidence, error) {
			if missing != nil {
				return annotator.Evidence{}, missing
			}
			return quotationIn(ctx, story, post, quote)
		},
	}
	waiting, err := db.Edits.Pending(ctx)
	if err == nil {
		err = c.TryAll(waiting)
	}
	if err == nil {
		err = run(c)
	}
	return cmp.Or(err, positions.Err)
}

// quotationIn returns the evidence for a quotation in a post.
func quotationIn(ctx context.Context, story *corpus.DB, post int64, quote string) (annotator.Evidence, error) {
	p, err := story.Post(ctx, post)
	if err != nil {
		return annotator.Evidence{}, err
	}
	found, ok := codex.GroundIn([]annotator.Post{*p}, quote)
	if !ok {
		return found, annotator.Errorf(annotator.NotFound, "post %d does not say %q", post, quote).
			WithAdvice("quote whole words as they stand there")
	}
	return found, nil
}

// offer shows a plan, and applies it if the user agrees. It reports whether nothing is left of it.
func (o *fileEdits) offer(ctx context.Context, path string, plan *edits.Plan) (bool, error) {
	done := &takenEdits{Plan: plan}
	if !o.asJSON {
		done.print(o.out)
	}
	n, them := annotator.Quantity(len(plan.Changes), "edit"), "them"
	if len(plan.Changes) == 1 {
		them = "it"
	}
	if len(plan.Changes) > 0 && !o.dryRun && (o.yes || !o.asJSON && o.agrees("apply "+n)) {
		by, err := editor(o.by)
		if err != nil {
			return false, err
		}
		for _, op := range plan.Operations() {
			op.By = cmp.Or(by, op.By)
			applied, err := o.submit(ctx, path, op)
			if err != nil {
				return false, refused(err)
			}
			done.Applied, done.Pending, done.Row = !applied.Pending, applied.Pending, cmp.Or(done.Row, applied.Row)
		}
	}
	switch {
	case o.asJSON:
		return false, o.printJSON(done)
	case done.Pending:
		fmt.Fprintf(o.out, "%s stored: the run applies %s before its next scene\n", n, them)
	case done.Applied:
		fmt.Fprintf(o.out, "%s applied; `annotator undo` takes %s back\n", n, them)
	case len(plan.Changes) > 0:
		fmt.Fprintln(o.out, "nothing was changed")
	}
	isTaken := done.Pending || done.Applied || len(plan.Changes) == 0
	return isTaken && len(plan.Conflicts)+len(plan.Left) == 0, nil
}

// agrees asks a question, and reports whether the answer is yes. Its default is no.
func (o *fileEdits) agrees(question string) bool {
	fmt.Fprintf(o.err, "%s? [y/N] ", question)
	answer, _ := bufio.NewReader(io.LimitReader(o.in, 1<<10)).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// takenEdits is what a command prints that takes edits from a file.
type takenEdits struct {
	*edits.Plan
	Applied bool  `json:"applied"`
	Pending bool  `json:"pending,omitempty"` // the run applies them before its next scene
	Row     int64 `json:"row,omitempty"`     // of the journal
}

func (t *takenEdits) print(w io.Writer) {
	if len(t.Changes)+len(t.Conflicts)+len(t.Left) == 0 {
		fmt.Fprintln(w, "the file changes nothing")
		return
	}
	var notes []edits.Note
	for i := range t.Changes {
		notes = append(notes, t.Changes[i].Note)
	}
	printNotes(w, "", notes)
	printNotes(w, "changed in the codex since, and left as it is:", t.Conflicts)
	printNotes(w, "left as it is:", t.Left)
}

// numbered returns the number of an entry; empty for one that is made only now.
func numbered(id int64) string {
	if id < 0 {
		return ""
	}
	return fmt.Sprintf("#%d", id)
}

// printNotes prints notes by entry.
func printNotes(w io.Writer, heading string, notes []edits.Note) {
	if heading != "" && len(notes) > 0 {
		fmt.Fprintln(w, heading)
	}
	last := int64(-1)
	for i := range notes {
		n := &notes[i]
		if n.Entry != last && n.Entry != 0 {
			fmt.Fprintln(w, strings.TrimSpace(numbered(n.Entry)+" "+oneLine(n.Name)))
		}
		last = n.Entry
		line := ""
		if n.Line != 0 {
			line = fmt.Sprintf("line %d: ", n.Line)
		}
		printIndented(w, "  ", line+oneLine(n.Text))
	}
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
	"annotator/runner/entries"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
)

// edit is a command that changes the codex by an operation of a person.
type edit struct {
	*app
	by     string // who edits; empty: nobody says
	at     string // the point from which it is seen; empty: from where what it changes or quotes is seen
	corpus string
}

// editHelp ends the help of each command that edits.
const editHelp = `

What a person writes is locked: the model and the curator leave it as it is. It is in the history of the entry, and
` + "`annotator undo`" + ` takes it back. Under a limit (--as-of) it is seen from where what it changes
or quotes is seen, or from --at. A run may be active: then the edit is stored, and the run applies it before its
next scene.`

// edits makes a command apply the operation that build returns, with the entry that the first argument names. The
// command takes n arguments.
func (a *app) edits(cmd *cobra.Command, n int,
	build func(ctx context.Context, v *editView, args []string) (annotator.Operation, error),
) *cobra.Command {
	e := &edit{app: a}
	var asJSON bool
	jsonFlag(cmd.Flags(), &asJSON)
	cmd.Flags().StringVar(&e.at, "at", "", "the `POINT` of the story from which the edit is seen: "+pointForms+
		"; empty: from where what it changes or quotes is seen")
	cmd.Flags().StringVar(&e.by, "by", "", "the `NAME` of who edits, which the history keeps; "+
		"undo then takes back the newest edit of that person; empty: of anybody")
	corpusFlag(cmd.Flags(), &e.corpus, "corpus `FILE` in which names are looked for")
	cmd.Long = longHelp(cmd.Long+editHelp, exitMisused, exitHalted, exitInterrupted)
	cmd.Args = arguments(n, n)
	cmd.ValidArgsFunction = completeFrom(listTerms)
	return onRun(cmd, func(ctx context.Context, named string, args []string) error {
		path, err := findExisting(named)
		if err != nil {
			return err
		}
		done, err := e.run(ctx, path, func(v *editView) (annotator.Operation, error) { return build(ctx, v, args) })
		if err != nil {
			return err
		}
		return a.printResult(done, asJSON)
	})
}

// editView is the codex that an edit is about, without a limit.
type editView struct {
	*codexView
	corpus string
}

// run applies an operation, or stores it for the run that is under way or has stopped within a scene.
func (e *edit) run(ctx context.Context, path string,
	build func(*editView) (annotator.Operation, error),
) (done *doneEdit, err error) {
	var op annotator.Operation
	err = withDatabase(ctx, path, func(db *storage.DB) error {
		op, err = e.prepare(ctx, db, build)
		return err
	})
	if err == nil {
		done, err = e.submit(ctx, path, op)
	}
	return done, refused(err)
}

// submit applies an operation, or stores it. The error is a *codex.Refusal if the rules reject it.
func (e *edit) submit(ctx context.Context, path string, op annotator.Operation) (done *doneEdit, err error) {
	err = withOpened(ctx, path, e.openWriter, func(db *storage.DB) error {
		done, err = e.apply(ctx, db, op)
		return err
	})
	if annotator.KindOf(err) != annotator.InUse {
		return done, err
	}
	return &doneEdit{Operation: op, Pending: true}, storage.FileEdit(ctx, path, e.now, &op)
}

// prepare returns the operation, if it would be applied now.
func (e *edit) prepare(ctx context.Context, db *storage.DB,
	build func(*editView) (annotator.Operation, error),
) (op annotator.Operation, err error) {
	v, err := codexAt(ctx, db, "")
	if err != nil {
		return op, err
	}
	if op, err = build(&editView{v, e.corpus}); err != nil {
		return op, err
	}
	if op.By, err = editor(e.by); err != nil {
		return op, err
	}
	if e.at != "" {
		point, err := view.ParsePoint(e.at)
		if err != nil {
			return op, err
		}
		moment, err := view.MomentAt(ctx, db, point)
		if err != nil {
			return op, err
		}
		op.From = moment.Place.Order()
	}
	return op, checkEdit(ctx, db, op)
}

// editor returns the name of who edits in its stored form.
func editor(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	text, err := codex.Text("name of --by", name, codex.MaxName)
	return text, err
}

// checkEdit returns why an operation would be refused now, unless others wait: they may be what it rests on.
func checkEdit(ctx context.Context, db *storage.DB, op annotator.Operation) error {
	waiting, err := db.Edits.Pending(ctx)
	if err == nil && len(waiting) == 0 {
		err = db.Edits.Check(ctx, op)
	}
	return err
}

// apply applies what waits, and then the operation. Names are looked for in the story, if it is there.
func (e *edit) apply(ctx context.Context, db *storage.DB, op annotator.Operation) (*doneEdit, error) {
	run, err := db.Run.Status(ctx)
	if err != nil {
		return nil, err
	}
	if run.OpenScene != 0 {
		return nil, annotator.Errorf(annotator.InUse, "scene %d is not finished", run.OpenScene)
	}
	if _, err := db.Edits.ApplyPending(ctx); err != nil {
		return nil, err
	}
	applied, err := db.Edits.Apply(ctx, op)
	if err != nil {
		return nil, err
	}
	story, err := openCorpus(ctx, db, db.Path(), e.corpus, false)
	if err == nil && story != nil {
		err = cmp.Or(entries.NewNames(db, story).CatchUp(ctx), story.Close())
	}
	if err != nil {
		e.say("the names in the story are looked for when the run goes on: " + err.Error())
	}
	at := view.NewPositions(ctx, db)
	changes := exporters.NewChanges(applied.Revisions, at.At)
	return &doneEdit{Operation: applied.Operation, Row: applied.Row, Changes: changes}, at.Err
}

// refused returns the error of a refused operation with a kind.
func refused(err error) error {
	r := (*codex.Refusal)(nil)
	if !errors.As(err, &r) {
		return err
	}
	refusal := annotator.Errorf(annotator.Misused, "%s", r.Message)
	switch r.Code {
	case codex.Locked:
		return refusal.WithAdvice("`annotator unlock` lifts a lock")
	case codex.Changed:
		return refusal.WithAdvice("`annotator show ENTRY --history` lists what was changed")
	}
	return refusal
}

// doneEdit is what a command that edits prints.
type doneEdit struct {
	Operation annotator.Operation `json:"operation"`
	Pending   bool                `json:"pending,omitempty"` // the run applies it before its next scene
	Row       int64               `json:"row,omitempty"`     // of the journal
	Changes   []exporters.Change  `json:"changes,omitempty"`
}

// printHead prints the operation without what it has changed.
func (d *doneEdit) printHead(w io.Writer) {
	text := clean(codex.Describe(&d.Operation))
	if d.Pending {
		text += ": stored; the run applies it before its next scene"
	}
	fmt.Fprintln(w, text)
}

func (d *doneEdit) print(w io.Writer) {
	d.printHead(w)
	rows := make([][]string, len(d.Changes))
	for i, c := range d.Changes {
		rows[i] = []string{fmt.Sprintf("seen from scene %d", c.Seen), string(c.Field), oldToNew(c.Old, c.New)}
	}
	printTable(w, rows)
}

// factOf matches ENTRY:FACT.
var factOf = regexp.MustCompile(`^(.+):(\d+)$`)

// fact returns the entry and the number of a fact that ENTRY:FACT names.
func (v *editView) fact(ctx context.Context, name string) (entry, fact int64, err error) {
	match := factOf.FindStringSubmatch(name)
	if match == nil {
		return 0, 0, annotator.Errorf(annotator.Misused, "%q names no fact", name).
			WithAdvice("name one as ENTRY:NUMBER, such as 12:3; `annotator show ENTRY` prints the numbers")
	}
	e, err := v.findEntry(ctx, match[1])
	if err != nil {
		return 0, 0, err
	}
	fact, err = strconv.ParseInt(match[2], 10, 64)
	return e.ID, fact, err
}

// part returns the entry, and the fact if one is named, of ENTRY or ENTRY:FACT.
func (v *editView) part(ctx context.Context, name string) (entry, fact int64, err error) {
	e, err := v.findEntry(ctx, name)
	if err == nil {
		return e.ID, 0, nil
	}
	if factOf.MatchString(name) {
		return v.fact(ctx, name)
	}
	return 0, 0, err
}

// entry returns the id of an entry by its name.
func (v *editView) entry(ctx context.Context, name string) (int64, error) {
	e, err := v.findEntry(ctx, name)
	if err != nil {
		return 0, err
	}
	return e.ID, nil
}

// quotation returns the evidence for a quotation in a post.
func (v *editView) quotation(ctx context.Context, post int64, quote string) (*annotator.Evidence, error) {
	story, err := openCorpus(ctx, v.db, v.db.Path(), v.corpus, true)
	if err != nil {
		return nil, err
	}
	defer func() { _ = story.Close() }()
	found, err := quotationIn(ctx, story, post, quote)
	if err != nil {
		return nil, err
	}
	return &found, nil
}

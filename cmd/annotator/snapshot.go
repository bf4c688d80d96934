package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"annotator"
	"annotator/model"
	"annotator/model/openai"
	"annotator/runner"
	"annotator/storage"

	"github.com/spf13/cobra"
)

func newSnapshot(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "List, show, compare and ask the snapshots of a run",
		Long: described(`
List, show, compare and ask the snapshots of a run. There is one after each scene: a position in the journal, from which the
context that the model had then can be made again, byte for byte.`, exitMisused),
		Example: `  annotator snapshot list
  annotator snapshot ask 40 "Who knew of the brass key?"`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSnapshotList(a), newSnapshotShow(a), newSnapshotDiff(a), newSnapshotAsk(a))
	return cmd
}

// snapshotView is a snapshot as it is printed.
type snapshotView struct {
	ID       int64     `json:"id"`
	Type     string    `json:"type"`
	Time     time.Time `json:"time"`
	Scene    int       `json:"scene"`
	Thread   int64     `json:"thread"`
	Title    string    `json:"title"`    // of the thread
	Trace    int64     `json:"trace"`    // newest row of the journal
	Revision int64     `json:"revision"` // newest revision
	Entries  int       `json:"entries"`  // live
	Tokens   int       `json:"tokens"`   // of the window
}

func viewSnapshot(ctx context.Context, db *storage.DB, s *annotator.Snapshot) (snapshotView, error) {
	scene, err := db.Scenes.Get(ctx, s.Scene)
	if err != nil {
		return snapshotView{}, err
	}
	return snapshotView{
		ID: s.ID, Type: s.Kind, Time: time.UnixMilli(s.Created).UTC(), Scene: s.Scene, Thread: s.Thread, Title: scene.Thread.Title,
		Trace: s.Trace, Revision: s.Revision, Entries: s.Entries, Tokens: s.Tokens,
	}, nil
}

// snapshotNumber reads the argument that names a snapshot.
func snapshotNumber(text string) (int64, error) {
	point, err := storage.ParsePoint("snapshot:" + text)
	if err != nil {
		return 0, annotator.Errorf(annotator.Misused, "%q is not the number of a snapshot", text).WithAdvice("`annotator snapshot list` names them")
	}
	return point.ID, nil
}

// snapshotListOptions are what `annotator snapshot list` is told.
type snapshotListOptions struct {
	*app
	db     string
	kind   string
	thread int64
	limit  int
	json   bool
}

func newSnapshotList(a *app) *cobra.Command {
	o := &snapshotListOptions{app: a}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the snapshots, newest first",
		Long:  described("List the snapshots of a run, newest first, with where each stands.", exitMisused, exitHalted),
		Example: `  annotator snapshot list
  annotator snapshot list --thread 4711 --limit 0 --json`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return withDatabase(ctx, o.db, func(db *storage.DB) error { return o.run(ctx, db) })
		},
	}
	flags := cmd.Flags()
	databaseFlag(flags, &o.db)
	flags.StringVar(&o.kind, "type", "", "only snapshots of this `TYPE`: checkpoint, manual or curator_fork")
	flags.Int64Var(&o.thread, "thread", 0, "only snapshots in the thread with this `ID`")
	flags.IntVar(&o.limit, "limit", 20, "at most so many `SNAPSHOTS`; 0: all")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (o *snapshotListOptions) run(ctx context.Context, db *storage.DB) error {
	if o.limit < 0 {
		return outOfRange("limit", "0 or more snapshots", o.limit)
	}
	if err := o.known(ctx, db); err != nil {
		return err
	}
	found, err := db.Snapshots.List(ctx, storage.SnapshotQuery{Kind: o.kind, Thread: o.thread, Limit: o.limit})
	if err != nil {
		return err
	}
	views := make([]snapshotView, len(found))
	for i := range found {
		if views[i], err = viewSnapshot(ctx, db, &found[i]); err != nil {
			return err
		}
	}
	if o.json {
		return o.printJSON(views)
	}
	if len(views) == 0 {
		_, err := fmt.Fprintln(o.out, "no snapshot was found")
		return err
	}
	rows := [][]string{{"snapshot", "scene", "thread", "entries", "tokens", "taken", "in"}}
	for _, v := range views {
		rows = append(rows, []string{
			strconv.FormatInt(v.ID, 10), strconv.Itoa(v.Scene), strconv.FormatInt(v.Thread, 10), strconv.Itoa(v.Entries), round(v.Tokens),
			when(v.Time.UnixMilli()), shortened(v.Title, 48),
		})
	}
	return fitted(o.out, rows)
}

// snapshotTypes are those that a list can be narrowed to.
var snapshotTypes = [...]string{"checkpoint", "manual", "curator_fork"}

// known refuses to list what there cannot be.
func (o *snapshotListOptions) known(ctx context.Context, db *storage.DB) error {
	if o.kind != "" && !slices.Contains(snapshotTypes[:], o.kind) {
		return outOfRange("type", strings.Join(snapshotTypes[:], ", "), o.kind)
	}
	return knownThread(ctx, db, o.thread)
}

// snapshotShowOptions are what `annotator snapshot show` is told.
type snapshotShowOptions struct {
	*app
	db   string
	json bool
}

func newSnapshotShow(a *app) *cobra.Command {
	o := &snapshotShowOptions{app: a}
	cmd := &cobra.Command{
		Use:   "show N",
		Short: "Show what a snapshot holds",
		Long: described(`
Show where a snapshot stands, the summaries that were in force then, and the messages that the model had in view, with their
sizes.`, exitMisused, exitHalted),
		Example: "  annotator snapshot show 40\n  annotator snapshot show 40 --json",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return withDatabase(ctx, o.db, func(db *storage.DB) error { return o.run(ctx, db, args[0]) })
		},
	}
	databaseFlag(cmd.Flags(), &o.db)
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// shownSnapshot is what `snapshot show` prints as JSON.
type shownSnapshot struct {
	snapshotView
	Prompt   string              `json:"prompt"` // hash of system prompt and tools
	Memory   []annotator.Episode `json:"memory"` // summaries in force
	Messages []messageView       `json:"messages"`
}

// messageView is a message that the model had in view.
type messageView struct {
	Role  annotator.Role `json:"role"`
	Bytes int            `json:"bytes"` // as it was sent
}

func (o *snapshotShowOptions) run(ctx context.Context, db *storage.DB, named string) error {
	summoned, err := summon(ctx, db, new(openai.Client), named)
	if err != nil {
		return err
	}
	shown := shownSnapshot{Prompt: summoned.Context.Hash}
	if shown.snapshotView, err = viewSnapshot(ctx, db, &summoned.Snapshot); err != nil {
		return err
	}
	memory, err := db.Episodes.At(ctx, summoned.Snapshot.Trace)
	if err != nil {
		return err
	}
	shown.Memory = append([]annotator.Episode{}, memory...)
	system := messageView{annotator.RoleSystem, len(summoned.Context.SystemPrompt)}
	if shown.Messages, err = viewMessages(system, summoned.History()); err != nil {
		return err
	}
	if o.json {
		return o.printJSON(shown)
	}
	return o.print(&shown)
}

// summon brings back the model as it was at a snapshot, in the form of a wire.
func summon(ctx context.Context, db *storage.DB, wire model.Encoder, named string) (*runner.Summoned, error) {
	id, err := snapshotNumber(named)
	if err != nil {
		return nil, err
	}
	snapshot, err := db.Snapshots.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return runner.Summon(ctx, db, wire, snapshot)
}

// viewMessages takes encoded messages apart.
func viewMessages(system messageView, history []byte) ([]messageView, error) {
	var encoded []json.RawMessage
	if err := json.Unmarshal(slices.Concat([]byte("["), history, []byte("]")), &encoded); err != nil {
		return nil, err
	}
	views := []messageView{system}
	for _, message := range encoded {
		v := messageView{Bytes: len(message)}
		if err := json.Unmarshal(message, &v); err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

func (o *snapshotShowOptions) print(s *shownSnapshot) error {
	rows := [][]string{
		{"snapshot", fmt.Sprintf("%d, %s, taken %s", s.ID, s.Type, when(s.Time.UnixMilli()))},
		{"stands", fmt.Sprintf("after scene %d, in thread %d: %s", s.Scene, s.Thread, shortened(s.Title, 60))},
		{"journal", fmt.Sprintf("up to row %d; the codex up to revision %d", s.Trace, s.Revision)},
		{"entries", strconv.Itoa(s.Entries)},
		{"tokens", round(s.Tokens)},
	}
	for _, role := range []annotator.Role{annotator.RoleSystem, annotator.RoleUser, annotator.RoleAssistant, annotator.RoleTool} {
		n, bytes := 0, 0
		for _, m := range s.Messages {
			if m.Role == role {
				n, bytes = n+1, bytes+m.Bytes
			}
		}
		rows = append(rows, []string{string(role), fmt.Sprintf("%s, %s bytes", count(n, "message"), round(bytes))})
	}
	for i := range s.Memory {
		e := &s.Memory[i]
		rows = append(rows, []string{string(e.Kind), fmt.Sprintf("of scenes %d to %d: %s", e.FromScene, e.ToScene, shortened(e.Summary, 100))})
	}
	return table(o.out, rows)
}

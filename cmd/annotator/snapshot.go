package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"annotator"
	"annotator/model"
	"annotator/model/openai"
	"annotator/snapshot"
	"annotator/storage"

	"github.com/spf13/cobra"
)

func newSnapshot(a *app) *cobra.Command {
	return group("snapshot", "List, show, compare, ask and create the snapshots of a run", `
List, show, compare, ask and create the snapshots of a run. There is one after each scene: a position in the journal
from which the context of the model is reproduced byte for byte. One of the type curator_fork has a question about entries
that the model was asked as the curator, with its answer: ask it why it decided so.`,
		"  annotator snapshot list\n  annotator snapshot ask 40 \"Who knew of the brass key?\"",
		newSnapshotList(a), newSnapshotShow(a), newSnapshotDiff(a), newSnapshotAsk(a), newSnapshotCreate(a))
}

// snapshotView is a snapshot as it is printed.
type snapshotView struct {
	ID       int64     `json:"id"`
	Type     string    `json:"type"`
	Name     string    `json:"name,omitempty"` // that a person gave it
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
		ID: s.ID, Type: s.Kind, Name: s.Name, Time: time.UnixMilli(s.Created).UTC(), Scene: s.Scene, Thread: s.Thread, Title: scene.Thread.Title,
		Trace: s.Trace, Revision: s.Revision, Entries: s.Entries, Tokens: s.Tokens,
	}, nil
}

// findSnapshot reads the snapshot with the number that an argument holds.
func findSnapshot(ctx context.Context, db *storage.DB, number string) (annotator.Snapshot, error) {
	point, err := storage.ParsePoint("snapshot:" + number)
	if err != nil {
		return annotator.Snapshot{}, annotator.Errorf(annotator.Misused, "%q is not the number of a snapshot", number).
			WithAdvice("`annotator snapshot list` lists them")
	}
	return db.Snapshots.Get(ctx, point.ID)
}

func newSnapshotList(a *app) *cobra.Command {
	var query storage.SnapshotQuery
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the snapshots, newest first",
		Long:  longHelp("List the snapshots of a run, newest first, with the position of each.", exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator snapshot list
  annotator snapshot list --thread 4711 --limit 0 --json`,
	}
	flags := cmd.Flags()
	types := annotator.SnapshotKinds()
	wordFlag(flags, &query.Kind, "type", types, "", "only snapshots of this `TYPE`: "+alternatives(types))
	flags.Int64Var(&query.Thread, "thread", 0, "only snapshots in the thread with this `ID`")
	limitFlag(flags, &query.Limit, 20, "maximum `SNAPSHOTS`; 0: all")
	return a.answers(cmd, func(ctx context.Context, db *storage.DB, _ []string) (result, error) {
		return listSnapshots(ctx, db, query)
	})
}

// snapshotList is what `snapshot list` prints.
type snapshotList struct {
	views []snapshotView
	more  bool // than --limit
}

// MarshalJSON encodes the snapshots alone.
func (l *snapshotList) MarshalJSON() ([]byte, error) {
	return []byte(annotator.EncodeJSON(l.views)), nil
}

func listSnapshots(ctx context.Context, db *storage.DB, query storage.SnapshotQuery) (*snapshotList, error) {
	if err := require(ctx, query.Thread, db.Threads.LastScene); err != nil {
		return nil, err
	}
	limit := query.Limit
	if limit > 0 {
		query.Limit++ // one more shows whether there are more
	}
	found, err := db.Snapshots.List(ctx, query)
	list := &snapshotList{views: []snapshotView{}, more: limit > 0 && len(found) > limit}
	if list.more {
		found = found[:limit]
	}
	for i := range found {
		v, err := viewSnapshot(ctx, db, &found[i])
		if err != nil {
			return nil, err
		}
		list.views = append(list.views, v)
	}
	return list, err
}

func (l *snapshotList) print(w io.Writer) {
	if len(l.views) == 0 {
		fmt.Fprintln(w, "no snapshot was found")
		return
	}
	rows := [][]string{{"snapshot", "scene", "thread", "entries", "tokens", "taken", "in"}}
	for _, v := range l.views {
		rows = append(rows, []string{
			strconv.FormatInt(v.ID, 10), strconv.Itoa(v.Scene), strconv.FormatInt(v.Thread, 10), strconv.Itoa(v.Entries), shortNumber(v.Tokens),
			localTime(v.Time.UnixMilli()), v.label(),
		})
	}
	printShortened(w, rows)
	printMore(w, l.more)
}

// label is the title of the thread, with the name of the snapshot or the mark of a fork of the curator.
func (v *snapshotView) label() string {
	label := shorten(v.Title, 48)
	if v.Type == annotator.SnapshotFork {
		return label + ": asked as the curator"
	}
	if v.Name != "" {
		label += ": " + shorten(v.Name, 48)
	}
	return label
}

func newSnapshotShow(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show N",
		Short: "Show the contents of a snapshot",
		Long: longHelp(`
Show the position of a snapshot, the summaries in force, and the number and size of the messages in the model's context.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: "  annotator snapshot show 40\n  annotator snapshot show 40 --json",
		Args:    arguments(1, 1),
	}
	return a.answers(cmd, func(ctx context.Context, db *storage.DB, args []string) (result, error) {
		return readSnapshot(ctx, db, args[0])
	})
}

// shownSnapshot is what `snapshot show` prints.
type shownSnapshot struct {
	snapshotView
	Prompt   string              `json:"prompt"` // hash of system prompt and tools
	Memory   []annotator.Episode `json:"memory"` // summaries in force
	Messages []messageView       `json:"messages"`
}

// messageView is a message in the model's context.
type messageView struct {
	Role  annotator.Role `json:"role"`
	Bytes int            `json:"bytes"` // as it was sent
}

func readSnapshot(ctx context.Context, db *storage.DB, number string) (*shownSnapshot, error) {
	restored, err := restoreSnapshot(ctx, db, new(openai.Client), number)
	if err != nil {
		return nil, err
	}
	shown := &shownSnapshot{Prompt: restored.Stored.Hash}
	if shown.snapshotView, err = viewSnapshot(ctx, db, &restored.Snapshot); err != nil {
		return nil, err
	}
	memory, err := db.Episodes.At(ctx, &restored.Snapshot)
	if err != nil {
		return nil, err
	}
	shown.Memory = append([]annotator.Episode{}, memory...)
	var encoded []json.RawMessage
	if err := json.Unmarshal(slices.Concat([]byte("["), restored.History(), []byte("]")), &encoded); err != nil {
		return nil, err
	}
	shown.Messages = []messageView{{annotator.RoleSystem, len(restored.Stored.SystemPrompt)}}
	for _, message := range encoded {
		v := messageView{Bytes: len(message)}
		if err := json.Unmarshal(message, &v); err != nil {
			return nil, err
		}
		shown.Messages = append(shown.Messages, v)
	}
	return shown, nil
}

// restoreSnapshot restores the context of a snapshot, in the encoding of a wire.
func restoreSnapshot(ctx context.Context, db *storage.DB, wire model.Encoder, number string) (*snapshot.Context, error) {
	at, err := findSnapshot(ctx, db, number)
	if err != nil {
		return nil, err
	}
	return snapshot.Restore(ctx, at, wire, db.Journal, db.Episodes)
}

func (s *shownSnapshot) print(w io.Writer) {
	kind := s.Type
	if s.Name != "" {
		kind += " " + strconv.Quote(shorten(s.Name, 60))
	}
	rows := [][]string{
		{"snapshot", fmt.Sprintf("%d, %s, taken %s", s.ID, kind, localTime(s.Time.UnixMilli()))},
		{"position", fmt.Sprintf("after scene %d, in thread %d: %s", s.Scene, s.Thread, shorten(s.Title, 60))},
		{"journal", fmt.Sprintf("up to row %d; the codex up to revision %d", s.Trace, s.Revision)},
		{"entries", strconv.Itoa(s.Entries)},
		{"tokens", shortNumber(s.Tokens)},
	}
	for _, role := range []annotator.Role{annotator.RoleSystem, annotator.RoleUser, annotator.RoleAssistant, annotator.RoleTool} {
		n, bytes := 0, 0
		for _, m := range s.Messages {
			if m.Role == role {
				n, bytes = n+1, bytes+m.Bytes
			}
		}
		rows = append(rows, []string{string(role), fmt.Sprintf("%s, %s bytes", annotator.Quantity(n, "message"), shortNumber(bytes))})
	}
	for i := range s.Memory {
		e := &s.Memory[i]
		rows = append(rows, []string{string(e.Kind), fmt.Sprintf("of scenes %d to %d: %s", e.FromScene, e.ToScene, shorten(e.Summary, 100))})
	}
	printTable(w, rows)
}

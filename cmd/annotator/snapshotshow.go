package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"annotator"
	"annotator/model"
	"annotator/model/openai"
	"annotator/snapshot"
	"annotator/storage"

	"github.com/spf13/cobra"
)

func newSnapshotShow(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show N",
		Short: "Show the contents of a snapshot",
		Long: longHelp(`
Show the position of a snapshot, the summaries in force, and the number and size of the messages in the model's
context.`,
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
func restoreSnapshot(ctx context.Context, db *storage.DB, wire model.Encoder,
	number string,
) (*snapshot.Context, error) {
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
		{"position", "after " + s.place()},
		{"journal", fmt.Sprintf("up to row %d; the codex up to revision %d", s.Trace, s.Revision)},
		{"entries", strconv.Itoa(s.Entries)},
		{"tokens", shortNumber(s.Tokens)},
	}
	for _, role := range []annotator.Role{
		annotator.RoleSystem, annotator.RoleUser, annotator.RoleAssistant,
		annotator.RoleTool,
	} {
		n, bytes := 0, 0
		for _, m := range s.Messages {
			if m.Role == role {
				n, bytes = n+1, bytes+m.Bytes
			}
		}
		rows = append(rows, []string{string(role), fmt.Sprintf("%s, %s bytes", annotator.Quantity(n, "message"),
			shortNumber(bytes))})
	}
	for i := range s.Memory {
		e := &s.Memory[i]
		rows = append(rows, []string{string(e.Kind), fmt.Sprintf("of scenes %d to %d: %s", e.FromScene, e.ToScene,
			shorten(e.Summary, 100))})
	}
	printTable(w, rows)
}

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// maxSnapshotName is how long the name of a snapshot may be, in code points.
const maxSnapshotName = 200

func newSnapshotCreate(a *app) *cobra.Command {
	var path, name string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Keep the present position as a snapshot",
		Long: longHelp(`
Keep the present position of a run as a snapshot of the type manual, for example after the curator has decided or before
another model goes on. There is a snapshot after each scene without it. The run must not be under way.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: "  annotator snapshot create --name \"before the second book\"\n  annotator snapshot list " +
			"--type manual",
	}
	databaseFlag(cmd.Flags(), &path)
	cmd.Flags().StringVar(&name, "name", "", "`NAME` of the snapshot")
	return a.prints(cmd, func(ctx context.Context, _ []string) (created result, err error) {
		name := strings.Join(strings.Fields(codex.Clean(name)), " ")
		if len([]rune(name)) > maxSnapshotName {
			return nil, annotator.Errorf(annotator.Misused, "the name of a snapshot has at most %d characters",
				maxSnapshotName).WithAdvice("shorten it")
		}
		err = a.withWriter(ctx, path, func(db *storage.DB) error {
			taken, err := db.Snapshots.Create(ctx, name)
			if err != nil {
				return err
			}
			shown, err := viewSnapshot(ctx, db, &taken)
			created = createdSnapshot{shown}
			return err
		})
		return created, err
	})
}

// createdSnapshot is what `snapshot create` prints.
type createdSnapshot struct{ snapshotView }

func (s createdSnapshot) print(w io.Writer) {
	fmt.Fprintf(w, "snapshot %d, after %s\n", s.ID, s.place())
}

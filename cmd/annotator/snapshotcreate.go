package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"annotator"
	"annotator/codex"

	"github.com/spf13/cobra"
)

// snapshotCreateOptions are the options of `annotator snapshot create`.
type snapshotCreateOptions struct {
	*app
	db   string
	name string
	json bool
}

func newSnapshotCreate(a *app) *cobra.Command {
	o := &snapshotCreateOptions{app: a}
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Keep the present position as a snapshot",
		Long: longHelp(`
Keep the present position of a run as a snapshot of the type manual, for example after the curator has decided or before
another model goes on. There is a snapshot after each scene without it. The run must not be under way.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: "  annotator snapshot create --name \"before the second book\"\n  annotator snapshot list --type manual",
		Args:    arguments(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	databaseFlag(flags, &o.db)
	flags.StringVar(&o.name, "name", "", "`NAME` of the snapshot")
	jsonFlag(flags, &o.json)
	return cmd
}

// maxSnapshotName is how long the name of a snapshot may be, in code points.
const maxSnapshotName = 200

func (o *snapshotCreateOptions) run(ctx context.Context) (err error) {
	name := strings.Join(strings.Fields(codex.Clean(o.name)), " ")
	if len([]rune(name)) > maxSnapshotName {
		return annotator.Errorf(annotator.Misused, "the name of a snapshot has at most %d characters", maxSnapshotName)
	}
	path, err := findExisting(o.db)
	if err != nil {
		return err
	}
	db, err := o.openWriter(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, db.Close()) }()
	taken, err := db.Snapshots.Create(ctx, name)
	if err != nil {
		return err
	}
	shown, err := viewSnapshot(ctx, db, &taken)
	if err != nil {
		return err
	}
	return o.printResult(createdSnapshot{shown}, o.json)
}

// createdSnapshot is what `snapshot create` prints.
type createdSnapshot struct{ snapshotView }

func (s createdSnapshot) print(w io.Writer) {
	fmt.Fprintf(w, "snapshot %d, after scene %d\n", s.ID, s.Scene)
}

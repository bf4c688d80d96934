package main

import (
	"context"
	"fmt"

	"annotator/storage"

	"github.com/spf13/cobra"
)

// backupOptions are what `annotator backup` is told.
type backupOptions struct {
	*app
	db  string
	out string
}

func newBackup(a *app) *cobra.Command {
	o := &backupOptions{app: a}
	cmd := &cobra.Command{
		Use:   "backup OUT",
		Short: "Copy a database, also while a run goes on",
		Long: described(`
Write a whole, compact copy of a database to a new file. It is a copy of one moment, also while a run goes on; copying the
file by other means is not. Where the copy is put, a run goes on from it as from the original.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator backup book.backup.db
  annotator backup --db book.annotator.db /media/disk/book.annotator.db`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.out = args[0]
			return untilSignal(cmd.Context(), func(ctx context.Context) error {
				return withDatabase(ctx, o.db, func(db *storage.DB) error { return o.run(ctx, db) })
			})
		},
	}
	databaseFlag(cmd.Flags(), &o.db)
	return cmd
}

func (o *backupOptions) run(ctx context.Context, db *storage.DB) error {
	if err := db.Maintenance.Backup(ctx, o.out); err != nil {
		return err
	}
	_, err := fmt.Fprintln(o.app.out, oneLine(o.out))
	return err
}

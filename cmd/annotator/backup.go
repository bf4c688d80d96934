package main

import (
	"context"
	"fmt"

	"annotator/storage"

	"github.com/spf13/cobra"
)

func newBackup(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup OUT",
		Short: "Copy a database, also during a run",
		Long: longHelp(`
Write a complete, compact copy of a database to a new file. The copy is consistent, also during a run; a copy made by
other means may not be. A run can be resumed from the copy as from the original.`, exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator backup book.backup.db
  annotator backup --db book.annotator.db /media/disk/book.annotator.db`,
		Args: arguments(1, 1),
	}
	return onDatabase(cmd, func(ctx context.Context, db *storage.DB, args []string) error {
		if err := db.Maintenance.Backup(ctx, args[0]); err != nil {
			return err
		}
		_, err := fmt.Fprintln(a.out, oneLine(args[0]))
		return err
	})
}

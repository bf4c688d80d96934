package main

import (
	"context"

	"annotator/storage"

	"github.com/spf13/cobra"
)

func newBackup(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup OUT",
		Short: "Copy a database, also during a run",
		Long: longHelp(`
Write a complete, compact copy of a database to a new file. The copy is consistent, also during a run; a copy made by
other means may not be. A run can be resumed from the copy as from the original.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator backup book.backup.db
  annotator backup book.epub /media/disk/book.annotator.db`,
		Args: arguments(1, 1),
	}
	return a.answers(cmd, func(ctx context.Context, db *storage.DB, args []string) (result, error) {
		return message{oneLine(args[0]), map[string]string{"backup": args[0]}}, db.Maintenance.Backup(ctx, args[0])
	})
}

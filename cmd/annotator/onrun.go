package main

import (
	"context"
	"path/filepath"
	"strings"

	"annotator"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// onRun makes a command take the database of a run: that of --db, or that of the first argument, SOURCE. run gets its
// path, empty if neither is given, and the other arguments.
func onRun(cmd *cobra.Command, run func(ctx context.Context, path string, args []string) error) *cobra.Command {
	var named string
	cmd.Flags().StringVar(&named, "db", "",
		"database `FILE` of the run; empty: that of SOURCE, or the only one in this folder")
	check := cmd.Args
	if check == nil {
		check = arguments(0, 0)
	}
	name, others, _ := strings.Cut(cmd.Use, " ")
	cmd.Use = strings.TrimSpace(name + " [SOURCE] " + others)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err != nil && named == "" && len(args) > 0 && check(cmd, args[1:]) == nil {
			return nil
		}
		return err
	}
	return untilSignalled(cmd, func(ctx context.Context, args []string) error {
		if len(args) == 1 && named == "" && isFileName(args[0]) && exists(databaseOf(args[0])) {
			if missing := check(cmd, nil); missing != nil {
				return missing
			}
		}
		if named != "" || len(args) == 0 || check(cmd, args[1:]) != nil {
			return run(ctx, named, args)
		}
		path, err := runOf(ctx, args[0])
		if err == nil {
			return run(ctx, path, args[1:])
		}
		if isSource := check(cmd, args) != nil || isFileName(args[0]); isSource {
			return err
		}
		return run(ctx, named, args)
	})
}

// onDatabase is onRun with the database, opened for reading.
func onDatabase(cmd *cobra.Command, run func(ctx context.Context, db *storage.DB, args []string) error) *cobra.Command {
	return onRun(cmd, func(ctx context.Context, path string, args []string) error {
		return withDatabase(ctx, path, func(db *storage.DB) error { return run(ctx, db, args) })
	})
}

// isFileName reports whether an argument is the name of a file with an extension, and so hardly that of an entry.
func isFileName(name string) bool { return filepath.Ext(name) != "" && exists(name) }

// runOf returns the database of the run of a source. It is the source itself, the file with its name in its folder, or
// the only database in a folder that is the source. The run of a story that was moved away is found if the name of the
// story has an extension.
func runOf(ctx context.Context, source string) (string, error) {
	if isRunName(filepath.Base(source)) || exists(source) && isRunDatabase(ctx, source) {
		return findExisting(source)
	}
	beside := databaseOf(source)
	if exists(beside) && (exists(source) || filepath.Ext(source) != "") {
		return beside, nil
	}
	if found, err := databasesIn(source); err == nil && len(found) > 0 {
		return onlyOne(found, "in "+source, nil)
	}
	return "", annotator.Errorf(annotator.NotFound, "there is no database at %s", beside).
		WithAdvice("start a run with `annotator run SOURCE`, or name its database with --db")
}

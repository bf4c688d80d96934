package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"annotator"
	"annotator/corpus/ingest"
	"annotator/storage"

	"github.com/spf13/pflag"
)

// databasePatterns match the names that runs give their databases.
var databasePatterns = [...]string{"*.annotator.db", "*.annotator-*.db"}

func databaseFlag(flags *pflag.FlagSet, path *string) {
	flags.StringVar(path, "db", "", "database `FILE` of the run; empty: the only one in this folder")
}

// findDatabase returns the database that is named, else the only one in the working folder.
func findDatabase(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	var found []string
	for _, pattern := range databasePatterns {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		found = append(found, matches...)
	}
	switch len(found) {
	case 0:
		return "", annotator.Errorf(annotator.NotFound, "there is no database (*.annotator.db) in this folder").
			WithAdvice("name one with --db, or begin with `annotator run SOURCE`")
	case 1:
		return found[0], nil
	}
	const few = 5
	names := strings.Join(found[:min(len(found), few)], ", ")
	if len(found) > few {
		names += fmt.Sprintf(" and %d more", len(found)-few)
	}
	return "", annotator.Errorf(annotator.Misused, "there are several databases in this folder: %s", names).WithAdvice("name one with --db")
}

// spareDatabase refuses to write anything else over a database: a slip of the hand would cost the whole run.
func spareDatabase(out string) error {
	if !ingest.IsDatabase(out) {
		return nil
	}
	return annotator.Errorf(annotator.Misused, "%s is a database, and would be lost", out).WithAdvice("name another file")
}

// withDatabase opens the database for reading, for as long as the body takes.
func withDatabase(ctx context.Context, named string, body func(*storage.DB) error) error {
	path, err := findDatabase(named)
	if err != nil {
		return err
	}
	db, err := storage.Open(ctx, path)
	if err != nil {
		return err
	}
	err = body(db)
	if closed := db.Close(); closed != nil {
		return errors.Join(err, closed)
	}
	return err // as it is: its advice is printed on a line of its own
}

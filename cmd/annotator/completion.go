package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completeFlags registers shell completion for flags that take words, a database or an item of a database.
func completeFlags(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		var err error
		switch c, _ := f.Value.(*checked); {
		case f.Name == "db" || f.Name == "from-db":
			err = cmd.MarkFlagFilename(f.Name, "db")
		case f.Name == "tool":
			err = cmd.RegisterFlagCompletionFunc(f.Name,
				cobra.FixedCompletions(toolNames(), cobra.ShellCompDirectiveNoFileComp))
		case f.Name == "as-of":
			err = cmd.RegisterFlagCompletionFunc(f.Name, completeFrom(listPoints))
		case f.Name == "chapter":
			err = cmd.RegisterFlagCompletionFunc(f.Name, completeFrom(listChapters))
		case f.Name == "thread":
			err = cmd.RegisterFlagCompletionFunc(f.Name, completeFrom(listThreads))
		case c != nil && c.words != nil:
			err = cmd.RegisterFlagCompletionFunc(f.Name,
				cobra.FixedCompletions(c.words, cobra.ShellCompDirectiveNoFileComp))
		}
		if err != nil {
			panic(err) // the flag exists, and has no completion yet
		}
	})
}

// completeFrom completes with the words that list reads from the command's database; with none if it cannot be read.
func completeFrom(list func(context.Context, *storage.DB) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) (offered []string, _ cobra.ShellCompDirective) {
		ctx := cmp.Or(cmd.Context(), context.Background())
		_ = withDatabase(ctx, typedDatabase(ctx, cmd, args), func(db *storage.DB) error {
			all, err := list(ctx, db)
			for _, word := range all {
				if strings.HasPrefix(strings.ToLower(word), strings.ToLower(typed)) {
					offered = append(offered, clean(word))
				}
			}
			return err
		})
		if len(offered) == 0 && len(args) == 0 {
			return nil, cobra.ShellCompDirectiveDefault // SOURCE
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

// typedDatabase returns the database that --db names, else that of the first argument; empty if neither is given.
func typedDatabase(ctx context.Context, cmd *cobra.Command, args []string) string {
	value := cmd.Flag("db").Value
	if several, ok := value.(pflag.SliceValue); ok {
		return strings.Join(several.GetSlice()[:min(1, len(several.GetSlice()))], "")
	}
	if value.String() == "" && len(args) > 0 {
		path, _ := runOf(ctx, args[0])
		return path
	}
	return value.String()
}

// listThreads lists the threads, each with its title as the description.
func listThreads(ctx context.Context, db *storage.DB) (words []string, err error) {
	threads, err := db.Threads.All(ctx)
	for _, t := range threads {
		words = append(words, fmt.Sprintf("%d\t%s", t.ID, shorten(t.Title, 60)))
	}
	return words, err
}

// listPoints lists the ends of the chapters, each with its title as the description. Shells break words at spaces and
// quotation marks, so a chapter that only its title names is listed by its thread.
func listPoints(ctx context.Context, db *storage.DB) (words []string, err error) {
	chapters, err := view.At(db, view.Moment{}).Chapters(ctx)
	for i := range chapters {
		point := chapters.Point(i)
		if strings.ContainsAny(point.Name, "\" ") {
			point = view.Point{Kind: view.PointThread, ID: chapters[i].ID}
		}
		words = append(words, fmt.Sprintf("%s\t%s", point, shorten(chapters[i].Title, 60)))
	}
	return words, err
}

// listChapters lists the names of the chapters. A shell would break those that are titles.
func listChapters(ctx context.Context, db *storage.DB) (words []string, err error) {
	chapters, err := view.At(db, view.Moment{}).Chapters(ctx)
	for i := range chapters {
		name := chapters.Name(i)
		if strings.ContainsAny(name, "\" ") {
			name = fmt.Sprintf("#%d", i+1)
		}
		words = append(words, fmt.Sprintf("%s\t%s", name, shorten(chapters[i].Title, 60)))
	}
	return words, err
}

// listTerms lists the terms of the live entries.
func listTerms(ctx context.Context, db *storage.DB) (words []string, err error) {
	for e, err := range db.Glossary.All(ctx) {
		if err != nil {
			return nil, err
		}
		if e.Status.Live() {
			words = append(words, oneLine(e.Name()))
		}
	}
	return words, nil
}

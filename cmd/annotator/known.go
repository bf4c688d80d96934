package main

import (
	"context"
	"slices"
	"strings"

	"annotator"
	"annotator/policy"
	"annotator/storage"
	"annotator/tools"
)

// An answer that is empty must not come of a slip of the hand: what a flag narrows an answer to has to be there. The checks here
// take 0 and "" for flags that were not given.

func knownThread(ctx context.Context, db *storage.DB, id int64) error {
	if id == 0 {
		return nil
	}
	_, err := db.Threads.LastScene(ctx, id)
	return err
}

func knownScene(ctx context.Context, db *storage.DB, n int) error {
	if n == 0 {
		return nil
	}
	_, err := db.Scenes.Get(ctx, n)
	if annotator.KindOf(err) == annotator.NotFound {
		return annotator.Errorf(annotator.NotFound, "the story has no scene %d", n).WithAdvice("`annotator status` tells how many scenes it has")
	}
	return err
}

func knownTurn(ctx context.Context, db *storage.DB, turn int64) error {
	if turn == 0 {
		return nil
	}
	_, err := db.Scenes.OfTurn(ctx, turn)
	if annotator.KindOf(err) == annotator.NotFound {
		return annotator.Errorf(annotator.NotFound, "there is no turn %d in %s", turn, db.Path()).WithAdvice("`annotator memory raw --list` names them")
	}
	return err
}

// knownTool is asked when nothing was found: a model may call tools that there are not, and these calls can be found, too.
func knownTool(name string) error {
	names := []string{policy.SelectIntent}
	for _, tool := range tools.All() {
		names = append(names, tool.Name)
	}
	if name == "" || slices.Contains(names, name) {
		return nil
	}
	err := annotator.Errorf(annotator.NotFound, "there is no tool %q, and nobody has called one of that name", name)
	if near := nearest(name, names); near != "" {
		return err.WithAdvice("did you mean %s?", near)
	}
	return err.WithAdvice("the tools are %s", strings.Join(names, ", "))
}

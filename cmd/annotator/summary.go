package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"annotator"
	"annotator/storage"
)

// foremost is how many entries a summary shows.
const foremost = 8

// summarise tells at the end of a run what it has brought, and what to do with it. A quiet run names its database only.
func (o *runOptions) summarise(ctx context.Context, db *storage.DB, took time.Duration) error {
	if o.quiet {
		_, err := fmt.Fprintln(o.out, db.Path())
		return err
	}
	run, err := db.Run(ctx)
	if err != nil {
		return err
	}
	entries, err := db.Glossary().Foremost(ctx, foremost)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.out, "%s: %s\n", oneLine(db.Path()), shortened(run.Corpus.Title, 80))
	quarantined := ""
	if run.Quarantined > 0 {
		quarantined = fmt.Sprintf(", %d quarantined", run.Quarantined)
	}
	fmt.Fprintf(o.out, "%d of %s read%s, %s, %s, %s, %s\n", run.Recorded, count(run.Corpus.Scenes, "scene"), quarantined,
		count(run.Entries, "entry"), count(run.Calls, "call"), tokens(run.Usage), span(took))
	if run.Corpus.Scenes == 0 {
		fmt.Fprintf(o.out, "no post is tagged %s, so there is no story to read\n", annotator.TagStory)
	}
	path := quoted(db.Path())
	if len(entries) == 0 {
		if run.Recorded > 0 {
			_, err = fmt.Fprintf(o.out, "no entry was made: `annotator audit --db %s` shows which tools the model called, `annotator doctor` whether it can\n", path)
		}
		return err
	}
	fmt.Fprintln(o.out)
	if err := o.listEntries(entries); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.out, "\nnext:\n  annotator search --db %s %s\n  annotator export --db %s --format json -o %s\n",
		path, quoted(oneLine(entries[0].Term)), path, quoted(strings.TrimSuffix(db.Path(), ".db")+".json"))
	return err
}

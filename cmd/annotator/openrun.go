package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"annotator"
	"annotator/corpus"
	"annotator/model/offline"
	"annotator/storage"
)

func (o *runOptions) openCorpus(ctx context.Context, open *closers) (*corpus.DB, error) {
	var path string
	err := untilSignal(ctx, func(ctx context.Context) (err error) {
		path, err = o.prepareCorpus(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil { // the database records it
		return nil, err
	}
	db, err := corpus.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	open.add(db.Close)
	if err := db.CheckIDs(ctx); err != nil {
		return nil, err
	}
	if err := o.checkSeries(ctx, db); err != nil {
		return nil, err
	}
	return db, o.checkLanguage(ctx, db)
}

// checkLanguage prints a warning if the offline model cannot read the script of the first scene.
func (o *runOptions) checkLanguage(ctx context.Context, db *corpus.DB) error {
	if o.Endpoint != offlineEndpoint {
		return nil
	}
	for scene, err := range db.Scenes(ctx, 0) {
		if err != nil {
			return err
		}
		for i := range scene.Posts {
			if !offline.CanRead(scene.Posts[i].Body) {
				o.progress.say("offline model: it finds names by their capitals, which the script of this story does " +
					"not have: the codex will be empty; name a server with --endpoint")
				return nil
			}
		}
		break
	}
	return nil
}

func (o *runOptions) openDatabase(ctx context.Context, open *closers, story *corpus.DB) (*storage.DB, error) {
	path, err := o.prepareDatabase(ctx)
	if err != nil {
		return nil, err
	}
	title, err := story.Title(ctx)
	if err != nil {
		return nil, err
	}
	if err := o.continueBook(ctx, path, title); err != nil {
		return nil, err
	}
	created := !exists(path)
	db, err := o.openWriter(ctx, path)
	if err == nil {
		open.add(func() error {
			if created && o.misused && isEmpty(ctx, db) {
				return db.Discard()
			}
			return db.Close()
		})
		open.add(o.watchDatabase(ctx, db))
		err = o.checkUnjoined(ctx, db)
	}
	return db, err
}

// checkUnjoined refuses to read the scenes that a join has left.
func (o *runOptions) checkUnjoined(ctx context.Context, db *storage.DB) error {
	unjoined, err := db.Joins.Unjoined(ctx)
	if err != nil || !unjoined || o.isJoin {
		return err
	}
	return annotator.Errorf(annotator.Misused, "the parts of %s are not joined to the end", db.Path()).
		WithAdvice("run again with --parts, as before")
}

// isEmpty reports whether no scene of a database was ever begun.
func isEmpty(ctx context.Context, db *storage.DB) bool {
	run, err := db.Run.Status(context.WithoutCancel(ctx))
	return annotator.KindOf(err) == annotator.NotFound || err == nil && run.Turn == 0
}

// openWriter opens a database for writing.
func (a *app) openWriter(ctx context.Context, path string) (*storage.DB, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	m := newMigrationProgress(a, path)
	db, err := storage.OpenWriter(ctx, path, fmt.Sprintf("process %d on %s", os.Getpid(), host), a.now, m.step)
	m.end(err)
	return db, explainCorpus(ctx, path, err)
}

// closers are called in reverse order.
type closers []func() error

func (c *closers) add(end func() error) { *c = append(*c, end) }

func (c closers) close() error {
	var err error
	for _, end := range slices.Backward(c) {
		err = cmp.Or(err, end())
	}
	return err
}

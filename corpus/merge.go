package corpus

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"

	"annotator"
	"annotator/internal/sqlite"
)

// Changes says how a source differs from the corpus that was made of it. A chapter is a thread.
type Changes struct {
	Added       int `json:"added"`        // chapters that are new
	Changed     int `json:"changed"`      // chapters with new posts, or without former ones
	Removed     int `json:"removed"`      // chapters that the source no longer has
	NewPosts    int `json:"new_posts"`    // to be read
	FormerPosts int `json:"former_posts"` // that the source no longer has; they are kept
}

// Merge makes a corpus at path, which must be empty or missing, of a former one and a draft. The draft is the corpus of
// the source as it is now. A post with the same text keeps its row and its id. Other posts of the draft get ids that
// the former corpus does not have. Posts that the draft lacks stay, and are marked as former. So everything that refers
// to a post of the former corpus holds. The order of the story is that of the draft, with former posts where they were.
//
// Of a series, the draft is the newest book, and those before stay as they are.
//
// The error is annotator.Misused if the draft has so little of the former corpus that it must be another story.
func Merge(ctx context.Context, former, draft, path string) (Changes, error) {
	series, err := SeriesOf(ctx, former)
	if err != nil {
		return Changes{}, err
	}
	p, err := planMerge(ctx, former, draft, series)
	if err != nil {
		return Changes{}, err
	}
	if !p.sameStory() {
		return Changes{}, annotator.Errorf(annotator.Misused, "it has hardly any text of what was imported before").
			WithReason(annotator.ReasonOtherStory)
	}
	p.align()
	if err := copyTo(ctx, former, path); err != nil {
		return Changes{}, sqlite.Wrap(err, "copy the corpus %s", former)
	}
	if err := p.write(ctx, draft, path); err != nil {
		return Changes{}, sqlite.Wrap(err, "write the corpus in %s", filepath.Dir(path))
	}
	return p.changes, nil
}

// copyTo copies a corpus into an empty file.
func copyTo(ctx context.Context, from, to string) error {
	pool, err := sqlite.Open(ctx, from, sqlite.ReadOnly, 1)
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, `PRAGMA query_only = 0`)
	if err == nil {
		_, err = pool.ExecContext(ctx, `VACUUM INTO ?`, to)
	}
	return errors.Join(err, pool.Close())
}

// write applies the plan to a copy of the former corpus.
func (p *mergePlan) write(ctx context.Context, draft, path string) error {
	name, err := sqlite.ReadOnlyName(draft)
	if err != nil {
		return err
	}
	pool, err := sqlite.Open(ctx, path, sqlite.Create, 1)
	if err != nil {
		return err
	}
	// A corpus must be readable in a read-only folder.
	_, err = pool.ExecContext(ctx, `PRAGMA journal_mode = DELETE`)
	if err == nil {
		_, err = pool.ExecContext(ctx, `ATTACH ? AS draft`, name)
	}
	if err == nil {
		err = p.apply(ctx, pool)
	}
	return errors.Join(err, pool.Close())
}

func (p *mergePlan) apply(ctx context.Context, pool *sql.DB) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := p.insertPlan(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, applyPlan); err != nil {
		return err
	}
	if p.series.Book > 0 {
		if _, err := tx.ExecContext(ctx, `INSERT INTO main.meta VALUES (?, ?)
			ON CONFLICT DO UPDATE SET value = excluded.value`, metaSeries, annotator.EncodeJSON(p.series)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// insertPlan inserts the plan into temporary tables. A post without a number in the draft has none there.
func (p *mergePlan) insertPlan(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `
		CREATE TEMP TABLE plan_thread (id INTEGER PRIMARY KEY, title TEXT NOT NULL, ord INTEGER NOT NULL);
		CREATE TEMP TABLE plan (id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, draft INTEGER UNIQUE,
			new INTEGER NOT NULL, kept INTEGER NOT NULL, ord INTEGER NOT NULL);`)
	if err != nil {
		return err
	}
	thread, err := tx.PrepareContext(ctx, `INSERT INTO temp.plan_thread VALUES (?, ?, ?)`)
	if err != nil {
		return err
	}
	defer func() { _ = thread.Close() }()
	post, err := tx.PrepareContext(ctx, `INSERT INTO temp.plan VALUES (?, ?, iif(?, ?, NULL), ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer func() { _ = post.Close() }()
	for i := range p.result {
		t := &p.result[i]
		if _, err := thread.ExecContext(ctx, t.id, t.title, i+1); err != nil {
			return err
		}
		for k, m := range t.posts {
			if _, err := post.ExecContext(ctx, m.id, t.id, m.inDraft, m.draft, m.isNew, m.isKept, k+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// applyPlan applies the temporary tables. What the former corpus says of a post stays, but for its position in the
// source.
const applyPlan = `
	INSERT INTO main.thread (id, title, ord)
		SELECT id, title, ord FROM temp.plan_thread WHERE true
		ON CONFLICT (id) DO UPDATE SET ord = excluded.ord, title = coalesce(nullif(excluded.title, ''), title);
	UPDATE main.post SET ord = p.ord, former = p.draft IS NULL, (source_document, source_offset) =
		(SELECT d.source_document, d.source_offset FROM draft.post d WHERE d.id = p.draft)
		FROM temp.plan p WHERE p.id = post.id AND NOT p.new AND NOT p.kept;
	UPDATE main.post SET ord = p.ord FROM temp.plan p WHERE p.id = post.id AND p.kept;
	INSERT INTO main.post (thread_id, id, name, trip_code, subject, time, file_url, file_name, body, source_document,
			source_offset, source_id, ord)
		SELECT p.thread, p.id, d.name, d.trip_code, d.subject, d.time, d.file_url, d.file_name, d.body,
			d.source_document, d.source_offset, d.source_id, p.ord
		FROM temp.plan p JOIN draft.post d ON d.id = p.draft WHERE p.new;
	INSERT INTO main.tag SELECT p.id, t.name FROM temp.plan p JOIN draft.tag t ON t.post_id = p.draft WHERE true
		ON CONFLICT DO NOTHING;
	INSERT INTO main.link SELECT p.id, coalesce(q.id, l.link_to) FROM temp.plan p
		JOIN draft.link l ON l.link_from = p.draft
		LEFT JOIN temp.plan q ON q.draft = l.link_to WHERE true ON CONFLICT DO NOTHING;
	INSERT INTO main.meta SELECT key, value FROM draft.meta WHERE true
		ON CONFLICT DO UPDATE SET value = excluded.value;
	DROP INDEX IF EXISTS main.post_in_thread;
	CREATE INDEX main.post_in_thread ON post (thread_id, ord, id);
	CREATE INDEX IF NOT EXISTS main.post_former ON post (id) WHERE former = 1;`

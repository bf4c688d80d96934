package corpus

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"annotator"
	"annotator/internal/sqlite"
)

// metaSeries is the key of the series in table meta.
const metaSeries = "series"

// Series says which book of a series a corpus ends with. It has those before as they were.
type Series struct {
	Book   int    `json:"book"`   // its number, from 2; 0: the corpus is of one book
	After  string `json:"after"`  // the title of the book before
	Corpus string `json:"corpus"` // the name of the corpus of the book before, without its folder
	Last   int64  `json:"last"`   // the last thread of the book before
}

// Series returns the series of a corpus; the zero value if it is of one book.
func (db *DB) Series(ctx context.Context) (s Series, err error) {
	text, err := db.Meta(ctx, metaSeries)
	if err != nil || text == "" {
		return s, err
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, annotator.Errorf(annotator.Misused, "the corpus %s is damaged: its series is %.60q", db.path, text)
	}
	return s, nil
}

// SeriesOf returns the series of the corpus at a path.
func SeriesOf(ctx context.Context, path string) (Series, error) {
	db, err := Open(ctx, path)
	if err != nil {
		return Series{}, err
	}
	defer func() { _ = db.Close() }()
	return db.Series(ctx)
}

// Append makes a corpus at path, which must be empty or missing. It has the books of a corpus, and then a draft, which
// is the next book. The rows of the books before keep their ids and texts. The titles of all chapters begin with the
// number of their book. The error is annotator.Misused if no import has made the corpus.
func Append(ctx context.Context, before, draft, path string) error {
	s, err := nextBook(ctx, before)
	if err != nil {
		return err
	}
	p, err := planMerge(ctx, before, draft, s)
	if err != nil {
		return err
	}
	if s.Book == 2 {
		for i := range p.books {
			p.books[i].title = bookTitle(1, p.books[i].title)
		}
	}
	p.align()
	if err := copyTo(ctx, before, path); err != nil {
		return sqlite.Wrap(err, "copy the corpus %s", before)
	}
	if err := p.write(ctx, draft, path); err != nil {
		return sqlite.Wrap(err, "write the corpus in %s", filepath.Dir(path))
	}
	return nil
}

// nextBook returns the series of a corpus with another book.
func nextBook(ctx context.Context, before string) (s Series, err error) {
	db, err := Open(ctx, before)
	if err != nil {
		return s, err
	}
	defer func() { _ = db.Close() }()
	if imported, err := db.Meta(ctx, MetaOptions); err != nil || imported == "" {
		if err == nil {
			err = annotator.Errorf(annotator.Misused, "%s was not made by an import, so no book is added to it", before)
		}
		return s, err
	}
	if s, err = db.Series(ctx); err != nil {
		return s, err
	}
	threads, err := db.Threads(ctx)
	if err != nil {
		return s, err
	}
	if len(threads) == 0 {
		return s, annotator.Errorf(annotator.Misused, "%s has no chapter", before)
	}
	title, err := db.Title(ctx)
	return Series{
		Book: max(s.Book, 1) + 1, After: title, Corpus: filepath.Base(before), Last: threads[len(threads)-1].ID,
	}, err
}

// bookTitle returns the title of a chapter of a book.
func bookTitle(book int, title string) string {
	text := fmt.Sprintf("Book %d", book)
	if title != "" {
		text += ", " + title
	}
	return text
}

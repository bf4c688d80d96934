package corpus

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"annotator"
	"annotator/internal/atomicfile"
)

// metaPart is the key of the part in table meta.
const metaPart = "part"

// Part says which part of a story a corpus has.
type Part struct {
	Number  int     `json:"number"`         // from 1; 0: the corpus is no part
	Of      int     `json:"of"`             // how many parts there are
	Story   string  `json:"story"`          // a hash of the whole story
	Seed    string  `json:"seed,omitempty"` // a hash of the entries of a person that its run begins with; empty: none
	Threads []int64 `json:"threads"`
}

// Cut cuts a story at chapters into contiguous parts of about as many words each, given the words of its chapters. It
// returns the number of chapters of each part. No part is empty as long as there are as many chapters as parts.
func Cut(words []int, parts int) []int {
	before := make([]int, len(words)+1)
	for i, n := range words {
		before[i+1] = before[i] + n
	}
	cut, first := make([]int, 0, parts), 0
	for k := 1; k <= parts; k++ {
		last := len(words) - (parts - k) // each later part has a chapter
		end := min(first+1, last)
		ideal := before[len(words)] * k / parts
		for end < last && (k == parts || distance(before[end+1], ideal) <= distance(before[end], ideal)) {
			end++
		}
		cut, first = append(cut, end-first), end
	}
	return cut
}

func distance(a, b int) int { return max(a-b, b-a) }

// Part returns which part of a story the corpus has; the zero value if it has all.
func (db *DB) Part(ctx context.Context) (p Part, err error) {
	text, err := db.Meta(ctx, metaPart)
	if err != nil || text == "" {
		return p, err
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, annotator.Errorf(annotator.Misused, "the corpus %s is damaged: its part is %.60q", db.path, text)
	}
	return p, nil
}

// Extract makes a corpus at path of the threads of a part, in the story's order. Threads and posts keep their ids and
// texts. Text that the source no longer has is left out. There must be no file at path.
func (db *DB) Extract(ctx context.Context, path string, part Part) (err error) {
	draft, err := atomicfile.Create(path)
	if err != nil {
		return annotator.Errorf(annotator.Misused, "make %s: %w", path, atomicfile.Cause(err))
	}
	defer draft.Discard()
	w, err := Create(ctx, draft.Path)
	if err != nil {
		return err
	}
	if err := db.extract(ctx, w, part); err != nil {
		_ = w.Abort()
		return err
	}
	return cmp.Or(w.Close(ctx), draft.CommitNew())
}

func (db *DB) extract(ctx context.Context, w *Writer, part Part) error {
	title, err := db.Title(ctx)
	if err != nil {
		return err
	}
	author, err := db.Meta(ctx, MetaAuthor)
	if err != nil {
		return err
	}
	for key, value := range map[string]string{
		MetaTitle: title, MetaAuthor: author, metaPart: annotator.EncodeJSON(part),
	} {
		if err := w.Meta(ctx, key, value); err != nil {
			return err
		}
	}
	all, err := db.Threads(ctx)
	if err != nil {
		return err
	}
	threads := slices.DeleteFunc(all, func(t annotator.Thread) bool { return !slices.Contains(part.Threads, t.ID) })
	for i := range threads {
		if err := w.Thread(ctx, threads[i].ID, threads[i].Title); err != nil {
			return err
		}
		if err := w.exec(ctx, `UPDATE thread SET ord = ? WHERE id = ?`, i+1, threads[i].ID); err != nil {
			return err
		}
	}
	rank := 0
	for post, err := range db.walk(ctx, threads) {
		if err != nil {
			return err
		}
		if post.Former || !slices.Contains(part.Threads, post.Thread) {
			continue
		}
		if _, err := w.Post(ctx, post, File{}, nil); err != nil {
			return err
		}
		rank++
		if err := w.exec(ctx, `UPDATE post SET ord = ? WHERE id = ?`, rank, post.ID); err != nil {
			return err
		}
	}
	return nil
}

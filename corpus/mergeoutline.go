package corpus

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
)

// outlinePost is what is compared of a post.
type outlinePost struct {
	id     int64
	key    [16]byte // the same for the same text, and the same number in the source
	former bool
}

// outlineThread is what is compared of a thread.
type outlineThread struct {
	id       int64
	title    string
	numbered bool // the source numbers its posts
	posts    []outlinePost
}

// outline reads a corpus in story order. It reports each sentence with the index of its thread. Those of former posts
// count.
func outline(ctx context.Context, path string, each func(thread int, sentence uint64, size int)) ([]outlineThread,
	error,
) {
	db, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	found, err := db.outline(ctx, each)
	return found, errors.Join(err, db.Close())
}

func (db *DB) outline(ctx context.Context, each func(thread int, sentence uint64, size int)) ([]outlineThread, error) {
	threads, err := db.Threads(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]outlineThread, len(threads))
	for i := range threads {
		t := &found[i]
		t.id, t.title = threads[i].ID, threads[i].Title
		numbers, err := db.sourceIDs(ctx, t.id)
		if err != nil {
			return nil, err
		}
		t.numbered = len(numbers) > 0
		for post, err := range db.posts(ctx, "", `WHERE p.thread_id = ?1 ORDER BY KEY, p.id`, t.id) {
			if err != nil {
				return nil, err
			}
			t.posts = append(t.posts, outlinePost{post.ID, postKey(numbers[post.ID], post.Body), post.Former})
			for sentence := range strings.FieldsFuncSeq(post.Body, endsSentence) {
				if sentence = strings.TrimSpace(sentence); len(sentence) >= minSentence {
					sum := sha256.Sum256([]byte(sentence))
					each(i, binary.BigEndian.Uint64(sum[:]), len(sentence))
				}
			}
		}
	}
	return found, nil
}

// postKey returns the key of a post with a number in its source; 0 for none.
func postKey(number int64, body string) (key [16]byte) {
	h := sha256.New()
	_ = binary.Write(h, binary.BigEndian, number)
	h.Write([]byte(body))
	copy(key[:], h.Sum(nil))
	return key
}

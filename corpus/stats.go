package corpus

import (
	"context"

	"annotator/internal/sqlite"
)

// Stats counts the contents of a corpus.
type Stats struct {
	Threads    int `json:"threads"`
	Scenes     int `json:"scenes"`
	Posts      int `json:"posts"`       // by any author
	StoryPosts int `json:"story_posts"` // those in scenes
	Words      int `json:"words"`       // in scenes
}

// Stats counts the contents of the corpus. It reads all of it.
func (db *DB) Stats(ctx context.Context) (Stats, error) {
	var s Stats
	err := db.pool.QueryRowContext(ctx, `SELECT count(*) FROM post`).Scan(&s.Posts)
	if err != nil {
		return s, sqlite.Wrap(err, "count the posts of %s", db.path)
	}
	threads, err := db.Threads(ctx)
	if err != nil {
		return s, err
	}
	s.Threads = len(threads)
	for scene, err := range db.Scenes(ctx, DefaultMaxBytes) {
		if err != nil {
			return s, err
		}
		s.Scenes++
		s.StoryPosts += len(scene.Posts)
		s.Words += scene.Words()
	}
	return s, nil
}

package corpus

import (
	"context"

	"annotator/internal/sqlite"
)

// Stats counts the contents of a corpus.
type Stats struct {
	Threads    int `json:"threads"`       // with scenes
	Empty      int `json:"empty_threads"` // without scenes
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
	last := int64(0)
	for scene, err := range db.Scenes(ctx, DefaultMaxBytes) {
		if err != nil {
			return s, err
		}
		s.Scenes++
		if scene.Thread.ID != last {
			s.Threads, last = s.Threads+1, scene.Thread.ID
		}
		s.StoryPosts += len(scene.Posts)
		s.Words += scene.Words()
	}
	s.Empty = len(threads) - s.Threads
	return s, nil
}

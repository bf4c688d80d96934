package corpus

import "time"

// SetViewTime sets the time limit of a query of views for its first row.
func SetViewTime(db *DB, limit time.Duration) { db.pool.limit = limit }

// IsMechanical reports whether a text has nothing of a story.
func IsMechanical(text string) bool { return isMechanical(text) }

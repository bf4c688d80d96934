package corpus

import "time"

// SetViewTime sets how long a query of views may take until its first row.
func SetViewTime(db *DB, limit time.Duration) { db.pool.limit = limit }

package storage_test

import (
	"testing"
	"time"

	"annotator/storage"
)

// TestSceneTime: the estimate is the mean of the newest scenes; a pause between two runs counts little.
func TestSceneTime(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_700_000_000, 0)
	ends := func(seconds ...int) (list []time.Time) {
		at := start
		for _, s := range seconds {
			list = append(list, at)
			at = at.Add(-time.Duration(s) * time.Second)
		}
		return append(list, at)
	}
	for _, c := range []struct {
		ends []time.Time
		want time.Duration
	}{
		{nil, 0},
		{ends(), 0},
		{ends(4), 4 * time.Second},
		{ends(2, 2, 8), 4 * time.Second},
		{ends(2, 2, 24*3600, 2), 4 * time.Second},
		{ends(3, -1, 3), 3 * time.Second},
	} {
		if got := storage.SceneTime(c.ends); got != c.want {
			t.Errorf("%v: %v, want %v", c.ends, got, c.want)
		}
	}
}

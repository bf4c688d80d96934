package corpus

import (
	"slices"
	"sync"

	"annotator"
)

// maxRecent is how many bytes of text are kept of the scenes that were read last.
const maxRecent = 1 << 20

// recent are the scenes that were read last. A run reads its newest scenes again at each end of a thread.
type recent struct {
	lock   sync.Mutex
	scenes map[int64][]annotator.Post // by their first post
	order  []int64                    // the oldest first
	bytes  int
}

// find returns the posts of a thread with the given ids, if they are a scene that is kept.
func (r *recent) find(thread int64, ids []int64) ([]annotator.Post, bool) {
	if len(ids) == 0 {
		return nil, false
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	posts := r.scenes[ids[0]]
	same := slices.EqualFunc(posts, ids, func(p annotator.Post, id int64) bool {
		return p.ID == id && p.Thread == thread
	})
	return slices.Clone(posts), same
}

// keep keeps a scene, and drops the oldest ones for which there is no room then.
func (r *recent) keep(posts []annotator.Post) {
	size := sizeOf(posts)
	if len(posts) == 0 || size > maxRecent {
		return
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	first := posts[0].ID
	if _, known := r.scenes[first]; known {
		return
	}
	if r.scenes == nil {
		r.scenes = map[int64][]annotator.Post{}
	}
	r.scenes[first], r.order, r.bytes = slices.Clone(posts), append(r.order, first), r.bytes+size
	for ; r.bytes > maxRecent; r.order = r.order[1:] {
		oldest := r.order[0]
		r.bytes -= sizeOf(r.scenes[oldest])
		delete(r.scenes, oldest)
	}
}

func sizeOf(posts []annotator.Post) (bytes int) {
	for i := range posts {
		bytes += len(posts[i].Body)
	}
	return bytes
}

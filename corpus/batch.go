package corpus

import (
	"cmp"
	"slices"

	"annotator"
)

// batcher groups posts in story order into scenes. It returns a scene when it is known whether another one follows in
// the thread.
type batcher struct {
	threads map[int64]annotator.Thread
	limit   int // bytes of bodies in a scene

	entered bool // thread is set
	thread  annotator.Thread
	index   int // of the next scene in the thread
	n       int // of the newest scene, over the story
	scene   *annotator.Scene
	closed  bool // the scene is complete
	bytes   int  // of bodies in the scene
}

func newBatcher(threads []annotator.Thread, maxBytes int) *batcher {
	b := &batcher{
		threads: make(map[int64]annotator.Thread, len(threads)),
		limit:   cmp.Or(max(maxBytes, 0), DefaultMaxBytes),
	}
	for _, t := range threads {
		b.threads[t.ID] = t
	}
	return b
}

// add adds the next post. It returns the previous scene if the post shows that it is complete, else nil.
func (b *batcher) add(p *annotator.Post) *annotator.Scene {
	var done *annotator.Scene
	if !b.entered || p.Thread != b.thread.ID {
		done = b.finish()
		b.thread = b.threads[p.Thread]
		b.thread.ID = p.Thread
		b.index, b.entered = 0, true
	}
	if !slices.Contains(p.Tags, annotator.TagStory) {
		b.closed = true
		return done
	}
	if b.scene != nil && (b.closed || b.full(p) || slices.Contains(p.Tags, annotator.TagSceneStart)) {
		done, b.scene = b.scene, nil
	}
	if b.scene == nil {
		b.n++
		b.scene = &annotator.Scene{N: b.n, Thread: b.thread, Index: b.index, Opens: b.index == 0}
		b.index++
		b.bytes, b.closed = 0, false
	}
	b.scene.Posts = append(b.scene.Posts, *p)
	b.bytes += len(p.Body)
	return done
}

// finish ends the thread, and returns its last scene, or nil if it has none.
func (b *batcher) finish() *annotator.Scene {
	last := b.scene
	b.scene = nil
	if last != nil {
		last.Ends = true
	}
	return last
}

// full reports whether a post would exceed the limits of the scene.
func (b *batcher) full(p *annotator.Post) bool {
	return b.bytes+len(p.Body) > b.limit || len(b.scene.Posts) >= annotator.MaxScenePosts
}

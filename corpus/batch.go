package corpus

import (
	"cmp"
	"slices"

	"annotator"
)

// batcher turns posts in story order into scenes. It returns a scene when it knows whether another one follows in the
// thread, and holds at most two.
type batcher struct {
	threads map[int64]annotator.Thread
	limit   int // bytes of bodies in a scene

	entered bool // thread is set
	thread  annotator.Thread
	index   int // of the next scene within the thread
	n       int // of the newest scene, over the story
	held    *annotator.Scene
	open    *annotator.Scene
	bytes   int // of bodies in the open scene
}

func newBatcher(threads []annotator.Thread, maxBytes int) *batcher {
	b := &batcher{threads: make(map[int64]annotator.Thread, len(threads)), limit: cmp.Or(max(maxBytes, 0), DefaultMaxBytes)}
	for _, t := range threads {
		b.threads[t.ID] = t
	}
	return b
}

// add takes the next post. It returns a scene that this post completes, or nil.
func (b *batcher) add(p *annotator.Post) *annotator.Scene {
	var done *annotator.Scene
	if !b.entered || p.Thread != b.thread.ID {
		done = b.finish()
		b.thread = b.threads[p.Thread]
		b.thread.ID = p.Thread
		b.index, b.entered = 0, true
	}
	story := slices.Contains(p.Tags, annotator.TagStory)
	if b.open != nil && (!story || b.full(p) || slices.Contains(p.Tags, annotator.TagSceneStart)) {
		b.held, b.open = b.open, nil
	}
	if !story {
		return done
	}
	if b.open == nil {
		if b.held != nil {
			done, b.held = b.held, nil
		}
		b.n++
		b.open = &annotator.Scene{N: b.n, Thread: b.thread, Index: b.index, Opens: b.index == 0}
		b.index++
		b.bytes = 0
	}
	b.open.Posts = append(b.open.Posts, *p)
	b.bytes += len(p.Body)
	return done
}

// finish ends the thread, and returns its last scene, or nil if that was returned before.
func (b *batcher) finish() *annotator.Scene {
	last := b.held
	if b.open != nil {
		last = b.open
	}
	b.held, b.open = nil, nil
	if last != nil {
		last.Ends = true
	}
	return last
}

// full reports whether a post would exceed the limits of the open scene.
func (b *batcher) full(p *annotator.Post) bool {
	return b.bytes+len(p.Body) > b.limit || len(b.open.Posts) >= annotator.MaxScenePosts
}

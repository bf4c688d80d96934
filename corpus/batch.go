package corpus

import (
	"cmp"
	"slices"

	"annotator"
)

// Listed returns the number of the scene in which a run has listed a post; 0 for none. It also returns whether the post
// is the last one of the scene.
type Listed = func(post int64) (scene int, last bool)

// batcher groups posts in story order into scenes. A new scene is ready when it is known whether another one follows in
// the thread.
type batcher struct {
	threads map[int64]annotator.Thread
	limit   int // bytes of bodies in a scene
	listed  Listed

	entered bool // thread is set
	thread  annotator.Thread
	index   int              // of the next scene in the thread
	scene   *annotator.Scene // a new one
	closed  bool             // the scene is complete
	bytes   int              // of bodies in the scene

	held    *annotator.Scene   // a listed scene that lacks posts; nil for none
	waiting []*annotator.Scene // new scenes between its posts, which come after it
	ready   []*annotator.Scene // in story order
}

func newBatcher(threads []annotator.Thread, maxBytes int, listed Listed) *batcher {
	b := &batcher{
		listed:  listed,
		threads: make(map[int64]annotator.Thread, len(threads)),
		limit:   cmp.Or(max(maxBytes, 0), DefaultMaxBytes),
	}
	for _, t := range threads {
		b.threads[t.ID] = t
	}
	return b
}

// add adds the next post.
func (b *batcher) add(p *annotator.Post) {
	if !b.entered || p.Thread != b.thread.ID {
		b.finish()
		b.thread = b.threads[p.Thread]
		b.thread.ID = p.Thread
		b.index, b.entered = 0, true
	}
	scene, last := b.listed(p.ID)
	switch {
	case scene != 0:
		b.addListed(p, scene, last)
	case p.Former: // nobody has read it
	case !slices.Contains(p.Tags, annotator.TagStory):
		b.closed = true
	default:
		b.addNew(p)
	}
}

// addListed adds a post of a scene that a run has listed.
func (b *batcher) addListed(p *annotator.Post, scene int, last bool) {
	if b.held == nil || b.held.N != scene {
		b.release()
		b.held = &annotator.Scene{N: scene, Thread: b.thread}
	}
	b.closed = true
	b.held.Posts = append(b.held.Posts, *p)
	if last {
		b.release()
	}
}

// release makes the listed scene ready, and the new scenes between its posts after it.
func (b *batcher) release() {
	b.endScene()
	if b.held != nil {
		b.ready = append(append(b.ready, b.held), b.waiting...)
		b.held, b.waiting = nil, nil
	}
}

// endScene ends the new scene, if there is one.
func (b *batcher) endScene() {
	switch {
	case b.scene == nil:
		return
	case b.held != nil:
		b.waiting = append(b.waiting, b.scene)
	default:
		b.ready = append(b.ready, b.scene)
	}
	b.scene = nil
}

// addNew adds a post of the story to the scene, or begins another.
func (b *batcher) addNew(p *annotator.Post) {
	if b.scene != nil && (b.closed || b.full(p) || slices.Contains(p.Tags, annotator.TagSceneStart)) {
		b.endScene()
	}
	if b.scene == nil {
		b.scene = &annotator.Scene{Thread: b.thread, Index: b.index, Opens: b.index == 0}
		b.index++
		b.bytes, b.closed = 0, false
	}
	b.scene.Posts = append(b.scene.Posts, *p)
	b.bytes += len(p.Body)
}

// finish ends the thread.
func (b *batcher) finish() {
	if b.scene != nil {
		b.scene.Ends = true
	}
	b.release()
}

// full reports whether a post would exceed the limits of the scene.
func (b *batcher) full(p *annotator.Post) bool {
	return b.bytes+len(p.Body) > b.limit || len(b.scene.Posts) >= annotator.MaxScenePosts
}

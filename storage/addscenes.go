package storage

import (
	"crypto/sha256"
	"slices"

	"annotator"
)

// BlockScenes is how many scenes of a thread a row of table mention_count counts at most: one bit each.
const BlockScenes = 60

// insertionStep is the most that a scene which is added between two others is after the one before. A scene that is
// added after it later then finds room.
const insertionStep annotator.Order = 1_000

// ordersBetween returns the orders of some new scenes after one and before another. An order of 0 means the beginning
// or the end of the story. The error is Halted if there is no room for them.
func ordersBetween(after, before annotator.Order, count int) ([]annotator.Order, error) {
	first, step := after, min(insertionStep, (before-after)/annotator.Order(count+1))
	switch {
	case count == 0:
		return nil, nil
	case before == 0:
		first, step = after-after%annotator.OrderStep, annotator.OrderStep
	case step < 1:
		return nil, annotator.Errorf(annotator.Halted,
			"there is no room for %d scenes between two of the orders %d and %d", count, after, before).
			WithAdvice("too many scenes were inserted there: begin another run with the whole story")
	}
	orders := make([]annotator.Order, count)
	for i := range orders {
		orders[i] = first + step*annotator.Order(i+1)
	}
	return orders, nil
}

// newScene is a scene that is to be added.
type newScene struct {
	thread annotator.Thread
	order  annotator.Order
	block  annotator.Order
	posts  []int64
	words  int
	hash   [sha256.Size]byte
}

// gap is a place between two scenes of the run, or at the beginning or the end, with what comes there.
type gap struct {
	after, before annotator.Order // 0 for none
	scenes        []newScene
}

func newSceneOf(s *annotator.Scene, hash [sha256.Size]byte) newScene {
	posts := make([]int64, len(s.Posts))
	for i := range s.Posts {
		posts[i] = s.Posts[i].ID
	}
	return newScene{thread: s.Thread, posts: posts, words: s.Words(), hash: hash}
}

// fillGap inserts the scenes of a gap, given the newest number, and returns the newest one then.
func (tx *tx) fillGap(g *gap, n int) int {
	orders, err := ordersBetween(g.after, g.before, len(g.scenes))
	if tx.fail(err); tx.err != nil {
		return n
	}
	for i := range g.scenes {
		g.scenes[i].order = orders[i]
	}
	setBlocks(g.scenes)
	for i := range g.scenes {
		n++
		tx.insertScene(n, &g.scenes[i])
	}
	return n
}

// setBlocks divides scenes into blocks: at most BlockScenes in a row, of one thread.
func setBlocks(scenes []newScene) {
	for len(scenes) > 0 {
		size := slices.IndexFunc(scenes, func(s newScene) bool { return s.thread.ID != scenes[0].thread.ID })
		if size < 0 {
			size = len(scenes)
		}
		size = min(size, BlockScenes)
		for i := range size {
			scenes[i].block = scenes[size-1].order
		}
		scenes = scenes[size:]
	}
}

// insertScene inserts a scene. Its thread may be completed already, and is not if it ends with the scene.
func (tx *tx) insertScene(n int, s *newScene) {
	const isLast = `excluded.ord > (SELECT ord FROM scene WHERE n = last_scene)`
	tx.exec(`INSERT INTO thread_state (thread_id, ord, title, first_scene, last_scene) VALUES (?1, ?2, ?3, ?4, ?4)
		ON CONFLICT (thread_id) DO UPDATE SET ord = min(ord, excluded.ord),
		  first_scene = iif(excluded.ord < ord, excluded.first_scene, first_scene),
		  last_scene = iif(`+isLast+`, excluded.last_scene, last_scene),
		  status = iif(status = 'completed' AND `+isLast+`, 'in_progress', status),
		  completed_at = iif(`+isLast+`, NULL, completed_at), summary_due = iif(`+isLast+`, 0, summary_due)`,
		s.thread.ID, s.order, s.thread.Title, n)
	tx.exec(`INSERT INTO scene (n, ord, block, thread_id, posts, words, hash) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		n, s.order, s.block, s.thread.ID, List(s.posts), s.words, s.hash[:])
	tx.exec(`INSERT INTO scene_post (post_id, place) SELECT value, ? * 1000000 + key FROM json_each(?) WHERE true
		ON CONFLICT DO UPDATE SET place = excluded.place`, s.order, List(s.posts)) // of a scene that is withdrawn
}

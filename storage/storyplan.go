package storage

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"iter"
	"slices"

	"annotator"
)

// Story is the corpus of a run, as the run lists it.
type Story interface {
	// Former returns the posts whose text the source no longer has.
	Former(ctx context.Context) ([]int64, error)

	// ScenesOf yields the scenes that a run has listed, by their numbers, and the new ones, in story order. Listed
	// returns the scene of a post, and whether it is the last post of it; 0 for a post that no scene has.
	ScenesOf(ctx context.Context, maxBytes int,
		listed func(post int64) (scene int, last bool)) iter.Seq2[*annotator.Scene, error]
}

// withdrawn are the scenes whose text the source no longer has and nobody has read.
const withdrawn = `(SELECT n FROM scene WHERE state = 'withdrawn')`

// listedScene is a scene of the run that is compared with the story.
type listedScene struct {
	n         int
	order     annotator.Order
	state     annotator.SceneState
	posts     []int64
	hash      [sha256.Size]byte
	withdrawn bool
	found     bool // in the story
}

func scanListedScene(rows *sql.Rows, s *listedScene) error {
	var posts string
	var hash []byte
	err := rows.Scan(&s.n, &s.order, &s.state, &posts, &hash)
	if err != nil {
		return err
	}
	copy(s.hash[:], hash)
	return json.Unmarshal([]byte(posts), &s.posts)
}

// scenePost is the scene of a post.
type scenePost struct {
	n    int
	last bool // it is the last post of the scene
}

// storyPlan compares the scenes of a run with its story.
type storyPlan struct {
	scenes map[int]*listedScene
	posts  map[int64]scenePost
	former map[int64]bool // posts whose text the source no longer has
	gaps   []gap
	titles map[int64]string // of the threads
}

// readPlan reads the scenes of the run. A pending scene with a post whose text is gone is withdrawn: it will not be
// read. What is left of its posts is new.
func readPlan(ctx context.Context, q querier, former []int64) (*storyPlan, error) {
	p := &storyPlan{
		scenes: map[int]*listedScene{}, posts: map[int64]scenePost{}, former: map[int64]bool{}, gaps: []gap{{}},
		titles: map[int64]string{},
	}
	for _, id := range former {
		p.former[id] = true
	}
	scenes, err := collect(ctx, q, scanListedScene, `SELECT n, ord, state, posts, hash FROM scene ORDER BY ord`)
	if err != nil {
		return nil, err
	}
	for i := range scenes {
		s := &scenes[i]
		p.scenes[s.n] = s
		isFormer := func(id int64) bool { return p.former[id] }
		s.withdrawn = s.state == annotator.SceneWithdrawn ||
			s.state == annotator.ScenePending && slices.ContainsFunc(s.posts, isFormer)
		for k, id := range s.posts {
			if !s.withdrawn {
				p.posts[id] = scenePost{s.n, k == len(s.posts)-1}
			} else if _, read := p.posts[id]; !read && p.former[id] {
				p.posts[id] = scenePost{s.n, true} // it says where the scene was
			}
		}
	}
	return p, nil
}

func (p *storyPlan) listed(post int64) (scene int, last bool) {
	in := p.posts[post]
	return in.n, in.last
}

// compare finds the new scenes of a story, each between the same scenes as there. The error is annotator.Misused if a
// scene of the run has another text, is missing or is elsewhere.
func (p *storyPlan) compare(scenes iter.Seq2[*annotator.Scene, error]) error {
	for s, err := range scenes {
		if err != nil {
			return err
		}
		p.titles[s.Thread.ID] = s.Thread.Title
		last := &p.gaps[len(p.gaps)-1]
		known := p.scenes[s.N]
		switch {
		case known == nil:
			last.scenes = append(last.scenes, newSceneOf(s, s.Hash()))
			continue
		case !known.withdrawn && (known.found || s.Hash() != known.hash), known.order < last.after:
			return p.differs(known)
		}
		known.found = true
		if known.order > last.after {
			last.before = known.order
			p.gaps = append(p.gaps, gap{after: known.order})
		}
	}
	var missing *listedScene
	for _, s := range p.scenes {
		if !s.withdrawn && !s.found && (missing == nil || s.order < missing.order) {
			missing = s
		}
	}
	if missing != nil {
		return p.differs(missing)
	}
	return nil
}

// differs returns the error of a scene that the story does not have as it was listed.
func (p *storyPlan) differs(s *listedScene) error {
	which := "which was read"
	if s.state == annotator.ScenePending {
		which = "which is not read yet"
	}
	return annotator.Errorf(annotator.Misused, "the corpus has changed: the text of scene %d, %s, differs or is gone",
		s.n, which).WithReason(annotator.ReasonStoryChanged)
}

// compareStory compares the scenes of a run with its story.
func compareStory(ctx context.Context, q querier, story Story) (*storyPlan, error) {
	former, err := story.Former(ctx)
	if err != nil {
		return nil, err
	}
	p, err := readPlan(ctx, q, former)
	if err != nil {
		return nil, err
	}
	var maxBytes int
	if err := q.QueryRowContext(ctx, `SELECT scene_bytes FROM run_state`).Scan(&maxBytes); err != nil {
		return nil, err
	}
	return p, p.compare(story.ScenesOf(ctx, maxBytes, p.listed))
}

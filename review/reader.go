package review

import (
	"context"
	"maps"
	"slices"

	"annotator"
	"annotator/context/mention"
	"annotator/curator"
	"annotator/view"
)

// Story reads the text of a story.
type Story interface {
	// Scene returns the posts of a scene, in the order of their ids as given.
	Scene(ctx context.Context, thread int64, posts []int64) ([]annotator.Post, error)
}

// Bounds of what is looked at. A codex of any size is reviewed by what most rests on.
const (
	maxEntries  = 2000   // those with the most mentions
	maxScenes   = 1000   // whose texts are read, the newest
	usageScenes = 200    // by which common words are known, the first
	sceneBytes  = 20_000 // of each
)

// reader is what suggestions are computed from.
type reader struct {
	entries  []*annotator.Entry // live ones, by id
	byID     map[int64]*annotator.Entry
	mentions map[int64]int
	index    *mention.Index
	usage    *mention.Usage
	scenes   []scene          // in story order
	sceneOf  map[int64]*scene // by post
	former   map[int64]bool   // posts whose text the source no longer has
	doubles  *curator.Doubles
	quoting  map[int64][]*annotator.Entry // by post
	told     map[int64]map[int64]bool     // entries that facts name which quote a post; of findMissing
	merged   map[int64]int64              // the newest entry that was merged into an entry
	left     int                          // live entries that were not looked at
}

// scene is a scene with its text, as far as the limit.
type scene struct {
	order annotator.Order
	posts []annotator.Post
	text  string
}

// read reads what suggestions are computed from. Without a story, there are no scenes.
func read(ctx context.Context, v *view.View, story Story) (*reader, error) {
	r := &reader{byID: map[int64]*annotator.Entry{}, mentions: map[int64]int{}, index: mention.New()}
	names, err := v.Names(ctx)
	if err != nil {
		return nil, err
	}
	for id, list := range names {
		r.index.SetNames(id, list)
	}
	if err := r.readEntries(ctx, v, slices.Sorted(maps.Keys(names))); err != nil {
		return nil, err
	}
	if r.former, err = v.FormerPosts(ctx); err != nil {
		return nil, err
	}
	r.left = len(names) - len(r.entries)
	r.doubles = curator.NewDoubles(r.index)
	r.usage = mention.NewUsage()
	if story == nil {
		return r, nil
	}
	return r, r.readScenes(ctx, v, story)
}

// readEntries reads the live entries that the story mentions most, and the others if there are few.
func (r *reader) readEntries(ctx context.Context, v *view.View, live []int64) error {
	counts, err := v.MostMentioned(ctx, maxEntries)
	if err != nil {
		return err
	}
	var ids []int64
	for _, c := range counts {
		r.mentions[c.Entry] = c.Count
		ids = append(ids, c.Entry)
	}
	for _, id := range live {
		if len(ids) < maxEntries && r.mentions[id] == 0 {
			ids = append(ids, id)
		}
	}
	if r.merged, err = v.Merged(ctx); err != nil {
		return err
	}
	r.byID, err = v.EntriesByID(ctx, ids)
	slices.Sort(ids)
	for _, id := range ids {
		if e := r.byID[id]; e != nil && e.Status.Live() {
			r.entries = append(r.entries, e)
		}
	}
	r.quoting = map[int64][]*annotator.Entry{}
	for _, e := range r.entries {
		for post := range postsOf(e) {
			r.quoting[post] = append(r.quoting[post], e)
		}
	}
	return err
}

// readScenes reads the texts of the scenes.
func (r *reader) readScenes(ctx context.Context, v *view.View, story Story) error {
	threads, err := v.Threads(ctx)
	if err != nil {
		return err
	}
	var rows []annotator.SceneRow
	for i := range threads {
		list, err := v.Scenes(ctx, threads[i].ID)
		if err != nil {
			return err
		}
		rows = append(rows, list...)
	}
	rows = slices.DeleteFunc(rows, func(s annotator.SceneRow) bool {
		return s.State != annotator.SceneRecorded && s.State != annotator.SceneQuarantined
	})
	for i := range rows {
		isRead := i >= len(rows)-maxScenes
		if !isRead && i >= usageScenes {
			continue
		}
		posts, err := story.Scene(ctx, rows[i].Thread.ID, rows[i].Posts)
		if err != nil {
			return err
		}
		text := annotator.Bodies(posts)
		text = text[:min(len(text), sceneBytes)]
		if i < usageScenes {
			r.usage.Add(text)
		}
		if isRead {
			r.scenes = append(r.scenes, scene{rows[i].Order, posts, text})
		}
	}
	r.sceneOf = map[int64]*scene{}
	for i := range r.scenes {
		for k := range r.scenes[i].posts {
			r.sceneOf[r.scenes[i].posts[k].ID] = &r.scenes[i]
		}
	}
	return nil
}

// texts returns the texts of the scenes.
func (r *reader) texts() []string {
	texts := make([]string, len(r.scenes))
	for i := range r.scenes {
		texts[i] = r.scenes[i].text
	}
	return texts
}

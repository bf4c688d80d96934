package corpus_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"annotator"
	"annotator/corpus"
	"annotator/internal/sqlite"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawPosts generates posts of a few threads that overlap in time, with ids in random order.
func drawPosts(t *rapid.T) []annotator.Post {
	n := rapid.IntRange(0, 30).Draw(t, "posts")
	ids := rapid.SliceOfNDistinct(rapid.Int64Range(-5, 60), n, n, rapid.ID).Draw(t, "ids")
	posts := make([]annotator.Post, n)
	for i := range posts {
		var tags []string
		if rapid.IntRange(0, 3).Draw(t, "story") > 0 {
			tags = append(tags, annotator.TagStory)
		}
		if rapid.IntRange(0, 5).Draw(t, "start") == 0 {
			tags = append(tags, annotator.TagSceneStart)
		}
		posts[i] = annotator.Post{
			ID:     ids[i],
			Thread: rapid.Int64Range(0, 4).Draw(t, "thread"),
			Time:   rapid.Int64Range(-2, 6).Draw(t, "time"),
			Body:   rapid.StringMatching(`[a-z ]{0,8}`).Draw(t, "body"),
			Tags:   tags,
		}
	}
	return posts
}

// model is the specification of scenes: it sorts all posts and splits each thread by the rules.
func model(posts []annotator.Post, limit int) []annotator.Scene {
	threads := map[int64][]annotator.Post{}
	for _, p := range posts {
		threads[p.Thread] = append(threads[p.Thread], p)
	}
	var order []int64
	start := map[int64]int64{}
	for id, in := range threads {
		slices.SortFunc(in, func(a, b annotator.Post) int {
			return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.ID, b.ID))
		})
		order = append(order, id)
		start[id] = in[0].Time
		if i := slices.IndexFunc(in, func(p annotator.Post) bool { return p.ID == id }); i >= 0 {
			start[id] = in[i].Time
		}
	}
	slices.SortFunc(order, func(a, b int64) int { return cmp.Or(cmp.Compare(start[a], start[b]), cmp.Compare(a, b)) })
	var scenes []annotator.Scene
	for rank, id := range order {
		runs := modelRuns(threads[id], limit)
		for i, run := range runs {
			scenes = append(scenes, annotator.Scene{
				N: len(scenes) + 1, Thread: annotator.Thread{ID: id, Order: annotator.Order(rank + 1)},
				Index: i, Posts: run,
				Opens: i == 0, Ends: i == len(runs)-1,
			})
		}
	}
	return scenes
}

func modelRuns(posts []annotator.Post, limit int) [][]annotator.Post {
	var runs [][]annotator.Post
	joins, bytes := false, 0
	for _, p := range posts {
		if !slices.Contains(p.Tags, annotator.TagStory) {
			joins = false
			continue
		}
		if !joins || bytes+len(p.Body) > limit || slices.Contains(p.Tags, annotator.TagSceneStart) {
			runs, bytes = append(runs, nil), 0
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], p)
		joins, bytes = true, bytes+len(p.Body)
	}
	return runs
}

// Every corpus, with or without indexes, gives the scenes of the model.
func TestScenesAreTheModels(t *testing.T) {
	t.Parallel()
	for name, extra := range map[string]string{"without indexes": ``, "with indexes": goodIndexes} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := foreign(t, plainSchema, extra)
			writer, err := sqlite.Open(t.Context(), path, sqlite.ReadWrite, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer writer.Close()
			db := open(t, path)
			rapid.Check(t, func(rt *rapid.T) {
				posts := drawPosts(rt)
				limit := rapid.IntRange(1, 40).Draw(rt, "limit")
				fill(rt, writer, posts)
				want := model(posts, limit)
				compareScenes(rt, db, limit, want)
			})
		})
	}
}

func compareScenes(t *rapid.T, db *corpus.DB, limit int, want []annotator.Scene) {
	var got []annotator.Scene
	for s, err := range db.Scenes(t.Context(), limit) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, *s)
	}
	if diff := gocmp.Diff(want, got, gocmp.Transformer("", func(s []annotator.Scene) []annotator.Scene {
		return append([]annotator.Scene{}, s...)
	})); diff != "" {
		t.Fatal(diff)
	}
}

// fill replaces the content of a corpus.
func fill(t *rapid.T, db *sql.DB, posts []annotator.Post) {
	exec := func(query string, args ...any) {
		if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`PRAGMA synchronous = OFF`)
	exec(`BEGIN; DELETE FROM post; DELETE FROM tag`)
	for _, p := range posts {
		exec(`INSERT INTO post (thread_id, id, time, body) VALUES (?, ?, ?, ?)`, p.Thread, p.ID, p.Time, p.Body)
		for _, tag := range p.Tags {
			exec(`INSERT INTO tag VALUES (?, ?)`, p.ID, tag)
		}
	}
	exec(`COMMIT`)
}

// A point in the story is one number, which limits the posts of a scene.
func TestPlacesOfTheLongestScene(t *testing.T) {
	t.Parallel()
	last := annotator.PlaceAt(8_000_000*annotator.OrderStep, annotator.MaxScenePosts-1)
	if got := fmt.Sprint(last.Order(), last.Rank()); got != "8000000000000 999999" {
		t.Error(got)
	}
}

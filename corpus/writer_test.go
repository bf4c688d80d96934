package corpus_test

import (
	"path/filepath"
	"testing"

	"annotator"
	"annotator/corpus"

	"github.com/google/go-cmp/cmp"
)

func TestWriterMakesACorpus(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "made.corpus.db")
	w, err := corpus.Create(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	post := &annotator.Post{
		ID: 2, Thread: 2, Name: "N", Trip: "!t", Subject: "S", Time: 3, Body: "one two",
		Tags: []string{"a", "qm_post"},
	}
	added, err := w.Post(ctx, post, corpus.File{URL: "u"}, []int64{1, 1})
	if !added || err != nil {
		t.Errorf("added %v, %v", added, err)
	}
	if added, err = w.Post(ctx, &annotator.Post{ID: 2, Thread: 9, Body: "x", Tags: []string{"b"}}, corpus.File{},
		nil); added || err != nil {
		t.Errorf("added again: %v, %v", added, err)
	}
	for _, step := range []error{
		w.Thread(ctx, 2, "old"), w.Thread(ctx, 2, "T"),
		w.Meta(ctx, corpus.MetaTitle, "The Story"), w.Close(ctx),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	db := open(t, path)
	got, err := db.Post(ctx, 2)
	if diff := cmp.Diff(post, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if title, err := db.Title(ctx); title != "The Story" || err != nil {
		t.Errorf("title %q, %v", title, err)
	}
	stats, err := db.Stats(ctx)
	if diff := cmp.Diff(corpus.Stats{Threads: 1, Scenes: 1, Posts: 1, StoryPosts: 1, Words: 2}, stats); diff != "" ||
		err != nil {
		t.Error(diff, err)
	}
}

func TestAbortedWriterLeavesNoCorpus(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "made.corpus.db")
	w, err := corpus.Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if _, err := corpus.Open(t.Context(), path); annotator.KindOf(err) != annotator.Misused {
		t.Errorf("got %v", err)
	}
}

func TestTagStoryKeepsWhatIsTagged(t *testing.T) {
	t.Parallel()
	w, err := corpus.Create(t.Context(), filepath.Join(t.TempDir(), "made.corpus.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Abort() }()
	for id, tags := range map[int64][]string{1: nil, 2: {annotator.TagStory}} {
		if _, err := w.Post(t.Context(), &annotator.Post{ID: id, Thread: 1, Name: "QM", Tags: tags}, corpus.File{},
			nil); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := w.TagStory(t.Context(), corpus.StoryAuthorOptions{}); found.Posts != 0 || found.Anonymous != 0 ||
		err != nil {
		t.Errorf("%+v, %v", found, err)
	}
}

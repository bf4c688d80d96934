package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"annotator/fleet/store"
)

func TestPartOf(t *testing.T) {
	names := store.Parts("a book.epub", 12)
	for i, name := range names {
		if story, part, parts := store.PartOf(name); story != "a book.epub" || part != i+1 || parts != 12 {
			t.Errorf("%s is part %d of %d of %s", name, part, parts, story)
		}
	}
	if story, part, parts := store.PartOf("part2of3"); story != "part2of3" || part != 0 || parts != 0 {
		t.Errorf("a story's name is part %d of %d of %s", part, parts, story)
	}
}

// TestParts cuts a story, reads its parts and joins them. The number of parts can change until it is joined.
func TestParts(t *testing.T) {
	serveS3(t, sound)
	s, err := store.Open(t.Context(), "s3://fleet", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	take := func(name string) (*store.Lease, error) {
		lease, _, err := s.Acquire(t.Context(), name, "one")
		return lease, err
	}
	finish := func(name string, end func(*store.Lease) error) {
		t.Helper()
		lease, err := take(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := end(lease); err != nil {
			t.Fatal(err)
		}
	}
	done := func(l *store.Lease) error { return l.Finish(t.Context(), 0) }
	for _, parts := range []int{3, 3, 1, 2} {
		if err := s.Cut(t.Context(), "a", parts); err != nil {
			t.Fatalf("cut in %d: %v", parts, err)
		}
	}
	if stories, err := s.Stories(t.Context()); err != nil || len(stories) > 0 {
		t.Errorf("a story that is cut before it is added is listed: %q, %v", stories, err)
	}
	if err := s.Add(t.Context(), "a", []byte("text")); err != nil {
		t.Fatal(err)
	}
	names := store.Parts("a", 2)
	finish(names[0], done)
	finish(names[1], func(l *store.Lease) error { return l.Fail(t.Context(), "no chapters") })
	if _, err := take("a"); !errors.Is(err, store.ErrParts) {
		t.Errorf("with a part that has failed, a join is taken: %v", err)
	}
	if err := s.Release(t.Context(), names[1]); err != nil {
		t.Fatal(err)
	}
	finish(names[1], done)
	finish("a", func(l *store.Lease) error { return l.Release(t.Context()) })
	for _, parts := range []int{1, 5} {
		if err := s.Cut(t.Context(), "a", parts); !errors.Is(err, store.ErrBegun) {
			t.Errorf("a story whose join was begun is cut in %d: %v", parts, err)
		}
	}
	finish("a", done)
	if m, _, err := s.Read(t.Context(), "a"); err != nil || m.State != store.Done || m.Parts != 2 || m.Fence != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	if stories, err := s.Stories(t.Context()); err != nil || !slices.Equal(stories, []string{"a"}) {
		t.Errorf("the stories are %q, %v", stories, err)
	}
	if err := s.Cut(t.Context(), "../a", 2); err == nil {
		t.Error("a name that no story can have is cut")
	}
}

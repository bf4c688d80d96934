package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"annotator/fleet/store"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// serveS3 starts a server with the bucket "fleet", whose requests go through a filter, and points the SDK to it.
func serveS3(t *testing.T, filter func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("fleet"); err != nil {
		t.Fatal(err)
	}
	next := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { filter(w, r, next) }))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_CONFIG_FILE", "none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "none")
}

func sound(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) }

// without removes a header of each second request at most.
func without(header string, each int64) func(http.ResponseWriter, *http.Request, http.Handler) {
	var requests atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get(header) != "" && requests.Add(1)%each == 0 {
			r.Header.Del(header)
		}
		next.ServeHTTP(w, r)
	}
}

func TestProbe(t *testing.T) {
	for _, c := range []struct {
		name   string
		filter func(http.ResponseWriter, *http.Request, http.Handler)
		unfit  bool
	}{
		{"sound", sound, false},
		{"If-Match is ignored", without("If-Match", 1), true},
		{"If-None-Match is ignored", without("If-None-Match", 1), true},
		{"writers at the same time win with the same tag", without("If-Match", 7), true},
		{"writers at the same time win without an object", without("If-None-Match", 7), true},
		{"tags without quotes", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if tag := r.Header.Get("If-Match"); strings.Contains(tag, `"`) {
				http.Error(w, "a tag has no quotes", http.StatusBadRequest)
			} else {
				if tag != "" {
					r.Header.Set("If-Match", `"`+tag+`"`)
				}
				next.ServeHTTP(w, r)
			}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			serveS3(t, c.filter)
			s, err := store.Open(t.Context(), "s3://fleet/some/folder", time.Minute)
			if c.unfit != errors.Is(err, store.ErrUnfit) || c.unfit != (err != nil) {
				t.Fatalf("the probe says: %v", err)
			}
			if err == nil {
				if left, err := s.List(t.Context(), ""); err != nil || len(left) > 0 {
					t.Errorf("the probe leaves %v: %v", left, err)
				}
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"", "fleet", "s3://", "http://fleet/x", "s3:fleet"} {
		_, err := store.Open(t.Context(), address, time.Minute)
		if err == nil || !strings.Contains(err.Error(), "s3://") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestS3 goes once through all that the S3 client does. Each third answer to a write is lost: the SDK sends it again.
func TestS3(t *testing.T) {
	var writes atomic.Int64
	var lossy atomic.Bool
	serveS3(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPut && lossy.Load() && writes.Add(1)%3 == 0 {
			next.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
	ctx := t.Context()
	s, err := store.Open(ctx, "s3://fleet/x", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	lossy.Store(true)
	for _, name := range []string{"b.txt", "a story (1).epub"} {
		if err := s.Add(ctx, name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Add(ctx, "b.txt", []byte("other")); err == nil {
		t.Error("a story is replaced by another")
	}
	names, err := s.Stories(ctx)
	if err != nil || fmt.Sprint(names) != "[a story (1).epub b.txt]" {
		t.Errorf("stories are %q: %v", names, err)
	}
	lease, before, err := s.Acquire(ctx, "b.txt", "one")
	if err != nil || before.Version != 0 {
		t.Fatalf("%+v: %v", before, err)
	}
	if _, _, err := s.Acquire(ctx, "b.txt", "two"); !errors.Is(err, store.ErrHeld) {
		t.Errorf("a second worker: %v", err)
	}
	database := bytes.Repeat([]byte("page "), 1000)
	for scene := range 4 {
		if err := lease.Commit(ctx, append(database, byte(scene)), scene, 9); err != nil {
			t.Fatal(err)
		}
	}
	if err := lease.Release(ctx); err != nil {
		t.Fatal(err)
	}
	lease, before, err = s.Acquire(ctx, "b.txt", "two")
	if err != nil || before.Scene != 3 || before.Fence != 1 || lease.Manifest().Fence != 2 {
		t.Fatalf("%+v: %v", before, err)
	}
	if got, err := s.Database(ctx, &before); err != nil || !bytes.Equal(got, append(database, 3)) {
		t.Errorf("another database comes back: %v", err)
	}
	if err := s.Release(ctx, "b.txt"); err != nil { // by a person
		t.Fatal(err)
	}
	if err := lease.Commit(ctx, database, 5, 9); !errors.Is(err, store.ErrLost) || lease.Context().Err() == nil {
		t.Errorf("a commit without the lease: %v", err)
	}
	if m, _, err := s.Read(ctx, "b.txt"); err != nil || m.Scene != 3 {
		t.Errorf("the manifest is %+v: %v", m, err)
	}
	if err := s.Release(ctx, "other"); err == nil {
		t.Error("a story that was not begun is released")
	}
}

// Package store keeps stories in an object store, and who works on which.
//
// Each story has one manifest, which is only written under the condition that nobody else has written it. It names the
// newest copy of the story's database. Copies are immutable: their names have the fence of who made them, and a digest.
package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/klauspost/compress/zstd"
)

// Errors of a Bucket, and of what is built on it.
var (
	ErrMissing  = errors.New("not found in the store")
	ErrChanged  = errors.New("the condition of the write does not hold: another has written")
	ErrConflict = errors.New("another write of the same object is under way")
)

// Conditions of Bucket.Put. Any other value is a tag: the object must still have it.
const (
	Always = ""  // no condition
	Absent = "*" // there must be no such object
)

// Bucket is what is asked of an object store.
type Bucket interface {
	// Get returns an object and its tag, or ErrMissing.
	Get(ctx context.Context, key string) (data []byte, tag string, err error)
	// Put writes an object if the condition holds, and returns its tag. It fails with ErrChanged, or with ErrConflict
	// if that is not decided. After any other error the object may have been written.
	Put(ctx context.Context, key string, data []byte, condition string) (tag string, err error)
	// List returns the objects whose keys begin with a prefix.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Delete removes an object; that it is missing is no error.
	Delete(ctx context.Context, key string) error
}

// Object is an entry of a list.
type Object struct {
	Key     string
	Size    int64
	Changed time.Time // by the clock of the store
}

// State says what is to be done with a story.
type State string

// The states of a story.
const (
	Free   State = "free"   // a worker may take it at once
	Held   State = "held"   // a worker has it, as long as it renews its lease
	Done   State = "done"   // it was read to its end
	Failed State = "failed" // it was given up; store release makes it free
)

// Manifest is what the store knows of a story. It is the only object that is ever overwritten.
type Manifest struct {
	Version   int64         `json:"version"` // of the manifest: one more with each write
	Fence     int64         `json:"fence"`   // one more with each acquisition
	Token     string        `json:"token"`   // of this acquisition
	Owner     string        `json:"owner"`   // for people
	State     State         `json:"state"`
	TTL       time.Duration `json:"ttl_ns"`
	Expires   time.Time     `json:"expires"` // for people: no decision depends on it
	Scene     int           `json:"scene"`   // scenes that the copy has read
	Scenes    int           `json:"scenes"`  // of the story
	Copy      string        `json:"object,omitempty"`
	Digest    string        `json:"digest,omitempty"` // SHA-256 of the database
	Bytes     int64         `json:"bytes"`            // of the copy, compressed
	Uploaded  int64         `json:"uploaded"`         // bytes of all copies so far
	Status    int           `json:"status"`           // exit status of the run that finished the story
	Parts     int           `json:"parts,omitempty"`  // of the story, which are joined; 0: it is read as one
	Abandoned []string      `json:"abandoned,omitempty"`
}

// maxAbandoned is how often in a row a story may be left without progress before it is given up.
const maxAbandoned = 5

// abandon records that the story was left without progress, and gives it up at last.
func (m *Manifest) abandon(reason string) {
	m.Abandoned = append(m.Abandoned, reason)
	m.State = Free
	if len(m.Abandoned) >= maxAbandoned {
		m.State = Failed
	}
}

// Store is a folder of a bucket.
type Store struct {
	Bucket
	Prefix string        // of all keys; empty, or with a slash at its end
	TTL    time.Duration // of leases that are taken here

	seen map[string]sighting // by story
}

// sighting is the newest version of a manifest that this process saw, and when it first did.
type sighting struct {
	version int64
	since   time.Time
}

// New returns a store in the folder of a bucket that a prefix names.
func New(bucket Bucket, prefix string, ttl time.Duration) *Store {
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	return &Store{Bucket: bucket, Prefix: prefix, TTL: ttl, seen: map[string]sighting{}}
}

func (s *Store) source(story string) string   { return s.Prefix + "sources/" + story }
func (s *Store) manifest(story string) string { return s.Prefix + "manifests/" + story + ".json" }
func (s *Store) copies(story string) string   { return s.Prefix + "copies/" + story + "/" }

// CheckName returns an error unless a name can be a story's, which is that of its file.
func CheckName(story string) error {
	strange := func(r rune) bool { return r == '/' || r == '\\' || r == ':' || !unicode.IsPrint(r) }
	if story == "" || story[0] == '.' || story[0] == '-' || len(story) > 200 || strings.ContainsFunc(story, strange) {
		return fmt.Errorf("%q cannot be the name of a story: rename the file", story)
	}
	return nil
}

// Add stores the file of a story, from then on to be read. The same file may be added again.
func (s *Store) Add(ctx context.Context, story string, data []byte) error {
	if err := CheckName(story); err != nil {
		return err
	}
	_, err := s.Put(ctx, s.source(story), data, Absent)
	if errors.Is(err, ErrChanged) {
		if stored, _, failed := s.Get(ctx, s.source(story)); failed != nil || bytes.Equal(stored, data) {
			return failed
		}
		return fmt.Errorf("the store has another file named %s: add this one by another name", story)
	}
	return err
}

// Source returns the file of a story.
func (s *Store) Source(ctx context.Context, story string) ([]byte, error) {
	data, _, err := s.Get(ctx, s.source(story))
	return data, err
}

// Stories returns the names of all stories, sorted. Files with names that no story can have are left out.
func (s *Store) Stories(ctx context.Context) (names []string, err error) {
	objects, err := s.List(ctx, s.source(""))
	for _, o := range objects {
		if name := strings.TrimPrefix(o.Key, s.source("")); CheckName(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// Read returns the manifest of a story and its tag; both are empty if it has none.
func (s *Store) Read(ctx context.Context, story string) (m Manifest, tag string, err error) {
	data, tag, err := s.Get(ctx, s.manifest(story))
	if errors.Is(err, ErrMissing) {
		return Manifest{}, "", nil
	}
	if err == nil {
		m, err = decode(data)
	}
	if err != nil {
		return m, tag, fmt.Errorf("read the manifest of %s: %w", story, err)
	}
	return m, tag, nil
}

// decode reads a manifest, and refuses what no worker has written.
func decode(data []byte) (m Manifest, err error) {
	if err := json.Unmarshal(data, &m); err != nil {
		return m, err
	}
	known := slices.Contains([]State{Free, Held, Done, Failed}, m.State)
	if !known || m.Version < 1 || m.Fence < 0 || m.TTL < 0 || m.Parts < 0 || m.Copy != "" && m.Digest == "" {
		return m, errors.New("it was not written by this program, or by a newer one")
	}
	return m, nil
}

// Release makes a story free, whoever has it: its worker notices at its next renewal. It also begins a failed story
// again. A finished one stays.
func (s *Store) Release(ctx context.Context, story string) error {
	token := rand.Text()
	return s.update(ctx, story, func(m *Manifest) (done bool, err error) {
		if m.State == Done || m.State == "" {
			return false, fmt.Errorf("%s is %s: there is nothing to release", story,
				cmp.Or(string(m.State), "not begun"))
		}
		done = m.Token == token
		m.Token, m.State, m.Abandoned = token, Free, nil
		return done, nil
	})
}

// Database returns the copy that a manifest names, decompressed and checked; nil if there is none.
func (s *Store) Database(ctx context.Context, m *Manifest) ([]byte, error) {
	if m.Copy == "" {
		return nil, nil
	}
	packed, _, err := s.Get(ctx, m.Copy)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", m.Copy, err)
	}
	reader, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	data, err := reader.DecodeAll(packed, nil)
	if err == nil && digest(data) != m.Digest {
		err = errors.New("it is not what the manifest names")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w; the copy is damaged", m.Copy, err)
	}
	return data, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

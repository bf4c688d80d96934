package annotator

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"strings"
)

// Post is one post of a corpus: a forum post, or a scene of a book's chapter.
type Post struct {
	ID      int64 // unique in the corpus; not in story order
	Thread  int64
	Name    string
	Trip    string
	Subject string
	Time    int64 // unix seconds
	Body    string
	Tags    []string // sorted
	Former  bool     // the source has changed, and no longer has this text
}

// Tags of posts with a meaning for the corpus reader. A corpus may use others.
const (
	TagStory = "qm_post" // written by the story's author; only these posts form scenes
	// set by importers: a new scene begins here, although the run of story posts continues
	TagSceneStart = "scene_start"
)

// Thread is one thread of a forum, or one chapter of a book.
type Thread struct {
	ID    int64
	Title string
	// Order increases in story order. A corpus counts threads from 1, by the time of the opening post, else of the
	// earliest one. In a run it is the order of the thread's first scene.
	Order Order
}

// Scene is the unit of reading: a contiguous run of story posts in one thread.
type Scene struct {
	N      int   // its number, from 1; that of a run never changes, that of a corpus counts in story order
	Order  Order // in a run; 0 in a corpus
	Thread Thread
	Index  int    // from 0, within the thread
	Posts  []Post // at least one, in (time, id) order
	Opens  bool   // the first scene of its thread
	Ends   bool   // the last scene of its thread
}

// Hash returns the SHA-256 of the scene's text: the posts' ids, names, times, subjects and bodies. It does not cover
// ordinals, so a scene keeps its hash when scenes are inserted before it.
func (s *Scene) Hash() [sha256.Size]byte {
	h := sha256.New()
	hashInt(h, s.Thread.ID)
	for i := range s.Posts {
		p := &s.Posts[i]
		hashInt(h, p.ID)
		hashInt(h, p.Time)
		for _, text := range []string{p.Name, p.Trip, p.Subject, p.Body} {
			hashInt(h, int64(len(text)))
			h.Write([]byte(text))
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func hashInt(h hash.Hash, n int64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}

// Order is the position of a scene in the story of a run, as a number that sorts. It leaves room for scenes between two
// others. Zero is before the story.
type Order int64

// OrderStep is the distance of a scene that is added at the end of the story to the one before it. In a story without
// insertions, scene n has the order n times this.
const OrderStep Order = 1_000_000

// Place is a position in story order as one sortable number. It is the order of the scene times 1,000,000, plus the
// rank of the post in it (from 0). 12000000000003 is the fourth post of scene 12, if no scene was inserted. Zero is
// before the story.
type Place int64

const placesPerScene = 1_000_000

// MaxScenePosts is the maximum number of posts of a scene, so that a Place stays a single number.
const MaxScenePosts = placesPerScene

// PlaceAt returns the place of the post with the given rank (from 0) in the scene with an order.
func PlaceAt(order Order, rank int) Place { return Place(int64(order)*placesPerScene + int64(rank)) }

// Order returns the order of the scene.
func (p Place) Order() Order { return Order(p / placesPerScene) }

// Rank returns the post's rank in its scene, from 0.
func (p Place) Rank() int { return int(p % placesPerScene) }

// Position is a place with its ids in the corpus.
type Position struct {
	Thread int64 `json:"thread"`
	Scene  int   `json:"scene"` // its number, from 1
	Post   int64 `json:"post"`

	Chapter string `json:"chapter,omitempty"` // as people name the thread; empty unless asked for
}

// End returns the place of the scene's last post.
func (s *Scene) End() Place { return PlaceAt(s.Order, len(s.Posts)-1) }

// Words counts the words of the scene's posts, separated by white space.
func (s *Scene) Words() int {
	n := 0
	for i := range s.Posts {
		n += CountWords(s.Posts[i].Body)
	}
	return n
}

// Bodies returns the bodies of posts as one text.
func Bodies(posts []Post) string {
	var text strings.Builder
	for i := range posts {
		text.WriteString(posts[i].Body)
		text.WriteString("\n\n")
	}
	return text.String()
}

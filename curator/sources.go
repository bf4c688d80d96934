package curator

import (
	"context"

	"annotator"
	"annotator/context/mention"
)

// Sources are what the curator reads, and where it stores what follows. What is due is computed from them alone, so
// that a resumed run asks the same as an uninterrupted one.
type Sources struct {
	Posts   Posts
	Scenes  Scenes
	Threads Threads
	Entries Entries
	Names   NameIndex
	Records Records
	States  OpenStates
	New     NewEntries
}

// Posts reads the story.
type Posts interface {
	Post(ctx context.Context, id int64) (*annotator.Post, error)
	// Scene returns posts of a thread, in the order of their ids given.
	Scene(ctx context.Context, thread int64, posts []int64) ([]annotator.Post, error)
}

// Scenes reads the scenes of a run, as storage.Scenes does.
type Scenes interface {
	// At returns the scene with an order.
	At(ctx context.Context, order annotator.Order) (*annotator.SceneRow, error)
	// Neighbor returns the scene that is some scenes after another in story order, or before it; NotFound for none.
	Neighbor(ctx context.Context, order annotator.Order, distance int) (*annotator.SceneRow, error)
	// After returns the scenes after an order and up to another, in story order, at most limit of them.
	After(ctx context.Context, after, last annotator.Order, limit int) ([]annotator.SceneRow, error)
	// PlaceOf returns the place of a post of the story; NotFound for another post.
	PlaceOf(ctx context.Context, post int64) (annotator.Place, error)
}

// Threads reads the threads of a run, as storage.Threads does.
type Threads interface {
	// Ended returns the threads that have ended and have no summary, or are in the window.
	Ended(ctx context.Context) ([]annotator.EndedThread, error)
	// ScenesAfter returns the number of scenes of the thread after a place in story order.
	ScenesAfter(ctx context.Context, order annotator.Order) (int, error)
}

// Entries reads entries of the glossary.
type Entries interface {
	// Entries returns the entries with the ids, by id. Ids without an entry are left out.
	Entries(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error)
	// Named returns the live entries with a name.
	Named(ctx context.Context, name string) ([]annotator.Entry, error)
}

// NameIndex finds the entries that texts name, as entries.Names does.
type NameIndex interface {
	Index(ctx context.Context) (*mention.Index, error)
	// Words returns the index, and how the story up to a scene uses words.
	Words(ctx context.Context, scene annotator.Order) (*mention.Index, *mention.Usage, error)
	// Invalidate says that entries have changed.
	Invalidate(ids ...int64)
}

// Records reads what was asked and what is due, and stores answers, as storage.Curation does.
type Records interface {
	// Outdated returns entries with some facts, by whose changes their present statement may be out of date, at most
	// limit.
	Outdated(ctx context.Context, changes, facts, limit int) ([]int64, error)
	// Restated reports whether present statements were asked for after a scene.
	Restated(ctx context.Context, scene annotator.Order) (bool, error)
	// Phrases returns what was answered about phrases, oldest first.
	Phrases(ctx context.Context) ([]annotator.Phrases, error)
	// Former returns the entries from which a name was taken.
	Former(ctx context.Context, name string) ([]int64, error)
	// Decide stores a row of the journal, revisions and summaries, and ends the call, if there is one, in one
	// transaction.
	Decide(
		ctx context.Context, call *annotator.Call, row *annotator.Trace, revisions []annotator.Revision,
		s *annotator.Summaries,
	) error
}

// OpenStates reads the open states of entries, as storage.OpenStates does.
type OpenStates interface {
	// Waiting returns the states that were set up to a revision and that no question was about, the oldest first, at
	// most limit. It omits those that a question at a scene was about for another reason.
	Waiting(ctx context.Context, through int64, scene annotator.Order, limit int) ([]annotator.ClaimRef, error)
	// Asked returns the revision up to which states were asked about, and the newest that was made before a scene. It
	// also reports whether any state is open.
	Asked(ctx context.Context, scene annotator.Order) (asked, before int64, some bool, err error)
	// Added returns the facts that were added since the last question about states, the newest first.
	Added(ctx context.Context, limit int) ([]annotator.ClaimRef, error)
	// Naming returns open states, and guesses if wanted, in whose texts one of some names occurs, the newest first.
	// There the names may mean something else.
	Naming(ctx context.Context, names []string, guesses bool, limit int) ([]annotator.ClaimRef, error)
}

// NewEntries compares new entries with others, as storage.NewEntries does.
type NewEntries interface {
	// Unlooked returns live entries that no question about redundant ones has looked at, the oldest first. They have a
	// few facts at most, are no events, and were first seen before a scene. It returns at most limit, the newest; all
	// if limit is negative.
	Unlooked(ctx context.Context, before annotator.Order, facts, limit int) ([]int64, error)
	// Near returns the other live entries with few facts that have quotations in the posts of an entry's quotations.
	Near(ctx context.Context, entry int64, limit int) ([]int64, error)
	// Scenes returns in how many scenes an entry is mentioned, up to limit.
	Scenes(ctx context.Context, entry int64, limit int) (int, error)
	// Linking returns the texts of other entries' facts in which one of some names occurs and that have a link. It
	// omits those of one scene.
	Linking(ctx context.Context, entry int64, names []string, without annotator.Order) ([]string, error)
}

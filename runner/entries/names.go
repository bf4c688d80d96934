// Package entries selects entries of the glossary for a scene. They are those that it names, those that it is shown,
// and those from which it may remove facts.
package entries

import (
	"context"
	"slices"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/corpus"
	"annotator/storage"
)

// MaxSceneBytes is the longest text of a scene: about a million tokens. A larger one is refused before it is rendered,
// which would take many times its size.
const MaxSceneBytes = 4 << 20

// Names finds the entries that a story names. Its cache is the index of the names of the live entries.
type Names struct {
	*mention.Cache
	store  *storage.DB
	corpus *corpus.DB
	usage  *mention.Usage  // how the story uses words, up to the scene of the newest question
	last   annotator.Order // of the scenes that usage has
	recent recentScenes
	you    addressee
}

// addressee is the entry of the person whom the narration addresses as "you" up to a scene.
type addressee struct {
	scene annotator.Order
	id    int64 // 0 for none
}

// recentScenes are the texts of the newest scenes up to one.
type recentScenes struct {
	last  annotator.Order
	texts []string
}

// NewNames returns the names of a run's entries.
func NewNames(store *storage.DB, source *corpus.DB) *Names {
	return &Names{Cache: mention.NewCache(store.Glossary), store: store, corpus: source, usage: mention.NewUsage()}
}

// Scene returns the scene with a number.
func (n *Names) Scene(ctx context.Context, number int) (*annotator.Scene, error) {
	row, err := n.store.Scenes.Get(ctx, number)
	if err != nil {
		return nil, err
	}
	posts, err := n.corpus.Scene(ctx, row.Thread.ID, row.Posts)
	return &annotator.Scene{N: row.N, Order: row.Order, Thread: row.Thread, Posts: posts}, err
}

// The word usage of a story is taken from its first scenes, and from the beginning of each, in bytes. That is enough to
// find the common words, and it bounds what a resumed run reads again.
const (
	usageScenes = 200
	usageBytes  = 20_000
)

// Usage returns how the story uses words up to a scene. It depends on the scene's order alone, so that a resumed run
// finds the same names.
func (n *Names) Usage(ctx context.Context, scene annotator.Order) (*mention.Usage, error) {
	if n.last > scene { // the scene is read late
		n.usage, n.last = mention.NewUsage(), 0
	}
	left := usageScenes - n.usage.Scenes()
	if n.last == scene || left == 0 {
		return n.usage, nil
	}
	err := n.read(ctx, n.last, scene, left, func(order annotator.Order, text string) {
		n.usage.Add(text)
		n.last = order
	})
	return n.usage, err
}

// read reads the beginnings of the scenes after an order and up to another, at most limit of them.
func (n *Names) read(ctx context.Context, after, last annotator.Order, limit int,
	each func(order annotator.Order, text string),
) error {
	rows, err := n.store.Scenes.After(ctx, after, last, limit)
	if err != nil {
		return err
	}
	for i := range rows {
		posts, err := n.corpus.Scene(ctx, rows[i].Thread.ID, rows[i].Posts)
		if err != nil {
			return err
		}
		text := annotator.Bodies(posts)
		each(rows[i].Order, text[:min(len(text), usageBytes)])
	}
	return nil
}

// Words returns the index of names, and how the story up to a scene uses words.
func (n *Names) Words(ctx context.Context, scene annotator.Order) (*mention.Index, *mention.Usage, error) {
	usage, err := n.Usage(ctx, scene)
	if err != nil {
		return nil, nil, err
	}
	index, err := n.Index(ctx)
	return index, usage, err
}

// Support returns the quotations of a fact of an entry as they are stored, and the words of the fact that they lack. It
// considers how the story up to a scene uses words and names.
func (n *Names) Support(ctx context.Context, scene annotator.Order, f *codex.Fact, e *annotator.Entry,
	posts []annotator.Post,
) (quotes []annotator.Evidence, lacks []string, err error) {
	index, usage, err := n.Words(ctx, scene)
	if err != nil {
		return nil, nil, err
	}
	addressed := int64(0)
	if mention.Addresses(annotator.Bodies(posts)) {
		if addressed, err = n.addressee(ctx, scene); err != nil {
			return nil, nil, err
		}
	}
	known := codex.Quotations(e, codex.Known(e, *f))
	quotes, lacks = index.Wording(f.Text+" "+f.Speaker, e, usage).Address(addressed).Support(f, known, posts)
	return quotes, lacks, nil
}

// generalScenes is how many of the newest scenes show whether a name means several people.
const generalScenes = 60

// General reports whether the newest scenes up to one call several people by a name. See mention.General.
func (n *Names) General(ctx context.Context, scene annotator.Order, name string) (bool, error) {
	if isName(name) {
		return false, nil
	}
	index, usage, err := n.Words(ctx, scene)
	if err != nil {
		return false, err
	}
	if n.recent.last != scene {
		texts, err := n.newest(ctx, scene)
		if err != nil {
			return false, err
		}
		n.recent = recentScenes{scene, texts}
	}
	return index.General(name, n.recent.texts, usage), nil
}

// newest returns the beginnings of the newest scenes up to one.
func (n *Names) newest(ctx context.Context, scene annotator.Order) (texts []string, err error) {
	since, err := annotator.OrderOf(n.store.Scenes.Neighbor(ctx, scene, -generalScenes))
	if err != nil {
		return nil, err
	}
	err = n.read(ctx, since, scene, generalScenes, func(_ annotator.Order, text string) { texts = append(texts, text) })
	return texts, err
}

// Settles reports whether a fact of an entry says anything of what a claim of an entry says. It considers how the story
// up to a scene uses words and names.
func (n *Names) Settles(ctx context.Context, scene annotator.Order, e *annotator.Entry, claim *annotator.Claim,
	of *annotator.Entry, fact *annotator.Claim,
) (bool, error) {
	index, usage, err := n.Words(ctx, scene)
	if err != nil {
		return false, err
	}
	return index.Settles(e, claim, of, fact, usage), nil
}

// Repeats returns the fact of another entry, with a link to an entry, if it says what a fact of that entry says. It is
// empty if it does not. The story up to a scene shows which words are common.
func (n *Names) Repeats(ctx context.Context, scene annotator.Order, fact string, of *annotator.Entry, told string,
	by *annotator.Entry,
) (string, error) {
	index, usage, err := n.Words(ctx, scene)
	if err != nil || !index.Repeats(fact, of, told, by, usage) {
		return "", err
	}
	return mention.Linked(told, of), nil
}

// named returns the entries that a scene names, whole or by a part of a name, best first. The person whom the scene
// addresses comes before them.
func (n *Names) named(ctx context.Context, scene *annotator.Scene) ([]int64, error) {
	index, usage, err := n.Words(ctx, scene.Order)
	if err != nil {
		return nil, err
	}
	addressed, err := n.addressed(ctx, scene, nil)
	if err != nil {
		return nil, err
	}
	var ids []int64
	if addressed != 0 {
		ids = append(ids, addressed)
	}
	for _, match := range index.Named(annotator.Bodies(scene.Posts), usage) {
		if match.ID != addressed {
			ids = append(ids, match.ID)
		}
	}
	return ids, nil
}

// addressees is how many quotations show whom a story addresses. The beginning of the story shows it.
const addressees = 200

// addressed returns the entry of the person whom the narration of a scene addresses as "you", 0 for none. It is the one
// most of whose quotations address somebody. The quotations that some revisions have added do not count.
func (n *Names) addressed(ctx context.Context, scene *annotator.Scene, without []annotator.Revision) (int64, error) {
	if !mention.Addresses(annotator.Bodies(scene.Posts)) {
		return 0, nil
	}
	return n.mostAddressed(ctx, without)
}

// addressee returns the entry of the person whom the narration addressed as "you" before a scene, or in its first
// facts.
func (n *Names) addressee(ctx context.Context, scene annotator.Order) (id int64, err error) {
	if n.you.scene != scene || n.you.id == 0 {
		n.you.scene = scene
		n.you.id, err = n.mostAddressed(ctx, nil)
	}
	return n.you.id, err
}

// mostAddressed returns the person most of whose quotations address somebody, without those of some revisions.
func (n *Names) mostAddressed(ctx context.Context, without []annotator.Revision) (int64, error) {
	var left []storage.QuotationOf
	for i := range without {
		if evidence, is := valueOf[annotator.Evidence](&without[i], annotator.FieldEvidence, without[i].New); is {
			left = append(left, storage.QuotationOf{Entry: without[i].Entry, Text: evidence.Quote})
		}
	}
	quotations, err := n.store.Glossary.OfPeople(ctx, addressees)
	best, count := int64(0), map[int64]int{}
	for _, q := range quotations {
		if slices.Contains(left, q) || !mention.Addresses(q.Text) {
			continue
		}
		if count[q.Entry]++; count[q.Entry] > count[best] {
			best = q.Entry
		}
	}
	return best, err
}

// atHand returns the entries that the present states of the person whom a scene addresses refer to as [[Term]]. Other
// people, to whom a tie refers, need not be there.
func (n *Names) atHand(ctx context.Context, scene *annotator.Scene) (ids []int64, err error) {
	addressed, err := n.addressed(ctx, scene, nil)
	if err != nil || addressed == 0 {
		return nil, err
	}
	e, err := n.store.Glossary.Entry(ctx, addressed)
	if err != nil {
		return nil, err
	}
	for i := range e.Claims {
		c := &e.Claims[i]
		if !c.State || c.Until != 0 {
			continue
		}
		for _, name := range codex.Links(c.Text) {
			linked, err := n.store.Glossary.Named(ctx, name)
			if err != nil {
				return nil, err
			}
			if len(linked) > 0 && !slices.Contains(ids, linked[0].ID) && !slices.Contains(linked[0].Tags, "person") {
				ids = append(ids, linked[0].ID)
			}
		}
	}
	return ids, nil
}

// Pending returns the mentions that have come since the last checkpoint. See PendingMentions. One of the scenes may be
// in memory.
func (n *Names) Pending(ctx context.Context, loaded *annotator.Scene) ([]storage.SceneMentions, error) {
	read := func(ctx context.Context, number int) (*annotator.Scene, error) {
		if loaded != nil && loaded.N == number {
			return loaded, nil
		}
		return n.Scene(ctx, number)
	}
	return PendingMentions(ctx, n.store.Mentions, n.Cache, read)
}

// PendingMentions looks for names where they may have been added or removed since the last checkpoint. These are new
// scenes, and scenes that have the words of a name that was added or removed. The cost is that of these scenes, at any
// length of the story.
func PendingMentions(
	ctx context.Context, store *storage.Mentions, names *mention.Cache,
	read func(context.Context, int) (*annotator.Scene, error),
) ([]storage.SceneMentions, error) {
	scenes, err := store.Pending(ctx, mention.Words)
	if err != nil || len(scenes) == 0 {
		return nil, err
	}
	index, err := names.Index(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]storage.SceneMentions, len(scenes))
	for i, n := range scenes {
		scene, err := read(ctx, n)
		if err != nil {
			return nil, err
		}
		all[i] = mentionsIn(index, scene)
	}
	return all, nil
}

// CatchUp looks for names in scenes that an earlier version of the program has read, or after names were changed
// without a scene.
func (n *Names) CatchUp(ctx context.Context) error {
	for ctx.Err() == nil {
		scenes, err := n.Pending(ctx, nil)
		if err != nil || len(scenes) == 0 {
			return err
		}
		if err := n.store.Mentions.Update(ctx, scenes); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// mentionsIn finds the names in the posts of a scene.
func mentionsIn(index *mention.Index, scene *annotator.Scene) storage.SceneMentions {
	s := storage.SceneMentions{Scene: scene.N, Mentions: map[storage.Mention]string{}}
	bodies := make([]string, len(scene.Posts))
	for rank := range scene.Posts {
		body := scene.Posts[rank].Body
		bodies[rank] = body
		if len(body) > MaxSceneBytes {
			continue // no scene with it is read
		}
		at, characters := 0, 0 // characters are those before the byte at
		for _, o := range index.Occurrences(body) {
			characters += utf8.RuneCountInString(body[at:o.Start])
			at = o.Start
			text := body[o.Start:o.End]
			m := storage.Mention{
				Entry: o.ID, Place: annotator.PlaceAt(scene.Order, rank), Start: characters,
				End: characters + utf8.RuneCountInString(text),
			}
			s.Mentions[m] = text
		}
	}
	s.Words = mention.DistinctWords(bodies)
	return s
}

// FindMentions returns a function that finds the names of entries in a scene.
func FindMentions(names map[int64][]string) storage.MentionFinder {
	index := mention.New()
	for entry, list := range names {
		index.SetNames(entry, list)
	}
	return func(s *annotator.Scene) storage.SceneMentions { return mentionsIn(index, s) }
}

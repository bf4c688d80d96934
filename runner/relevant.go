package runner

import (
	"context"
	"slices"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/context/prompt"
)

// glossary renders what a scene is shown of the glossary: the entries that it names and that the window does not show as
// they read now, the states that last held of the others that it names, and the names that the window shows otherwise or
// not at all. What the window's turns have written counts as shown. It returns the entries that the text shows.
func (r *Runner) glossary(ctx context.Context) (string, []annotator.Shown, error) {
	room := r.glossaryRoom()
	named, err := r.named(ctx)
	if err != nil {
		return "", nil, err
	}
	entries, shows, err := r.relevant(ctx, named, room)
	if err != nil {
		return "", nil, err
	}
	states, err := r.openStates(ctx, named, room/statesShare, shows)
	if err != nil {
		return "", nil, err
	}
	names, shown, err := r.newNames(ctx, room/namesShare, shows)
	return prompt.Glossary(entries, states, names), append(shows, shown...), err
}

// replyShare is the part of the room for a reply that its calls are expected to need in the window.
const replyShare = 2

// glossaryRoom returns how many tokens of the glossary a scene is shown beside it. In a small window the scene and what follows from
// it come first.
func (r *Runner) glossaryRoom() int {
	b := r.window.Budget
	return min(int(r.config.RelevantShare*float64(b.Context())), r.window.Room()-b.Reply()/replyShare)
}

// statesShare is the part of the room for entries that their open states may take.
const statesShare = 16

// openStates renders the states that hold of the entries that the scene names: best first, as many as there is room
// for. Entries that are shown beside are left out, and those of which only the scene before has told a state. Where the person
// whom the scene addresses is somewhere or has something, as their own states say by [[Term]], that is at hand though the scene
// may not name it.
func (r *Runner) openStates(
	ctx context.Context, named []int64, room int, beside []annotator.Shown,
) (rendered []string, err error) {
	at, err := r.atHand(ctx)
	if err != nil {
		return nil, err
	}
	at = slices.DeleteFunc(at, func(id int64) bool { return slices.Contains(named, id) })
	named = slices.Concat(named, at)
	entries, err := r.Store.Glossary.Entries(ctx, named)
	if err != nil {
		return nil, err
	}
	for _, id := range named {
		if shownBeside(id, beside) {
			continue
		}
		text := prompt.States(entries[id], annotator.PlaceAt(r.scene.row.N-1, 0))
		if text != "" && r.takeRoom(text, &room) {
			rendered = append(rendered, text)
		}
	}
	return rendered, nil
}

// atHand returns the entries to which the states that hold of the person whom the scene addresses refer as [[Term]]. Other people, to
// whom a tie refers, need not be there.
func (r *Runner) atHand(ctx context.Context) (ids []int64, err error) {
	addressed, err := r.addressed(ctx, nil)
	if err != nil || addressed == 0 {
		return nil, err
	}
	e, err := r.Store.Glossary.Entry(ctx, addressed)
	if err != nil {
		return nil, err
	}
	for i := range e.Claims {
		if c := &e.Claims[i]; !c.State || c.Until != 0 {
			continue
		}
		for _, name := range codex.Links(e.Claims[i].Text) {
			linked, err := r.Store.Glossary.Lookup(ctx, name)
			if annotator.KindOf(err) == annotator.NotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			if !slices.Contains(ids, linked.ID) && !slices.Contains(linked.Tags, "person") {
				ids = append(ids, linked.ID)
			}
		}
	}
	return ids, nil
}

// takeRoom takes the tokens of a text from what is left of a room, and reports whether they fit. One that is too long does not
// keep out shorter ones behind it.
func (r *Runner) takeRoom(text string, room *int) bool {
	tokens := r.window.Count(text)
	if tokens > *room {
		return false
	}
	*room -= tokens
	return true
}

func shownBeside(entry int64, beside []annotator.Shown) bool {
	return slices.ContainsFunc(beside, func(s annotator.Shown) bool { return s.Entry == entry })
}

// entryShare is the part of the room for entries that one of them may take.
const entryShare = 4

// relevant renders the entries that the scene names and the window does not show as they read now: best first, as many
// as there is room for, and of each what fits its part of the room. What is left out of one is not shown again until the entry
// changes.
func (r *Runner) relevant(
	ctx context.Context, named []int64, room int,
) (rendered []string, shows []annotator.Shown, err error) {
	ids, err := r.notInView(ctx, named)
	if err != nil {
		return nil, nil, err
	}
	entries, err := r.Store.Glossary.Entries(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	most := room / entryShare
	for _, id := range ids {
		text := prompt.Excerpt(entries[id], r.scene.story(), func(text string) bool { return r.window.Count(text) <= min(most, room) })
		if text != "" && r.takeRoom(text, &room) {
			rendered = append(rendered, text)
			shows = append(shows, annotator.Shown{Entry: id, Revision: entries[id].Revision})
		}
	}
	return rendered, shows, nil
}

// named returns the entries that the scene names, whole or by a part of a name, best first; before them the person
// whom it addresses.
func (r *Runner) named(ctx context.Context) ([]int64, error) {
	names, err := r.names.Index(ctx)
	if err != nil {
		return nil, err
	}
	usage, err := r.wordUsage(ctx)
	if err != nil {
		return nil, err
	}
	addressed, err := r.addressed(ctx, nil)
	if err != nil {
		return nil, err
	}
	var ids []int64
	if addressed != 0 {
		ids = append(ids, addressed)
	}
	for _, match := range names.Named(r.scene.story(), usage) {
		if match.ID != addressed {
			ids = append(ids, match.ID)
		}
	}
	return ids, nil
}

// addressees is how many quotations tell whom a story addresses. It is told at its beginning.
const addressees = 200

// addressed returns the entry of the person whom the narration of the scene addresses as "you", 0 for none: the one of
// which most quotations address somebody. The quotations that some revisions have added do not count.
func (r *Runner) addressed(ctx context.Context, without []annotator.Revision) (int64, error) {
	if !mention.Addresses(r.scene.story()) {
		return 0, nil
	}
	left, err := quoted(without)
	if err != nil {
		return 0, err
	}
	quotations, err := r.Store.Glossary.OfPeople(ctx, addressees)
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

// notInView returns those of some entries that the window does not show as they read now.
func (r *Runner) notInView(ctx context.Context, ids []int64) ([]int64, error) {
	history := r.window.History()
	shown := make([]annotator.Shown, len(ids))
	for i, id := range ids {
		shown[i] = history.Shown(id)
	}
	changed, err := r.Store.Glossary.ChangedSince(ctx, shown, r.turnsInView())
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !changed[id] }), err
}

// turnsInView returns the turns that are in the window.
func (r *Runner) turnsInView() []int64 {
	turns := r.window.History().Turns()
	ids := make([]int64, len(turns))
	for i := range turns {
		ids[i] = turns[i].ID
	}
	return ids
}

const (
	namesShare = 16 // part of the room for entries that a list of names may take
	maxNames   = 50 // of a list
)

// newNames renders the names of entries that have changed since the window showed them, and after a compaction those of
// the entries nearest in the story that it does not show. Entries that are shown beside the list are left out.
func (r *Runner) newNames(
	ctx context.Context, room int, beside []annotator.Shown,
) (rendered []string, shows []annotator.Shown, err error) {
	ids, err := r.newlyNamed(ctx)
	if err != nil {
		return nil, nil, err
	}
	ids = slices.DeleteFunc(ids, func(id int64) bool { return shownBeside(id, beside) })
	entries, err := r.Store.Glossary.Entries(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		if text := prompt.Names(entries[id]); r.takeRoom(text, &room) {
			rendered = append(rendered, text)
			shows = append(shows, annotator.Shown{Entry: id, Revision: entries[id].Revision, Name: true})
		}
	}
	return rendered, shows, nil
}

// newlyNamed returns the entries whose names are to be listed: those whose names have changed, by id, then those that
// are near and whose names the window does not show.
func (r *Runner) newlyNamed(ctx context.Context) (ids []int64, err error) {
	history, g := r.window.History(), r.Store.Glossary
	known := history.Named()
	var near []int64
	if !history.Listed() {
		if near, err = g.Nearest(ctx, maxNames); err != nil {
			return nil, err
		}
		near = slices.DeleteFunc(near, history.Names)
		for _, id := range near {
			known = append(known, annotator.Shown{Entry: id})
		}
	}
	renamed, err := g.RenamedSince(ctx, known, r.turnsInView())
	for id := range renamed {
		if !slices.Contains(near, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	near = slices.DeleteFunc(near, func(id int64) bool { return !renamed[id] })
	return append(ids, near...), err
}

// bears reports whether a quotation shares a word or a name with a fact of an entry, as the story uses words and names.
func (r *Runner) bears(ctx context.Context, quote, fact string, e *annotator.Entry) (bool, error) {
	usage, err := r.wordUsage(ctx)
	if err != nil {
		return false, err
	}
	names, err := r.names.Index(ctx)
	if err != nil {
		return false, err
	}
	return names.Bears(quote, fact, e, usage), nil
}

// The word usage of a story is taken from so many scenes at its beginning, and so much of each, in bytes: enough to tell
// which words are common, and a bound on what a resumed run reads again.
const (
	usageScenes = 200
	usageBytes  = 20_000
)

// wordUsage returns how the story uses words up to the scene at hand. It depends on the scene's number alone, so that a
// resumed run finds the same names.
func (r *Runner) wordUsage(ctx context.Context) (*mention.Usage, error) {
	last := min(r.scene.row.N, usageScenes)
	if r.usage == nil || r.usage.Scenes() > last { // the scene is read late
		r.usage = mention.NewUsage()
	}
	for n := r.usage.Scenes() + 1; n <= last; n++ {
		row, err := r.Store.Scenes.Get(ctx, n)
		if err != nil {
			return nil, err
		}
		posts, err := r.corpus.Scene(ctx, row.Thread.ID, row.Posts)
		if err != nil {
			return nil, err
		}
		text := story(posts)
		r.usage.Add(text[:min(len(text), usageBytes)])
	}
	return r.usage, nil
}

package entries

import (
	"context"
	"slices"

	"annotator"
	"annotator/context/prompt"
	"annotator/context/window"
	"annotator/storage"
)

// Selection chooses what a scene is shown of the glossary.
type Selection struct {
	Scene    *annotator.Scene
	Names    *Names
	Glossary *storage.Glossary
	Window   *window.Window
	Answers  []storage.NewAnswer // of people, that the model has not seen
	Answered []int64             // the rows of those that the text of Render shows

	named []int64                    // the entries that the scene names
	hand  []int64                    // others at hand of the person whom the scene addresses
	held  map[int64]*annotator.Entry // both, as they are now
	shows []annotator.Shown          // the entries that were chosen
}

// Shares of the room for entries.
const (
	entryShare  = 4  // the part that one of them may take
	statesShare = 16 // the part that open states may take
	namesShare  = 16 // the part that a list of names may take
)

// maxNames is how many names a list has at most.
const maxNames = 50

// Render renders what the window does not show as it is now, in a text of at most room tokens. These are the entries
// that the scene names, the last states of the others that it names, and names. What the window's turns have written
// counts as shown. Answers of people about named entries have precedence. It returns the entries and names that the
// text shows.
func (s *Selection) Render(ctx context.Context, room int) (text string, shows []annotator.Shown, err error) {
	if s.named, err = s.Names.named(ctx, s.Scene); err != nil {
		return "", nil, err
	}
	if s.hand, err = s.Names.atHand(ctx, s.Scene); err != nil {
		return "", nil, err
	}
	s.hand = slices.DeleteFunc(s.hand, func(id int64) bool { return slices.Contains(s.named, id) })
	if s.held, err = s.Glossary.Held(ctx, slices.Concat(s.named, s.hand)); err != nil {
		return "", nil, err
	}
	answers, err := s.answers(ctx, &room)
	if err != nil {
		return "", nil, err
	}
	entries, err := s.entries(ctx, room)
	if err != nil {
		return "", nil, err
	}
	states, err := s.states(ctx, room/statesShare)
	if err != nil {
		return "", nil, err
	}
	names, err := s.names(ctx, room/namesShare)
	return prompt.Glossary(entries, states, names, answers), s.shows, err
}

// answers renders the answers of people about entries that the scene names, as many as fit. A scene that is read late
// is shown none from a later one.
func (s *Selection) answers(ctx context.Context, room *int) (rendered []string, err error) {
	for i := range s.Answers {
		a := &s.Answers[i]
		e, err := s.present(ctx, a.Asked.Entry)
		if err != nil {
			return nil, err
		}
		isNamed := slices.Contains(s.named, e.ID) || slices.Contains(s.hand, e.ID)
		if isNamed && a.From <= s.Scene.Order && s.take(&rendered, prompt.Answer(e, &a.Asked, a.Text), room) {
			s.Answered = append(s.Answered, a.Row)
		}
	}
	return rendered, nil
}

// present returns an entry, or the one that it was merged into.
func (s *Selection) present(ctx context.Context, id int64) (*annotator.Entry, error) {
	e, err := s.Glossary.Entry(ctx, id)
	for err == nil && e.Status == annotator.Merged {
		e, err = s.Glossary.Entry(ctx, e.MergedInto)
	}
	return e, err
}

// take adds a text to others if it fits into the room that is left, and reports whether it does. A text that is too
// long does not exclude shorter ones behind it.
func (s *Selection) take(texts *[]string, text string, room *int) bool {
	tokens := s.Window.Count(text)
	if text == "" || tokens > *room {
		return false
	}
	*room -= tokens
	*texts = append(*texts, text)
	return true
}

// isShown reports whether an entry was chosen to be shown in full.
func (s *Selection) isShown(entry int64) bool {
	return slices.ContainsFunc(s.shows, func(shown annotator.Shown) bool {
		return shown.Entry == entry && !shown.Name && !shown.States
	})
}

// entries renders the entries that the scene names and the window does not show as they are now, best first. It renders
// as many as fit, and of each what fits its part of the room. What is left out of one is not shown again until the
// entry changes.
func (s *Selection) entries(ctx context.Context, room int) (rendered []string, err error) {
	ids, err := s.notInView(ctx)
	if err != nil {
		return nil, err
	}
	most, story := room/entryShare, annotator.Bodies(s.Scene.Posts)
	for _, id := range ids {
		text := prompt.Excerpt(s.held[id], story, func(text string) bool {
			return s.Window.Count(text) <= min(most, room)
		})
		if s.take(&rendered, text, &room) {
			s.shows = append(s.shows, annotator.Shown{Entry: id, Revision: s.held[id].Revision})
		}
	}
	return rendered, nil
}

// states renders the states that hold of the entries that the scene names, best first and as many as fit. It leaves out
// entries that are chosen, and states that the window shows or that are from the scene before. The states of the person
// whom the scene addresses refer by [[Term]] to places and possessions. These are included even if the scene does not
// name them.
func (s *Selection) states(ctx context.Context, room int) (rendered []string, err error) {
	ids := slices.DeleteFunc(slices.Concat(s.named, s.hand), s.isShown)
	if len(ids) == 0 {
		return nil, nil
	}
	former, err := annotator.OrderOf(s.Names.store.Scenes.Neighbor(ctx, s.Scene.Order, -1))
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		e, shown := s.held[id], s.Window.History().States(id)
		if s.take(&rendered, prompt.States(e, annotator.PlaceAt(former, 0), shown), &room) {
			s.shows = append(s.shows, annotator.Shown{Entry: id, Revision: e.Revision, States: true})
		}
	}
	return rendered, nil
}

// notInView returns those of the named entries that the window does not show as they read now.
func (s *Selection) notInView(ctx context.Context) ([]int64, error) {
	shown := make([]annotator.Shown, len(s.named))
	for i, id := range s.named {
		shown[i] = s.Window.History().Shown(id)
	}
	changed, err := s.Glossary.ChangedSince(ctx, shown, s.turnsInView(), false)
	return slices.DeleteFunc(slices.Clone(s.named), func(id int64) bool { return !changed[id] }), err
}

// turnsInView returns the turns that are in the window.
func (s *Selection) turnsInView() []int64 {
	turns := s.Window.History().Turns()
	ids := make([]int64, len(turns))
	for i := range turns {
		ids[i] = turns[i].ID
	}
	return ids
}

// names renders the names of entries that have changed since the window showed them. After a compaction it adds the
// names of the nearest entries in the story that the window does not show. Entries that are chosen are left out.
func (s *Selection) names(ctx context.Context, room int) (rendered []string, err error) {
	ids, err := s.newlyNamed(ctx)
	if err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(ids, s.isShown)
	entries, err := s.Glossary.Held(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if s.take(&rendered, prompt.Names(entries[id]), &room) {
			s.shows = append(s.shows, annotator.Shown{Entry: id, Revision: entries[id].Revision, Name: true})
		}
	}
	return rendered, nil
}

// newlyNamed returns the entries whose names are to be listed. Those whose names have changed come first, by id, then
// the near ones whose names the window does not show.
func (s *Selection) newlyNamed(ctx context.Context) (ids []int64, err error) {
	history := s.Window.History()
	known := history.Named()
	var near []int64
	if !history.Listed() {
		if near, err = s.Glossary.Nearest(ctx, maxNames); err != nil {
			return nil, err
		}
		near = slices.DeleteFunc(near, history.Names)
		for _, id := range near {
			known = append(known, annotator.Shown{Entry: id})
		}
	}
	renamed, err := s.Glossary.ChangedSince(ctx, known, s.turnsInView(), true)
	for id := range renamed {
		if !slices.Contains(near, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	near = slices.DeleteFunc(near, func(id int64) bool { return !renamed[id] })
	return append(ids, near...), err
}

package curator

import (
	"context"
	"fmt"
	"slices"

	"annotator"
	"annotator/codex"
	"annotator/codex/identity"
)

// findTargets looks up the targets of merges that were not shown with their candidates, and shows these with them, too.
// An answer whose target is no entry that could be one is unusable, with the reason.
func (c *Curator) findTargets(ctx context.Context, batch Batch, answers []Answer) error {
	for i, candidate := range batch {
		a := &answers[i]
		if a.Err != nil || a.Decision.Action != Merge || candidate.similar(a.Decision.Target) != nil {
			continue
		}
		target, why, err := c.find(ctx, a.Decision.Target, a.Into)
		if err != nil {
			return err
		}
		if a.Err = why; why == nil {
			a.Err = c.unfit(&candidate.Entry, target)
		}
		if a.Err == nil {
			a.Decision.Target = target.ID
			candidate.Similar = append(candidate.Similar, *target)
		}
	}
	return nil
}

// find returns the live entry with an id, or, if that is 0, with a name. If there is not exactly one, why says so in
// words for the model.
func (c *Curator) find(ctx context.Context, id int64, name string) (target *annotator.Entry, why, err error) {
	if id != 0 {
		found, err := c.Entries.Entries(ctx, []int64{id})
		if err != nil {
			return nil, nil, err
		}
		if target = found[id]; target == nil || !target.Status.Live() {
			return nil, fmt.Errorf("there is no live entry %d", id), nil
		}
	} else {
		found, err := c.Entries.Named(ctx, codex.Normalize(codex.CleanName(name)))
		if err != nil {
			return nil, nil, err
		}
		name = annotator.Clip(name, quoteLength, cutMark)
		switch len(found) {
		case 0:
			return nil, fmt.Errorf("no entry goes by %q", name), nil
		case 1:
			target = &found[0]
		default:
			return nil, fmt.Errorf("several entries go by %q: give an id", name), nil
		}
	}
	return target, nil, nil
}

// unfit says why an entry that was not shown cannot take the place of another one; nil if it can.
func (c *Curator) unfit(source, target *annotator.Entry) error {
	veto := apart(source, target)
	switch {
	case target.ID == source.ID:
		return fmt.Errorf("entry %d is the one in question", target.ID)
	case target.First.Order() > c.Scene.Order:
		return fmt.Errorf("entry %d comes later in the story", target.ID)
	case veto != "":
		return fmt.Errorf("entry %d, %q, is another thing: %s", target.ID, target.Name(), veto)
	}
	return nil
}

// apart says why two entries are known to be two things, from their terms alone; empty if they may be one. Titles and
// first names count where both are people. A name of both, or two spellings of one, is no reason.
func apart(a, b *annotator.Entry) string {
	if codex.Normalize(a.Term) == codex.Normalize(b.Term) {
		if codex.Normalize(a.Disambiguator) != codex.Normalize(b.Disambiguator) {
			return string(identity.Apart)
		}
		return ""
	}
	_, veto := identity.Compare(identity.Read(a.Term), identity.Read(b.Term))
	isPerson := func(e *annotator.Entry) bool { return slices.Contains(e.Tags, identity.Person) }
	if veto == identity.Numbers || isPerson(a) && isPerson(b) {
		return string(veto)
	}
	return ""
}

package curator

import (
	"context"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/codex/identity"
	"annotator/context/mention"
	"annotator/context/tokens"
)

// dropGeneral takes names such as "his father" from people, if the story has come to call several people so. Scenes may
// have been too few to show it when the name was given.
func (c *Curator) dropGeneral(ctx context.Context) error {
	if c.Tasks&Names == 0 {
		return nil
	}
	index, usage, err := c.Names.Words(ctx, c.Scene.Order)
	if err != nil {
		return err
	}
	ids := index.Possessives()
	if len(ids) == 0 {
		return nil
	}
	scenes, err := c.recentScenes(ctx, 0)
	if err != nil {
		return err
	}
	entries, err := c.entries(ctx, ids)
	if err != nil {
		return err
	}
	texts, at := textsOf(scenes), annotator.PlaceAt(c.Scene.Order, len(c.Scene.Posts)-1)
	var all []annotator.Revision
	var dropped []string
	for _, id := range ids {
		e := entries[id]
		if !slices.Contains(e.Tags, identity.Person) {
			continue
		}
		for _, name := range codex.OtherNames(names(e), e.Term) {
			if !mention.Possessive(name) || !index.General(name, texts, usage) {
				continue
			}
			revisions, err := revised(e, codex.Edit{
				Actor: annotator.ActorRule, At: at, DropAliases: []string{name},
			})
			if err == nil {
				all, dropped = append(all, revisions...), append(dropped, name+" ("+e.Name()+")")
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	text := "Names taken away, because they mean several people: " + strings.Join(dropped, ", ") + "."
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: text, Tokens: tokens.EstimateMessage(text)}
	if err := c.Records.Decide(ctx, nil, note, all, nil); err != nil {
		return err
	}
	c.Names.Invalidate(ids...)
	return nil
}

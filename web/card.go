package web

import (
	"context"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/view"
)

// entryCard says in short who an entry is, over the text that names it.
type entryCard struct {
	*annotator.Entry
	Kind  string
	Who   string // who it is as of the scene; empty if nothing is known by then
	First *annotator.SceneRow
}

// showCard answers with the card of an entry as of a scene of the reader's text: at=N. Its links keep the reader's
// limit.
func showCard(r *request, id int64) (*page, error) {
	ctx := r.Context()
	then, err := r.viewAt(ctx, int(min(r.queryNumber("at"), maxNumber)))
	if err != nil {
		return nil, err
	}
	entries, err := then.Outlines(ctx, []int64{id})
	if err != nil {
		return nil, err
	}
	card := &entryCard{Entry: entries[id]}
	if card.Entry == nil {
		return nil, notFound()
	}
	card.Kind = strings.Join(card.Tags, ", ")
	card.Who = codex.WithoutLinks(codex.Gist(card.Entry))
	seen, err := then.Seen(ctx, []int64{id})
	if err != nil {
		return nil, err
	}
	if at := r.view.place(seen[id].First); at.Scene != 0 {
		if card.First, err = r.view.Scene(ctx, at.Scene); err != nil {
			return nil, err
		}
	}
	return &page{template: "card", layout: "card", Data: card}, r.view.at.Err
}

// viewAt returns the view as of the end of a scene that the reader may see, else that of the reader.
func (r *request) viewAt(ctx context.Context, scene int) (*codexView, error) {
	if scene == 0 {
		return r.view, nil
	}
	if _, err := r.view.Scene(ctx, scene); err != nil {
		return nil, err
	}
	m, err := r.db.all().LimitAt(ctx, view.Point{Kind: view.PointScene, ID: int64(scene)})
	if isNotFound(err) || err == nil && !m.Within(&r.limit.moment) {
		return r.view, nil
	}
	return newView(ctx, r.db, m), err
}

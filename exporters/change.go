package exporters

import (
	"time"

	"annotator"
	"annotator/codex"
)

// Change is a revision of an entry, with its values as text.
type Change struct {
	Revision int64              `json:"revision"`
	Time     time.Time          `json:"time"`
	At       annotator.Position `json:"at"`   // of the quotation or the scene that caused it
	Seen     int                `json:"seen"` // the last scene that was read; a limit before its end hides the change
	Actor    annotator.Actor    `json:"actor"`
	Field    annotator.Field    `json:"field"`
	Old      string             `json:"old"` // empty if there was no value
	New      string             `json:"new"` // empty if no value is left
}

// NewChanges converts revisions, in their order.
func NewChanges(revisions []annotator.Revision, at func(annotator.Place) annotator.Position) []Change {
	list := make([]Change, len(revisions))
	for i := range revisions {
		r := &revisions[i]
		list[i] = Change{
			r.ID, time.UnixMilli(r.Changed).UTC(), at(r.At), at(annotator.PlaceAt(r.Seen, 0)).Scene, r.Actor,
			r.Field, codex.ValueText(r.Field, r.Old, at), codex.ValueText(r.Field, r.New, at),
		}
	}
	return list
}

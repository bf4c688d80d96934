package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"annotator"
	"annotator/curator"
	"annotator/storage"
)

// change is a revision as history shows it.
type change struct {
	Revision int64              `json:"revision"`
	Time     time.Time          `json:"time"`
	At       annotator.Position `json:"at"`
	Actor    annotator.Actor    `json:"actor"`
	Field    annotator.Field    `json:"field"`
	Old      string             `json:"old"` // empty where there was nothing
	New      string             `json:"new"` // empty where nothing is left
}

// changes reads the revisions of an entry, oldest first: those up to a moment, or all where it is nil.
func changes(ctx context.Context, g *storage.Glossary, p *places, entry int64, moment *storage.Moment) ([]change, error) {
	revisions, err := g.Revisions(ctx, entry)
	revisions = slices.DeleteFunc(revisions, func(r annotator.Revision) bool { return moment != nil && !moment.Holds(&r) })
	list := make([]change, len(revisions))
	for i := range revisions {
		r := &revisions[i]
		list[i] = change{r.ID, time.UnixMilli(r.Changed).UTC(), p.at(r.At), r.Actor, r.Field, worded(r.Field, r.Old), worded(r.Field, r.New)}
	}
	return list, err
}

// worded gives the value of a field in the words of the story. Some fields keep more than those, as JSON.
func worded(field annotator.Field, value string) string {
	var parts struct {
		Name, Text, Quote string
		Until             annotator.Place
	}
	switch field {
	case annotator.FieldCuratorDecision:
		return wordedDecision(value)
	case annotator.FieldAlias, annotator.FieldClaim, annotator.FieldEvidence:
		if json.Unmarshal([]byte(value), &parts) == nil {
			value = parts.Name + parts.Text + parts.Quote
		}
	}
	if parts.Until != 0 {
		value += fmt.Sprintf(" (until scene %d)", parts.Until.Scene())
	}
	return value
}

func wordedDecision(value string) string {
	var d curator.Decision
	if json.Unmarshal([]byte(value), &d) != nil {
		return value
	}
	into := ""
	if d.Target != 0 {
		into = fmt.Sprintf(" into #%d", d.Target)
	}
	return fmt.Sprintf("%s%s: %s", d.Action, into, d.Reason)
}

// printHistory shows changes a line each, as a blame does.
func printHistory(w io.Writer, name string, changes []change) error {
	if _, err := fmt.Fprintf(w, "%s\n\n", oneLine(name)); err != nil {
		return err
	}
	rows := make([][]string, len(changes))
	for i, c := range changes {
		rows[i] = []string{
			when(c.Time.UnixMilli()), fmt.Sprintf("scene %d", c.At.Scene), fmt.Sprintf("post %d", c.At.Post), string(c.Actor), string(c.Field),
			fromTo(c.Old, c.New),
		}
	}
	return table(w, rows)
}

func fromTo(before, after string) string {
	const width = 90
	switch {
	case before == "":
		return "+ " + shortened(after, width)
	case after == "":
		return "- " + shortened(before, width)
	}
	return shortened(before, width/2) + " -> " + shortened(after, width/2)
}

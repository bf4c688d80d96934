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

// change is a revision as show --history prints it.
type change struct {
	Revision int64              `json:"revision"`
	Time     time.Time          `json:"time"`
	At       annotator.Position `json:"at"`
	Actor    annotator.Actor    `json:"actor"`
	Field    annotator.Field    `json:"field"`
	Old      string             `json:"old"` // empty if there was no value
	New      string             `json:"new"` // empty if no value is left
}

// changes reads the revisions of an entry, oldest first: those up to a moment, or all if it is nil.
func changes(ctx context.Context, g *storage.Glossary, p *positions, entry int64, moment *storage.Moment) ([]change, error) {
	revisions, err := g.Revisions(ctx, entry)
	revisions = slices.DeleteFunc(revisions, func(r annotator.Revision) bool { return moment != nil && !moment.Holds(&r) })
	list := make([]change, len(revisions))
	for i := range revisions {
		r := &revisions[i]
		list[i] = change{r.ID, time.UnixMilli(r.Changed).UTC(), p.at(r.At), r.Actor, r.Field, readable(r.Field, r.Old), readable(r.Field, r.New)}
	}
	return list, err
}

// readable extracts the text of a field's value. Some fields are stored as JSON.
func readable(field annotator.Field, value string) string {
	var parts struct {
		Name, Text, Quote string
		Until             annotator.Place
	}
	switch field {
	case annotator.FieldCuratorDecision:
		return readableDecision(value)
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

func readableDecision(value string) string {
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

// printHistory prints a line for each change.
func printHistory(w io.Writer, name string, changes []change) error {
	if _, err := fmt.Fprintf(w, "%s\n\n", oneLine(name)); err != nil {
		return err
	}
	rows := make([][]string, len(changes))
	for i, c := range changes {
		rows[i] = []string{
			localTime(c.Time.UnixMilli()), fmt.Sprintf("scene %d", c.At.Scene), fmt.Sprintf("post %d", c.At.Post), string(c.Actor), string(c.Field),
			oldToNew(c.Old, c.New),
		}
	}
	return printTable(w, rows)
}

func oldToNew(before, after string) string {
	const width = 90
	switch {
	case before == "":
		return "+ " + shorten(after, width)
	case after == "":
		return "- " + shorten(before, width)
	}
	return shorten(before, width/2) + " -> " + shorten(after, width/2)
}

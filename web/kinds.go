package web

import (
	"slices"
	"strings"
)

// kind is what an entry is, in the columns of a cast.
type kind int

// The kinds, in the order of the columns.
const (
	people kind = iota
	places
	groups
	things
	events
	others
)

// kindTags are tags of each kind, as models write them.
var kindTags = [...][]string{
	people: {
		"person", "people", "character", "protagonist", "antagonist", "figure", "human", "animal", "creature", "npc",
		"deity", "god",
	},
	places: {
		"place", "location", "setting", "city", "town", "village", "country", "region", "building", "island", "planet",
		"room", "ship",
	},
	groups: {
		"group", "organization", "organisation", "faction", "family", "guild", "species", "race", "people-group",
		"institution", "company", "army", "house",
	},
	things: {"object", "thing", "item", "artifact", "artefact", "document", "weapon", "substance", "vehicle", "food"},
	events: {"event", "battle", "incident", "meeting", "ceremony"},
	others: nil,
}

// kindOf returns the kind that the first known tag says.
func kindOf(tags []string) kind {
	for k, names := range kindTags {
		if slices.ContainsFunc(tags, func(tag string) bool { return slices.Contains(names, tag) }) {
			return kind(k)
		}
	}
	return others
}

// Related is the heading of the entries of a kind that the facts of an entry name.
func (k kind) Related() string {
	if k == others {
		return "Other entries"
	}
	return "Related " + strings.ToLower(k.String())
}

// String is the heading of a column.
func (k kind) String() string {
	return [...]string{"People", "Places", "Groups", "Things", "Events", "Others"}[k]
}

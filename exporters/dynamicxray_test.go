package exporters_test

import (
	"database/sql"
	"strings"
	"testing"

	"annotator/exporters"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // the driver
	"pgregory.net/rapid"
)

// dynamicXrayTable is the table of Dynamic Xray after its updates, as its xraydatasaver.lua creates it.
const dynamicXrayTable = `CREATE TABLE xray_items (id INTEGER NOT NULL, ebook, name, short_names, description,
	xray_type INTEGER NOT NULL DEFAULT 1, aliases, tags, linkwords, book_hits INTEGER, chapter_hits, chapter_hits_data,
	non_breakable INTEGER NOT NULL DEFAULT 0, CONSTRAINT ebook_xray_name_unique UNIQUE(ebook, name),
	PRIMARY KEY(id AUTOINCREMENT))`

// xrayItem is an item of Dynamic Xray.
type xrayItem struct {
	Book, Name, Description, Aliases, Tags string
	Type                                   int
}

// runSQL runs scripts on a database of Dynamic Xray and returns its items.
func runSQL(t fataler, scripts ...string) []xrayItem {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	for _, script := range append([]string{dynamicXrayTable}, scripts...) {
		if _, err := db.Exec(script); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := db.Query(
		"SELECT ebook, name, description, aliases, tags, xray_type FROM xray_items ORDER BY name, ebook")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var items []xrayItem
	for rows.Next() {
		var i xrayItem
		if err := rows.Scan(&i.Book, &i.Name, &i.Description, &i.Aliases, &i.Tags, &i.Type); err != nil {
			t.Fatal(err)
		}
		items = append(items, i)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return items
}

// TestDynamicXrayHasAnItemAnEntry: SQLite runs the script, which gives each entry an item. A second run changes
// nothing.
func TestDynamicXrayHasAnItemAnEntry(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		codex := withStory(t)
		codex.Name = text().Draw(t, "name")
		script := string(write(t, "dynamic-xray", codex))
		once, twice := runSQL(t, script), runSQL(t, script, script)
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Fatal(diff)
		}
		if len(once) != len(codex.Entries) {
			t.Fatalf("%d items of %d entries", len(once), len(codex.Entries))
		}
		for _, item := range once {
			if names := item.Name + item.Aliases + item.Tags; item.Book != codex.Name+".epub" ||
				strings.ContainsAny(names, "()[]%*+?^$\n") {
				t.Fatalf("%+v", item)
			}
		}
	})
}

// TestDynamicXrayReplacesOnlyItself: an export replaces the items of the last one, also one as of a later scene. Items
// of the user and of other books stay.
func TestDynamicXrayReplacesOnlyItself(t *testing.T) {
	t.Parallel()
	script := func(entries ...exporters.Entry) string {
		doc := exporters.Document{Entries: entries}
		return string(write(t, "dynamic-xray", &exporters.Codex{Document: &doc, Name: "it's"}))
	}
	later := script(
		exporters.Entry{
			ID: 1, Term: "Edmond", Tags: []string{"person"}, Aliases: []exporters.Alias{{Name: "the Count"}},
		},
		exporters.Entry{ID: 2, Term: "Haydée", Tags: []string{"person", "a, b"}},
	)
	earlier := script(exporters.Entry{ID: 1, Term: "Edmond", Tags: []string{"person"}})
	own := `INSERT INTO xray_items (ebook, name, description, aliases, tags) VALUES
		('it''s.epub', 'Mercédès', 'mine', '', 'x'), ('other.epub', 'Edmond', 'theirs', '', 'annotator')`
	want := []xrayItem{
		{Book: "it's.epub", Name: "Edmond", Tags: "annotator, person", Type: 1},
		{Book: "other.epub", Name: "Edmond", Description: "theirs", Tags: "annotator", Type: 1},
		{Book: "it's.epub", Name: "Mercédès", Description: "mine", Tags: "x", Type: 1},
	}
	if diff := cmp.Diff(want, runSQL(t, own, later, earlier)); diff != "" {
		t.Error(diff)
	}
	want[0].Aliases = "the Count,"
	want = append(want[:1], xrayItem{Book: "it's.epub", Name: "Haydée", Tags: "annotator, person", Type: 1})
	if diff := cmp.Diff(want, runSQL(t, earlier, later)); diff != "" {
		t.Error(diff)
	}
}

package exporters

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// dynamicXrayTag marks the items of an export, so that the next one replaces them. It is one of their tags.
const dynamicXrayTag = "annotator"

// dynamicXrayHead replaces the items of an earlier export. It expects the table of Dynamic Xray.
const dynamicXrayHead = `-- For the plugin Dynamic Xray. Run it on bookinfo_cache.sqlite3 while KOReader is closed.
BEGIN;
DROP TABLE IF EXISTS temp.annotator_book;
CREATE TEMP TABLE annotator_book AS SELECT %s AS name; -- the file name of the book
DELETE FROM xray_items WHERE ebook = (SELECT name FROM annotator_book) AND ', ' || tags || ',' LIKE '%%, %s,%%';
`

const dynamicXrayItem = `INSERT OR IGNORE INTO xray_items (ebook, name, description, xray_type, aliases, tags)
SELECT name, %s, %s, %d, %s, %s FROM annotator_book;
`

// writeDynamicXray writes a script of SQL with the items of Dynamic Xray (xraydatasaver.lua). Items of the user stay,
// also those that have a name of the codex.
func writeDynamicXray(_ context.Context, w io.Writer, c *Codex) error {
	out := bufio.NewWriter(w)
	_, _ = fmt.Fprintf(out, dynamicXrayHead, sqlString(c.Name+".epub"), dynamicXrayTag) // Flush returns the error
	entries := c.lore()
	people, _, _ := byKind(entries)
	persons := map[int64]bool{}
	for _, l := range people {
		persons[l.ID] = true
	}
	used := map[string]bool{}
	for _, l := range entries {
		kind := 3 // a term
		if persons[l.ID] {
			kind = 1
		}
		name := withoutPatterns(l.Term)
		if used[name] {
			name = withoutPatterns(l.Title)
		}
		for name == "" || used[name] {
			name = strings.TrimSpace(fmt.Sprintf("%s %d", name, l.ID))
		}
		used[name] = true
		aliases, tags := commaList(aliasNames(l.Entry)), commaList(append([]string{dynamicXrayTag}, l.Tags...))
		_, _ = fmt.Fprintf(out, dynamicXrayItem, sqlString(name), sqlString(l.Content), kind, sqlString(aliases),
			sqlString(tags))
	}
	_, _ = io.WriteString(out, "DROP TABLE annotator_book;\nCOMMIT;\n")
	return out.Flush()
}

// withoutPatterns returns a name in one line without the characters of Lua's patterns: Dynamic Xray matches with names.
func withoutPatterns(name string) string {
	return oneLine(strings.Map(func(r rune) rune {
		if strings.ContainsRune("()[]%*+?^$", r) {
			return -1
		}
		return r
	}, name))
}

// commaList returns names as Dynamic Xray reads a list of them: with a comma, also if there is only one of several
// words. A name with a comma, or one that is a pattern of Lua, has no form there and is left out.
func commaList(names []string) string {
	listed := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name == "" || strings.Contains(name, ",") || withoutPatterns(name) != name
	})
	list := strings.Join(listed, ", ")
	if len(listed) == 1 && strings.Contains(list, " ") {
		list += ","
	}
	return list
}

// sqlString returns a text as a string of SQL. SQLite ends a text at a zero byte, so these are left out.
func sqlString(text string) string {
	return "'" + strings.NewReplacer("'", "''", "\x00", "").Replace(text) + "'"
}

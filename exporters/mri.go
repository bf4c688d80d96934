package exporters

import (
	"context"
	"strings"
)

// mriTolerance is how far a reader may be from the place of a list of MRI to be shown it, in percent of the book.
const mriTolerance = 5

// writeMRI writes the lists of people, places and concepts that the plugin MRI of KOReader keeps for a book. They lie
// in KOReader's own file on the book, under mri_entity_directories.
func writeMRI(ctx context.Context, files Files, c *Codex) error {
	threads, err := c.Text.Threads(ctx)
	if err != nil {
		return err
	}
	marks, err := c.marks(ctx, threads)
	if err != nil {
		return err
	}
	people, places, things := byKind(c.lore())
	lists := luaTable{}
	for name, entries := range map[string][]lore{"people": people, "places": places, "concepts": things} {
		if len(entries) == 0 {
			continue
		}
		lists[name] = luaTable{
			"text": mriList(entries), "created_at": c.Updated.Unix(), "spoilers": false,
			// MRI also shows a list to readers who are not as far, so its place is later by the tolerance.
			"progress_percent": 100*marks[len(marks)-1].share + mriTolerance,
		}
	}
	return writeLua(files, noteName(c.Name)+".sdr/metadata.epub.lua", "", luaTable{"mri_entity_directories": lists})
}

// mriList returns a list as MRI shows it: an entry a paragraph. MRI reads a number that begins a line as an item.
func mriList(entries []lore) string {
	return strings.Join(each(entries, func(l lore) string {
		text := strings.Join(append([]string{l.Title}, aliasNames(l.Entry)...), ", ")
		if l.Content != "" {
			text += ": " + l.Content
		}
		return "- " + oneLine(text)
	}), "\n\n")
}

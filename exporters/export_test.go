package exporters

// LinkDocument links names in a document of one chapter.
func LinkDocument(text []byte, names map[string]int64) []byte {
	chapter := &epubChapter{file: "codex/notes.xhtml", names: names, entries: map[int64]*Entry{}}
	for name, id := range names {
		chapter.entries[id] = &Entry{ID: id, Term: name}
	}
	chapter.compile()
	return linkDocument(text, []epubPlace{{0, chapter}}, "..", true)
}

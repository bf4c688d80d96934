package exporters

// LinkDocument links names in a document of one scene.
func LinkDocument(text []byte, names map[string]int64) []byte {
	scene := &epubScene{1, 1, &epubChapter{file: "codex/notes.xhtml"}, names, map[int64]bool{}}
	return linkDocument(text, []epubPlace{{0, scene}}, "..", true)
}

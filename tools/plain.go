package tools

import "html"

// plain undoes the escaping in which a model is shown the story: what it copies from there may come back escaped.
func plain(text string) string { return html.UnescapeString(text) }

func plainAll(texts []string) []string {
	for i := range texts {
		texts[i] = plain(texts[i])
	}
	return texts
}

func plainPointer(text *string) *string {
	if text == nil {
		return nil
	}
	p := plain(*text)
	return &p
}

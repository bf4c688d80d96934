package tools

import "html"

// plain undoes the escaping in which a model is shown the story: what it copies from there may come back escaped.
func unescape(text string) string { return html.UnescapeString(text) }

func unescapeAll(texts []string) []string {
	for i := range texts {
		texts[i] = unescape(texts[i])
	}
	return texts
}

func unescapePointer(text *string) *string {
	if text == nil {
		return nil
	}
	p := unescape(*text)
	return &p
}

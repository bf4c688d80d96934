package tools

import "html"

// unescape undoes the escaping of the story in prompts. Text that a model copies from a prompt may be escaped.
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
	return new(unescape(*text))
}

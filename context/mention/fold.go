package mention

import "slices"

// Words returns the words of a text in its order, as names and texts are compared.
func Words(text string) []string {
	var words []string
	for s := (scanner{text: text}); s.next(); {
		words = append(words, string(s.folded))
	}
	return words
}

// DistinctWords returns the words of texts as Words does, each once, sorted.
func DistinctWords(texts []string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, Words(text)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

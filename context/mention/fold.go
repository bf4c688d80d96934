package mention

import (
	"maps"
	"slices"
)

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
	distinct := map[string]bool{}
	for _, text := range texts {
		for s := (scanner{text: text}); s.next(); {
			if !distinct[string(s.folded)] {
				distinct[string(s.folded)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(distinct))
}

package mention

import (
	"slices"
	"strings"

	"annotator/codex/identity"
)

// possessives are pronouns that say whose something is, in languages in which they are words of their own.
const possessives = " my your his her its our their mein meine dein deine sein seine ihr ihre unser unsere " +
	"mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs mi mis tu tus su sus nuestro nuestra " +
	"mio mia tuo tua suo sua nostro nostra loro meu minha teu tua seu sua nosso nossa " +
	"mijn jouw zijn haar ons onze hun " +
	"мой моя твой твоя его её ее их наш наша ваш ваша mój moja twój twoja jego jej ich nasz nasza "

// Possessive reports whether a name begins with such a pronoun, as "his father" does.
func Possessive(name string) bool {
	first, rest, _ := strings.Cut(name, " ")
	return rest != "" && hasWord(possessives, first)
}

// Possessives returns the entries with such a name, by id.
func (x *Index) Possessives() (ids []int64) {
	for id, names := range x.names {
		if slices.ContainsFunc(names, Possessive) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Common reports whether a name is a word that a story may use of others as well. Such is a noun without a capital,
// alone or behind an article, and a title alone.
func Common(name string) bool {
	name = withoutPossessive(name)
	words := Words(name)
	isArticle := func(list string) bool { return hasWord(list, words[0]) }
	if len(words) == 2 && slices.ContainsFunc(articles, isArticle) {
		words = words[1:]
	}
	hasSmallLetters, hasCapitals := name != strings.ToUpper(name), name != strings.ToLower(name)
	return len(words) == 1 && (hasSmallLetters && !hasCapitals || identity.IsTitle(words[0]))
}

// leastGeneral is how often scenes have a noun that they use of several people.
const leastGeneral = 4

// General reports whether scenes call several people by a name, as by "his father" or "girl". It is a noun without a
// capital, alone, or behind an article or a pronoun. Less than half of the occurrences of the noun, outside of longer
// names, are with these words. A noun alone is counted with an article, if the language has any.
func (x *Index) General(name string, scenes []string, usage *Usage) bool {
	words := Words(name)
	if strings.ToLower(name) != name || len(words) == 0 || len(words) > 2 {
		return false
	}
	r := newRecurring(x, usage)
	r.count(scenes)
	noun, determiner := words[len(words)-1], ""
	if len(words) > 1 {
		switch first := words[0]; {
		case hasWord(possessives, first):
			determiner = first
		case !hasWord(r.articles, first):
			return false
		}
	}
	head, owner := r.numbers[noun], r.numbers[determiner]
	all, own := 0, 0
	for _, tokens := range r.scenes {
		for i := range tokens {
			if tokens[i].word != head || inLongerName(tokens, i) {
				continue
			}
			all++
			switch {
			case determiner == "" && r.articles == "":
				own++
			case !tokens[i].follows:
			case determiner == "" && r.article(&tokens[i-1]), tokens[i-1].word == owner:
				own++
			}
		}
	}
	return all >= leastGeneral && 2*own < all
}

// inLongerName reports whether a word belongs to a name of several words.
func inLongerName(tokens []token, i int) bool {
	name := tokens[i].name
	return name != 0 && (i > 0 && tokens[i-1].name == name || i+1 < len(tokens) && tokens[i+1].name == name)
}

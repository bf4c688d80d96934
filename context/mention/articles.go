package mention

import (
	"strings"
)

// findNouns collects the words that follow an article, and those before it. It finds the one that most often follows
// the former.
func (r *recurring) findNouns() {
	if r.articles == "" {
		return
	}
	for _, tokens := range r.scenes {
		for i := range tokens {
			if !tokens[i].follows || !r.article(&tokens[i-1]) {
				continue
			}
			r.known[tokens[i].word].noun = true
			if i > 1 && tokens[i-1].follows {
				r.known[tokens[i-2].word].leads++
				r.led++
			}
			if i+1 < len(tokens) && tokens[i+1].follows {
				r.known[tokens[i+1].word].following++
			}
		}
	}
	for i := range r.known {
		if best, w := &r.known[r.link], &r.known[i]; w.following > best.following ||
			w.following == best.following && w.folded < best.folded {
			r.link = int32(i)
		}
	}
	if !r.common(&r.known[r.link]) {
		r.link = 0
	}
}

// An article may have lost its vowel, with an apostrophe in its place.
const (
	elided      = "l'"
	apostrophes = "'’ʼ"
)

// articles are the definite articles of languages in which they are words of their own.
var articles = []string{
	" the ",                     // English
	" der die das den dem des ", // German
	" le la les l' ",            // French
	" el la los las ",           // Spanish
	" il lo la i gli le l' ",    // Italian
	" o a os as ",               // Portuguese
	" de het ",                  // Dutch
	" a az ",                    // Hungarian
	" ο η το οι τα τον την του της ", // Greek
}

// A text has articles if more than one of articleShare words is one.
const articleShare = 30

// articlesOf returns the articles of the language that has most of a text's words as articles.
func articlesOf(total func(word string) int, words int) string {
	best, most := "", words/articleShare
	for _, list := range articles {
		n := 0
		for article := range strings.FieldsSeq(list) {
			n += total(article)
		}
		if n > most {
			best, most = list, n
		}
	}
	return best
}

// findArticles marks the articles of the language.
func (r *recurring) findArticles() {
	r.articles = articlesOf(func(word string) int { return r.known[r.numbers[word]].total }, r.words)
	for article := range strings.FieldsSeq(r.articles) {
		r.known[r.number([]byte(article))].article = true
	}
}

func hasWord(list, word string) bool { return strings.Contains(list, " "+word+" ") }

func (r *recurring) article(t *token) bool { return r.known[t.word].article }

// A word leads to articles if it is before more than one of leadShare of them, as prepositions are, and leastLeads.
const leadShare, leastLeads = 40, 3

// leadsTo reports whether a word leads to articles.
func (r *recurring) leadsTo(t *token) bool {
	n := r.known[t.word].leads
	return n >= leastLeads && n*leadShare > r.led
}

package mention

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Phrase is what a story keeps calling something, and no name of an entry.
type Phrase struct {
	Text   string // as the story writes it; with its article unless it has a capital
	Key    string // the form in which phrases compare: without an article
	Count  int    // occurrences
	Scenes int    // that have it
	Scene  int    // the index of the first of them
	Start  int    // where it first occurs there, in bytes
}

// PhraseKey returns the form in which a phrase compares: its words, without an article in front.
func PhraseKey(text string) string {
	words := Words(text)
	if len(words) == 1 && strings.HasPrefix(words[0], elided) {
		return words[0][len(elided):]
	}
	if len(words) > 1 && slices.ContainsFunc(articles, func(list string) bool { return hasWord(list, words[0]) }) {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

// Bounds of a phrase that is worth a question.
const (
	phraseWords  = 3 // the most, without the article
	phraseScenes = 2 // the fewest that have it
	phraseScore  = 3 // the least; see recurring.score
)

// Recurring returns phrases that scenes of a story keep using as a name is used, the most name-like first. They are no
// names of the index. They are capitalised words, and definite phrases in languages whose article is a word of its own.
// Those for whose keys skip returns true are left out. Usage is that of the story.
func (x *Index) Recurring(scenes []string, usage *Usage, skip func(key string) bool, limit int) []Phrase {
	r := newRecurring(x, usage)
	r.read(scenes)
	r.extend()
	var found []*recurrent
	for _, p := range r.phrases {
		if p.scenes < phraseScenes || p.ends == 0 || p.extended || r.common(r.last(p)) || !r.nameLike(p) {
			continue
		}
		if r.spell(p); !skip(p.key) && !x.isName(p.form()) && !x.isName(p.text()) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b *recurrent) int {
		return cmp.Or(cmp.Compare(r.score(b), r.score(a)), cmp.Compare(a.key, b.key))
	})
	list := make([]Phrase, min(limit, len(found)))
	for i := range list {
		p := found[i]
		list[i] = Phrase{
			Text: p.text(), Key: p.key, Count: p.ends, Scenes: p.scenes, Scene: p.scene, Start: p.start,
		}
	}
	return list
}

// isName reports whether a phrase is a whole name of an entry.
func (x *Index) isName(phrase string) bool {
	return slices.ContainsFunc(x.Occurrences(phrase), func(o Occurrence) bool {
		return o.Start == 0 && o.End == len(phrase)
	})
}

// recurring collects the phrases of some scenes.
type recurring struct {
	index    *Index
	usage    *Usage
	articles string // of the story's language, as a list of words; empty for none
	capitals bool   // a capital inside a sentence shows a name
	texts    []string
	scenes   [][]token // their words
	words    int
	numbers  map[string]int32 // of the words in known, folded
	known    []knownWord      // the different words; 0 is none
	led      int              // words before an article
	link     int32            // the word that most often follows nouns, as "of" does; 0 for none
	phrases  map[phraseKey]*recurrent
}

// knownWord is what is known of a word.
type knownWord struct {
	folded    string // without a possessive ending
	usage     wordUsage
	total     int  // occurrences
	inNames   int  // of these, those inside of names of several words
	heads     int  // entries with a name of which it is the head
	leads     int  // of these, those before an article
	following int  // of these, those after a word with an article
	noun      bool // it follows an article somewhere
	article   bool
}

// phraseKey are the words of a phrase.
type phraseKey [phraseWords]int32

// token is a word of a scene.
type token struct {
	word       int32 // its number
	start, end int32 // without a possessive ending
	name       int32 // 1 and more: the occurrence of a name to which it belongs
	possessive bool  // it ends a phrase
	capital    bool
	inside     bool // of a sentence
	follows    bool // a single space is between the word before and it
	dotted     bool // a full stop and a space are
}

// recurrent is a phrase with its occurrences.
type recurrent struct {
	key      string
	words    []int32
	article  string         // that is before it; empty for none
	forms    map[string]int // how it is written without that
	ends     int            // occurrences that neither a noun nor "of" follows
	starts   int            // of these, those that begin a sentence
	all      int            // occurrences behind an article
	led      int            // of these, those behind a word that leads to articles
	dotted   int            // of ends, those that a full stop and a capital follow
	extended bool           // a longer phrase is there as often, or a shorter one more often
	scenes   int            // that have it
	newest   int            // of these, from 1
	scene    int            // the index of the first of them
	start    int            // where it is there, in bytes
}

func newRecurring(x *Index, usage *Usage) *recurring {
	return &recurring{
		index: x, usage: usage, numbers: map[string]int32{}, known: make([]knownWord, 1),
		phrases: map[phraseKey]*recurrent{},
	}
}

// number returns the number of a folded word.
func (r *recurring) number(folded []byte) int32 {
	number, known := r.numbers[string(folded)]
	if !known {
		number = int32(len(r.known))
		word := string(folded)
		r.numbers[word] = number
		r.known = append(r.known, knownWord{folded: word, usage: r.usage.of(word)})
	}
	return number
}

// count collects the words of scenes, and finds the articles of their language.
func (r *recurring) count(scenes []string) {
	r.texts = scenes
	for _, text := range scenes {
		tokens := r.tokens(text)
		r.scenes = append(r.scenes, tokens)
		for i := range tokens {
			w := &r.known[tokens[i].word]
			if w.total++; inLongerName(tokens, i) {
				w.inNames++
			}
		}
		r.words += len(tokens)
	}
	r.findArticles()
}

func (r *recurring) read(scenes []string) {
	r.count(scenes)
	r.capitals = r.capitalsMatter()
	r.findHeads()
	r.findNouns()
	for n, tokens := range r.scenes {
		for i := range tokens {
			switch {
			case r.article(&tokens[i]):
				r.definite(n, tokens, i)
			case i == 0 || !r.article(&tokens[i-1]) || !tokens[i].follows:
				r.capitalised(n, tokens, i)
			}
		}
	}
}

// tokens returns the words of a text, and which of them belong to names. An elided article is a word.
func (r *recurring) tokens(text string) []token {
	var numbers []int32 // of the words; negative with a possessive ending
	read := r.index.readEach(text, func(folded []byte) {
		number := r.number(bare(folded))
		if len(bare(folded)) < len(folded) {
			number = -number
		}
		numbers = append(numbers, number)
	})
	defer r.index.done(read)
	words := read.words
	var names []span
	r.index.findNames(words, read.stems, func(_ int64, h hit, start int32) {
		names = append(names, span{start, h.last})
	})
	list, at, end := make([]token, 0, len(words)), 0, int32(0)
	for i := range words {
		w := &words[i]
		for at < len(names) && names[at].end <= w.start {
			at++
		}
		between := text[end:w.start]
		t := token{
			word: numbers[i], start: w.start, end: w.end, capital: w.capital, inside: w.inside,
			follows: len(list) > 0 && (between == " " || between == "\n"), dotted: len(list) > 0 && between == ". ",
		}
		end = w.end
		if at < len(names) && names[at].start <= w.start {
			t.name = int32(at + 1)
		}
		if t.possessive = t.word < 0; t.possessive {
			t.word = -t.word
			t.end = w.start + int32(strings.LastIndexAny(text[w.start:w.end], apostrophes))
		}
		if folded := r.known[t.word].folded; strings.HasPrefix(folded, elided) && len(folded) > len(elided) {
			article := t
			article.word = r.number([]byte(elided))
			list = append(list, article)
			_, size := utf8.DecodeRuneInString(text[w.start+1:])
			t.word, t.start, t.follows = r.number([]byte(folded[len(elided):])), w.start+1+int32(size), true
			first, _ := utf8.DecodeRuneInString(text[t.start:])
			t.capital = unicode.IsUpper(first)
		}
		list = append(list, t)
	}
	return list
}

// A capital shows a name unless one of capitalNouns words inside sentences has one, as in German.
const capitalNouns = 7

func (r *recurring) capitalsMatter() bool {
	inside, capital := 0, 0
	for _, tokens := range r.scenes {
		for i := range tokens {
			if tokens[i].inside {
				inside++
				if tokens[i].capital {
					capital++
				}
			}
		}
	}
	return capital*capitalNouns < inside
}

// definite adds the phrases that begin with the article at an index.
func (r *recurring) definite(scene int, all []token, at int) {
	led := at > 0 && all[at].follows && r.leadsTo(&all[at-1])
	tokens := all[at:]
	for n := 1; n <= phraseWords && n < len(tokens) && tokens[n].follows; n++ {
		if r.known[tokens[n].word].folded == elided || r.article(&tokens[n]) {
			break
		}
		if p := r.add(scene, tokens[1:n+1], tokens[n+1:], tokens[0].inside); p != nil {
			p.article = r.known[tokens[0].word].folded
			p.all++
			if led {
				p.led++
			}
		}
		if tokens[n].possessive {
			break
		}
	}
}

// capitalised adds the run of capitalised words at an index, if it begins there.
func (r *recurring) capitalised(scene int, tokens []token, at int) {
	first := &tokens[at]
	if !r.capitals || !r.capital(first) || at > 0 && first.follows && first.inside && r.capital(&tokens[at-1]) {
		return
	}
	n := 1
	for at+n < len(tokens) && n <= phraseWords && tokens[at+n].follows && r.capital(&tokens[at+n]) &&
		!tokens[at+n-1].possessive {
		n++
	}
	if n <= phraseWords {
		r.add(scene, tokens[at:at+n], tokens[at+n:], first.inside)
	}
}

// capital reports whether a word is written as a name is.
func (r *recurring) capital(t *token) bool {
	if !t.capital {
		return false
	}
	w := &r.known[t.word]
	before, _, contracted := strings.Cut(w.folded, "'")
	return w.usage.capital > 0 && r.usage.proper(w.folded, true, t.inside) &&
		(!contracted || !r.usage.common(before))
}

// add adds an occurrence of a phrase, unless it is a part of a name: then it returns nil.
func (r *recurring) add(scene int, words, after []token, inside bool) *recurrent {
	last := &words[len(words)-1]
	if name := words[0].name; name != 0 && last.name == name {
		return nil
	}
	var key phraseKey
	for i := range words {
		key[i] = words[i].word
	}
	p := r.phrases[key]
	if p == nil {
		p = &recurrent{forms: map[string]int{}, scene: scene, start: int(words[0].start)}
		p.words = append(p.words, key[:len(words)]...)
		r.phrases[key] = p
	}
	if p.newest != scene+1 {
		p.newest, p.scenes = scene+1, p.scenes+1
	}
	if len(after) > 0 && after[0].follows && !last.possessive &&
		(r.known[after[0].word].noun || after[0].word == r.link) {
		return p
	}
	p.ends++
	if !inside {
		p.starts++
	}
	if len(after) > 0 && after[0].dotted && after[0].capital {
		p.dotted++
	}
	form := r.texts[scene][words[0].start:last.end]
	if strings.Contains(form, "\n") {
		form = strings.ReplaceAll(form, "\n", " ")
	}
	p.forms[form]++
	return p
}

// spell sets the key of a phrase.
func (r *recurring) spell(p *recurrent) {
	for i, word := range p.words {
		if i > 0 {
			p.key += " "
		}
		p.key += r.known[word].folded
	}
}

// last returns the last word of a phrase.
func (r *recurring) last(p *recurrent) *knownWord { return &r.known[p.words[len(p.words)-1]] }

// form returns how the phrase is written most often, without its article.
func (p *recurrent) form() string {
	best := ""
	for form, n := range p.forms {
		if n > p.forms[best] || n == p.forms[best] && form < best {
			best = form
		}
	}
	return best
}

// text returns the phrase as a name. Without its article, one in lower case would be found everywhere.
func (p *recurrent) text() string {
	form := p.form()
	switch {
	case p.article == "" || strings.ToLower(form) != form:
		return form
	case p.article == elided:
		return p.article + form
	}
	return p.article + " " + form
}

// extend marks the phrases that are a part of a longer one, and those with a word too many.
func (r *recurring) extend() {
	for key, p := range r.phrases {
		for n := len(p.words) - 1; n > 0; n-- {
			key[n] = 0
			shorter := r.phrases[key]
			switch {
			case shorter == nil:
			case shorter.ends > p.ends:
				p.extended = true
			case p.scenes >= phraseScenes && !r.common(r.last(p)):
				shorter.extended = true
			}
		}
	}
}

package mention_test

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"annotator/context/mention"

	"golang.org/x/text/unicode/norm"
)

// naive finds names by trying every one at every word, with a tokenizer of its own.
type naive []named

type named struct {
	id      int64
	words   []token
	capital int // the last of the words that is capitalised; -1 for none
}

type token struct {
	folded     string
	start, end int
	capital    bool
	attached   bool
	paragraph  bool
}

const (
	run       = `[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ーｰ]`
	bounded   = `[\p{Latin}\p{Greek}\p{Cyrillic}\p{Hangul}\p{Nd}]`
	joinedSet = `['’\-‐‑]`
)

var tokens = regexp.MustCompile(run + `[\pM\p{Cf}]*|` + bounded +
	`[\pM\p{Cf}\p{Latin}\p{Greek}\p{Cyrillic}\p{Hangul}\p{Nd}]*(?:` + joinedSet + bounded +
	`[\pM\p{Cf}\p{Latin}\p{Greek}\p{Cyrillic}\p{Hangul}\p{Nd}]*)*`)

func tokenize(text string) []token {
	var list []token
	end := 0
	for _, span := range tokens.FindAllStringIndex(text, -1) {
		word, gap := text[span[0]:span[1]], text[end:span[0]]
		folded := strings.ToLower(norm.NFD.String(strings.NewReplacer("’", "'", "‐", "-", "‑", "-", "\u200b", "",
			"\u00ad", "", "\ufe0f", "").Replace(word)))
		list = append(list, token{
			folded: folded, start: span[0], end: span[1], capital: unicode.IsUpper([]rune(word)[0]),
			attached: gap == "" && len(list) > 0, paragraph: strings.Count(gap, "\n") > 1,
		})
		end = span[1]
	}
	return list
}

func (n *naive) add(name string, id int64) {
	n.remove(name, id)
	if words := tokenize(name); len(words) > 0 {
		capital := len(words) - 1
		for capital >= 0 && !words[capital].capital {
			capital--
		}
		*n = append(*n, named{id, words, capital})
	}
}

func (n *naive) remove(name string, id int64) {
	*n = slices.DeleteFunc(*n, func(other named) bool {
		return other.id == id && sameTokens(tokenize(name), other.words)
	})
}

// sameName reports whether two spellings are one name.
func sameName(a, b string) bool { return sameTokens(tokenize(a), tokenize(b)) }

func sameTokens(a, b []token) bool {
	return slices.EqualFunc(a, b, sameWord) && slices.EqualFunc(a[min(1, len(a)):], b[min(1, len(b)):], sameJoint)
}

func sameWord(a, b token) bool  { return a.folded == b.folded }
func sameJoint(a, b token) bool { return a.attached == b.attached }

// at returns where a name ends in bytes if it begins the text's words, or 0.
func (n *named) at(text []token) int {
	if len(text) < len(n.words) || n.capital >= 0 && !text[n.capital].capital {
		return 0
	}
	for i, want := range n.words {
		got := text[i]
		if i > 0 && (got.paragraph || got.attached != want.attached) {
			return 0
		}
		if got.folded != want.folded && (i < len(n.words)-1 || behind(want.folded, got.folded) == 0) {
			return 0
		}
	}
	last := len(n.words) - 1
	return text[last].end - behind(n.words[last].folded, text[last].folded)
}

// behind counts the characters after a name's last word where it is a possessive or followed by particles alone. It
// returns 0 where there is something else.
func behind(stem, word string) int {
	if word == stem+"'s" {
		return 1
	}
	return particlesBehind(norm.NFC.String(stem), norm.NFC.String(word))
}

func particlesBehind(stem, word string) int {
	rest, ok := strings.CutPrefix(word, stem)
	if !ok || rest == "" || len([]rune(rest)) > 8 {
		return 0
	}
	for particle, sounds := range naiveParticles {
		if strings.HasPrefix(rest, particle) && strings.Contains(sounds, lastSound(stem)) &&
			(rest == particle || particlesBehind(stem+particle, word) > 0) {
			return len([]rune(rest))
		}
	}
	return 0
}

// naiveParticles are the particles in the texts of the tests. The sounds that they follow are a vowel, the consonant ㄹ
// (l), any other (c), or unknown.
var naiveParticles = map[string]string{
	"은": "cl?", "는": "v?", "이": "cl?", "가": "v?", "로": "vl?", "으로": "cl?", "에서": "clv?", "만": "clv?", "에": "clv?",
	"이랑": "cl?", "랑": "v?",
}

// lastSound returns how a composed word ends.
func lastSound(word string) string {
	runes := []rune(word)
	syllable := runes[len(runes)-1] - '가'
	switch {
	case syllable < 0 || syllable > '힣'-'가':
		return "?"
	case syllable%28 == 0:
		return "v"
	case syllable%28 == 8:
		return "l"
	}
	return "c"
}

func (n *named) length() int {
	length := 0
	for i, w := range n.words {
		if i == 0 || !w.attached {
			length++
		}
	}
	return length
}

type occurrence struct{ start, end, name int }

func (n naive) find(text string) []mention.Match {
	words := tokenize(text)
	var all []occurrence
	for i := range words {
		for k := range n {
			if end := n[k].at(words[i:]); end > 0 {
				all = append(all, occurrence{words[i].start, end, k})
			}
		}
	}
	byID := map[int64]mention.Match{}
	for _, o := range all {
		if slices.ContainsFunc(all, o.inside) {
			continue
		}
		m, seen := byID[n[o.name].id]
		if !seen {
			m = mention.Match{ID: n[o.name].id, First: o.start}
		}
		m.Count++
		m.Words = max(m.Words, n[o.name].length())
		byID[m.ID] = m
	}
	var list []mention.Match
	for _, m := range byID {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b mention.Match) int {
		return cmp.Or(b.Words-a.Words, b.Count-a.Count, a.First-b.First, int(a.ID-b.ID))
	})
	return list
}

// inside reports whether the other occurrence is longer and holds this one.
func (o occurrence) inside(other occurrence) bool {
	return other.start <= o.start && o.end <= other.end && other.end-other.start > o.end-o.start
}

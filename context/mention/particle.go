package mention

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// In Korean a name and the particles that give its role in the sentence are one word. 민수 is 민수는 as the topic, and
// 민수에게서는 where the topic comes from him. These are the particles, by the sounds that they follow.
const (
	afterAny        = "의 에 에서 에게 에게서 께 께서 한테 한테서 하고 도 만 부터 까지 처럼 보다 마다 조차 마저 밖에 뿐 대로 만큼 같이 들"
	afterConsonant  = "은 이 을 과 으로 으로서 으로써 아 이야 이여 이랑 이나 이든 이며 이란 이라도 이라고 이라는"
	afterVowel      = "는 가 를 와 야 여 랑 나 든 며 란 라도 라고 라는"
	afterVowelAndRi = "로 로서 로써" // Ri is the consonant ㄹ
)

// maxSyllables is the maximum of syllables of the particles after a name: more than occur, and a bound on the cost of a
// word.
const maxSyllables = 8

// place says which sounds a particle follows.
type place struct{ consonant, ri, vowel bool }

// particles returns them as the words of a text are folded.
func particles() map[string]place {
	all := map[string]place{}
	for list, p := range map[string]place{
		afterAny: {true, true, true}, afterConsonant: {true, true, false}, afterVowel: {false, false, true},
		afterVowelAndRi: {false, true, true},
	} {
		for particle := range strings.FieldsSeq(list) {
			all[norm.NFD.String(particle)] = p
		}
	}
	return all
}

// follows reports whether a particle may follow a stem. The sound of a stem in another script is not known, so any
// particle may follow it.
func (p place) follows(stem []byte) bool {
	const ri = '\u11af'
	switch r, _ := utf8.DecodeLastRune(stem); {
	case r == ri:
		return p.ri
	case isFinal(r):
		return p.consonant
	case isVowel(r):
		return p.vowel
	}
	return true
}

// The letters of a decomposed syllable: an initial consonant, a vowel and, in some, a final consonant.
func isInitial(r rune) bool { return '\u1100' <= r && r <= '\u1112' }
func isVowel(r rune) bool   { return '\u1161' <= r && r <= '\u1175' }
func isFinal(r rune) bool   { return '\u11a8' <= r && r <= '\u11c2' }

// appendStems appends the numbers of a folded word's stems, as far as names hold them, the longest first. A stem is the
// word without its possessive ending, or without one or several particles at its end.
func (x *Index) appendStems(stems []int32, folded []byte) []int32 {
	if bare, ok := bytes.CutSuffix(folded, []byte("'s")); ok {
		return x.appendKnown(stems, bare)
	}
	var bounds [maxSyllables + 1]int // behind each of them there is nothing but particles
	bounds[0] = len(folded)
	found := 1
	for at, n := syllable(folded, len(folded)), 1; at > 0 && n <= maxSyllables; at, n = syllable(folded, at), n+1 {
		for _, end := range bounds[:found] {
			if p, ok := x.particles[string(folded[at:end])]; ok && p.follows(folded[:at]) {
				stems = x.appendKnown(stems, folded[:at])
				bounds[found], found = at, found+1
				break
			}
		}
	}
	return stems
}

func (x *Index) appendKnown(stems []int32, stem []byte) []int32 {
	if number := x.numbers[string(stem)]; number != 0 {
		return append(stems, number)
	}
	return stems
}

// syllable returns where the syllable of Hangul begins that ends at an offset of a folded word; 0 where none does.
func syllable(folded []byte, end int) int {
	for at := end; at > 0; {
		r, size := utf8.DecodeLastRune(folded[:at])
		at -= size
		if isInitial(r) {
			return at
		}
		if !isVowel(r) && !isFinal(r) {
			return 0
		}
	}
	return 0
}

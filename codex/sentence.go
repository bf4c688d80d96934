package codex

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences splits a definition into sentences, with white space collapsed. Splitting the sentences joined by single
// spaces gives the same sentences, so a definition that comes back unchanged keeps its claims.
//
// A sentence ends at a full stop, exclamation or question mark, with any closing quotes and brackets. A space and
// anything but a lower-case letter follow. In scripts without spaces it ends at their own marks. A stop after a title
// or an initial does not end it.
func Sentences(text string) []string {
	var sentences []string
	for text = strings.Join(strings.Fields(text), " "); text != ""; {
		end := sentenceEnd(text)
		sentences = append(sentences, text[:end])
		text = strings.TrimPrefix(text[end:], " ")
	}
	return sentences
}

// SentenceAt returns the sentence of a text, with white space collapsed, that has the character at a code point. A line
// feed ends a sentence.
func SentenceAt(text string, at int) string {
	for line := range strings.SplitSeq(text, "\n") {
		length := utf8.RuneCountInString(line)
		if at > length {
			at -= length + 1
			continue
		}
		before := letters(string([]rune(line)[:at])) // white space is not counted, because it is collapsed
		for _, sentence := range Sentences(line) {
			if before -= letters(sentence); before < 0 {
				return sentence
			}
		}
	}
	return ""
}

// letters counts the characters of a text that are no white space.
func letters(text string) (n int) {
	for _, r := range text {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

func sentenceEnd(text string) int {
	passed := 0 // stops before this offset do not end the sentence; a long run of them is examined once
	for i, r := range text {
		size := utf8.RuneLen(r)
		switch {
		case strings.ContainsRune("。！？", r):
			return i + size + closers(text[i+size:])
		case i < passed:
		case r == '.' || r == '!' || r == '?' || r == '…':
			end := i + size + closers(text[i+size:])
			if !startsSentence(text[end:]) {
				passed = end
			} else if r != '.' || !abbreviated(text[:i]) {
				return end
			}
		}
	}
	return len(text)
}

// closers counts the bytes of stops, quotes and brackets that belong to the sentence before them.
func closers(rest string) int {
	return len(rest) - len(strings.TrimLeft(rest, ".!?…'\"’”»)]。！？」』"))
}

func startsSentence(rest string) bool {
	next, ok := strings.CutPrefix(rest, " ")
	if !ok {
		return false
	}
	r, _ := utf8.DecodeRuneInString(next)
	return !unicode.IsLower(r)
}

// abbreviations are words after which a full stop does not end a sentence.
const abbreviations = " mr mrs ms dr st m mm mme mlle messrs prof rev hon gen col capt lt sgt maj cmdr adm sir jr " +
	"sr vs etc e.g i.e cf no vol ch "

func abbreviated(before string) bool {
	word := before[strings.LastIndexByte(before, ' ')+1:]
	word = strings.TrimLeft(word, "'\"‘“«([")
	if utf8.RuneCountInString(word) == 1 {
		r, _ := utf8.DecodeRuneInString(word)
		return unicode.IsUpper(r)
	}
	return strings.Contains(abbreviations, " "+strings.ToLower(word)+" ")
}

// Closest returns the index of the text that shares the most words with a quotation; the last of equal ones.
func Closest(texts []string, quote string) int {
	best, most, quoted := -1, -1, words(quote)
	for i, text := range texts {
		if shared := sharedWords(words(text), quoted); shared >= most {
			best, most = i, shared
		}
	}
	return best
}

// sharedWords counts the distinct words of a text that another one has.
func sharedWords(text, other []string) int {
	slices.Sort(text)
	lacks := func(word string) bool { return !slices.Contains(other, word) }
	return len(slices.DeleteFunc(slices.Compact(text), lacks))
}

package ingest

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lastNumber is the number of "the last chapter".
const lastNumber = 9999

// maxNumber is the highest that a number without a label may be: beyond are years.
const maxNumber = 999

// numberAlone reads "IV", "12.", "I. A SCANDAL", "TWO".
func (v *vocabulary) numberAlone(line string, tokens []token) wording {
	first := tokens[0]
	if strings.TrimLeft(line[:first.start], " \t([-–—.") != "" {
		return wording{}
	}
	spelt := line[first.start:first.end]
	var n int
	used := 1
	switch {
	case isDigits(first.text) && len(first.text) <= 4:
		n, _ = strconv.Atoi(first.text)
	case roman(spelt) > 0 && roman(spelt) < maxNumber/2:
		n = roman(spelt)
	case len(tokens) == 1 && v.letterNumber(first.text) > 0 && !unicode.IsLower([]rune(spelt)[0]):
		n = v.letterNumber(first.text)
	default:
		n, used = v.number(line, tokens, "")
		if used == 0 || used < len(tokens) || !isUpper(line) || n == lastNumber {
			return wording{}
		}
	}
	rest := strings.TrimLeft(numeralMark.ReplaceAllString(line[tokens[used-1].end:], "$1"), " \t")
	title := strings.TrimSpace(strings.TrimLeft(rest, " \t.:)]–—-―"))
	if n == 0 || n > maxNumber || title != "" && title == rest && isDigits(first.text) && !isUpper(title) ||
		len(title) > 0 && title == rest && !isDigits(first.text) {
		return wording{}
	}
	if title != "" && !isTitleStart(title) {
		return wording{}
	}
	return wording{kind: numberOnly, number: n, title: title}
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// number reads a number at the beginning of tokens, and returns how many it takes; 0 if there is none. Behind a label
// Roman numerals may be in lower case; "" is none.
func (v *vocabulary) number(line string, tokens []token, label string) (n, used int) {
	first, labelled := tokens[0], label != ""
	spelt := line[first.start:first.end]
	switch {
	case isDigits(first.text) && len(first.text) <= 4:
		n, _ = strconv.Atoi(first.text)
		if len(tokens) > 1 && tokens[1].start-first.end == len("-") && len([]rune(tokens[1].text)) <= 2 &&
			!isDigits(tokens[1].text) {
			return n, 2 // "3-я глава"
		}
		return n, 1
	case roman(spelt) > 0:
		return roman(spelt), 1
	case labelled && roman(strings.ToUpper(spelt)) > 0 && v.numbers[first.text] == 0:
		return roman(strings.ToUpper(spelt)), 1
	case labelled && v.letterNumber(first.text) > 0 && !unicode.IsLower([]rune(spelt)[0]) &&
		endsNumber(line[first.end:]):
		return v.letterNumber(first.text), 1
	}
	for count := min(3, len(tokens)); count > 1; count-- { // "dix-sept", "vingt et un"
		parts := make([]string, count)
		for i, t := range tokens[:count] {
			parts[i] = t.text
		}
		if n := v.numbers[strings.Join(parts, "-")]; n > 0 {
			return n, count
		}
		units := parts[1:]
		if count == 3 && v.joiners[parts[1]] {
			units = parts[2:]
		}
		ten := v.numbers[parts[0]]
		if one := v.numbers[units[0]]; len(units) == 1 && ten >= 20 && ten < 100 && one > 0 && one < 20 {
			return ten + one, count
		}
	}
	n = cmp.Or(v.spelt(first.text), v.behind[label+" "+first.text])
	return n, min(n, 1)
}

// letterNumber is the number that letters of a word are, the higher first: "ιβ", "כג"; 0 if they are none.
func (v *vocabulary) letterNumber(word string) int {
	sum, before := 0, 100
	for word != "" {
		key := word[:min(len(word), 2*len("σ"))] // two letters may be one number
		if v.LetterNumerals[key] == 0 {
			_, size := utf8.DecodeRuneInString(word)
			key = word[:size]
		}
		value := v.LetterNumerals[key]
		if value == 0 || value >= before {
			return 0
		}
		sum, before, word = sum+value, value, word[len(key):]
	}
	return sum
}

// endsNumber reports whether letters that are a number are followed by nothing or a mark.
func endsNumber(rest string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
	return !unicode.IsLetter(r)
}

// spelt is the number that one word spells, "einundzwanzigstes" and "ventitré" too; 0 if it is none.
func (v *vocabulary) spelt(word string) int {
	if n := v.numbers[word]; n > 0 {
		return n
	}
	for infix, one := range v.infixes {
		if rest, ok := strings.CutPrefix(word, infix); ok && v.numbers[rest] >= 20 && v.numbers[rest] < 100 {
			return v.numbers[rest] + one
		}
	}
	for i := range word {
		if ten, one := v.numbers[word[:i]], v.numbers[word[i:]]; ten >= 20 && ten < 100 && one > 0 && one < 10 {
			return ten + one
		}
	}
	return 0
}

// eastAsian reads "第三回　title", "제3장", "3장", "卷一", "三".
func (v *vocabulary) eastAsian(line string) (wording, bool) {
	runes := []rune(line)
	if len(runes) > 60 || strings.HasSuffix(line, "。") {
		return wording{}, false
	}
	at := 0
	marked := strings.ContainsRune(v.OrdinalMarks, runes[0])
	if kind := v.units[runes[0]]; kind != "" && v.Ranks[kind] == container && len(runes) > 1 {
		start := 1
		for start < len(runes)-1 && strings.ContainsRune(v.UnitMarks, runes[start]) {
			start++
		}
		if n, used := v.cjkNumber(runes[start:], true); used > 0 {
			return v.eastAsianTitle(kind, n, runes[start+used:])
		}
	}
	if marked {
		at++
	}
	for at < len(runes) && runes[at] == ' ' {
		at++
	}
	n, used := v.cjkNumber(runes[at:], marked)
	if used == 0 {
		return wording{}, false
	}
	at += used
	for at < len(runes) && runes[at] == ' ' && marked {
		at++
	}
	if at < len(runes) {
		if kind := v.units[runes[at]]; kind != "" && (marked || unicode.Is(unicode.Hangul, runes[at]) ||
			kind == "chapter" && (at+1 == len(runes) || runes[at+1] == ' ')) { // "二回" as well
			return v.eastAsianTitle(kind, n, runes[at+1:])
		}
	}
	if marked || isDigits(string(runes[:used])) {
		return wording{}, false
	}
	w, ok := v.eastAsianTitle(numberOnly, n, runes[at:])
	return w, ok
}

func (v *vocabulary) eastAsianTitle(kind headingKind, n int, rest []rune) (wording, bool) {
	text := string(rest)
	title := strings.TrimLeft(text, " 　：:、.．-—–·")
	if title != "" && title == text {
		return wording{}, false
	}
	return wording{kind, v.Ranks[kind], n, strings.TrimSpace(title)}, true
}

// cjkNumber reads a number in Han numerals, or in digits where a mark says that it is one.
func (v *vocabulary) cjkNumber(runes []rune, digits bool) (n, used int) {
	last := 0
	for used < len(runes) {
		r := runes[used]
		digit, isDigit := v.Numerals[string(r)]
		power, isPower := v.Powers[string(r)]
		switch {
		case isDigit && (digits || !unicode.Is(unicode.Hangul, r)):
			last = last*10 + digit
		case isPower && (digits || !unicode.Is(unicode.Hangul, r)):
			n, last = n+max(last, 1)*power, 0
		case r >= '0' && r <= '9' && (digits || used > 0 || digitsThenUnit(runes)):
			last = last*10 + int(r-'0')
		default:
			return n + last, used
		}
		if used++; used > 9 {
			return 0, 0
		}
	}
	return n + last, used
}

// digitsThenUnit reports whether runes begin with digits and a Korean unit: "3장".
func digitsThenUnit(runes []rune) bool {
	i := 0
	for i < len(runes) && runes[i] >= '0' && runes[i] <= '9' {
		i++
	}
	return i > 0 && i < len(runes) && unicode.Is(unicode.Hangul, runes[i])
}

var romanNumeral = regexp.MustCompile(`^M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})$`)

var romanValues = map[byte]int{'I': 1, 'V': 5, 'X': 10, 'L': 50, 'C': 100, 'D': 500, 'M': 1000}

// cyrillicNumeral makes Roman numerals of Cyrillic letters that look like them.
var cyrillicNumeral = strings.NewReplacer("Х", "X", "І", "I", "С", "C", "М", "M")

// roman is the value of a well-formed Roman numeral in capitals, of which IIII and XXXX are; 0 for anything else.
func roman(numeral string) int {
	if strings.ContainsAny(numeral, "ХІ") {
		numeral = cyrillicNumeral.Replace(numeral)
	}
	if !romanNumeral.MatchString(numeral) {
		return 0
	}
	sum, before := 0, 0
	for i := len(numeral) - 1; i >= 0; i-- {
		value := romanValues[numeral[i]]
		if value < before {
			value = -value
		}
		sum, before = sum+value, max(value, before)
	}
	return sum
}

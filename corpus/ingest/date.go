package ingest

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
)

// How many words a line may have in addition to its date.
const (
	maxBesideDate = 4 // of a place
	maxHour       = 2 // that begin with a small letter: "evening"
)

// readDate reports whether a line is a date, with a place before or behind it perhaps: "3 May. Bistritz.", "Monday,
// June 3rd", "London, May 3rd, 1790". A date that a sentence goes on behind is none.
func (v *vocabulary) readDate(line string) bool {
	line = strings.Trim(strings.TrimSpace(strings.Map(plainSign, line)), "*_=#[] ")
	if utf8.RuneCountInString(line) > maxHeadingLine || !isTitleStart(line) {
		return false
	}
	if v.matches("date", line) {
		return true
	}
	tokens := tokenize(line)
	for i := range tokens {
		if used := v.dateAt(tokens[i:]); used > 0 {
			return v.isBeside(line[:tokens[i].start], markBefore, 0) &&
				v.isBeside(line[tokens[i+used-1].end:], markBehind, maxHour)
		}
	}
	return false
}

// dateAt returns how many tokens a date takes, with the day of the week before it and the year behind it; 0 if there is
// none.
func (v *vocabulary) dateAt(tokens []token) int {
	i, day, month := 0, false, false
	for ; i < len(tokens) && (!day || !month); i++ {
		switch text := tokens[i].text; {
		case i == 0 && v.days[text]:
		case !month && v.months[text] > 0:
			month = true
		case !day && v.isDay(text):
			day = true
		case i > 0 && v.isParticle(text):
		default:
			return 0
		}
	}
	if !day || !month {
		return 0
	}
	isYear := func(i int) bool { return i < len(tokens) && len(tokens[i].text) == 4 && isDigits(tokens[i].text) }
	switch {
	case isYear(i):
		return i + 1
	case isYear(i+1) && v.isParticle(tokens[i].text):
		return i + 2
	}
	return i
}

// isParticle reports whether a word may be inside a date: "of", "de", "den".
func (v *vocabulary) isParticle(word string) bool {
	return v.skipped[word] || utf8.RuneCountInString(word) <= len("of") && !isDigits(word)
}

// isDay reports whether a word is the number of a day, with an ending perhaps: "3", "3rd", "third".
func (v *vocabulary) isDay(word string) bool {
	digits := strings.TrimRightFunc(word, unicode.IsLetter)
	day, err := strconv.Atoi(digits)
	switch {
	case err != nil:
		day = v.spelt(word)
	case utf8.RuneCountInString(word) > len(digits)+len("rd"):
		return false
	}
	return day > 0 && day <= 31
}

var (
	markBefore = regexp.MustCompile(`[.,:] *$`)
	markBehind = regexp.MustCompile(`^ *[.,;:(—–―-]`)
)

// isBeside reports whether the text before or after a date may be a place or an hour. It is empty, or a few words that
// a mark separates from the date. small is how many words may begin with a small letter.
func (v *vocabulary) isBeside(text string, mark *regexp.Regexp, small int) bool {
	place := strings.Trim(text, " .,;:—–-―()")
	n := annotator.CountWords(place)
	switch {
	case place == "":
		return true
	case n > maxBesideDate, n > small && !isTitleStart(place), strings.ContainsAny(place, spokenMarks):
		return false
	}
	return mark.MatchString(text) || v.days[fold(place)]
}

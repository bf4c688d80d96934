package mention

import "strings"

// secondPerson are pronouns of the second person of several languages that are no other word in another of these
// languages, as "du" is in French. Of scripts without spaces between words they are single characters. Each has a space
// on both sides.
const secondPerson = " you your yours yourself dich dir dein deine deinen deinem deiner vous votre vos toi tú usted " +
	"ustedes " +
	"você vocês tuo tua jij jouw ты тебя тебе тобой твой твоя твои вы вас вам ваш ваша ciebie tobie twój 你 您 당신 당신은 " +
	"당신의 "

// Addresses reports whether a narration addresses its reader: whether it has a pronoun of the second person outside of
// quotations. A line that begins with a dash is a quotation, too.
func Addresses(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "—") || strings.HasPrefix(strings.TrimSpace(line), "–") {
			continue
		}
		for s := (scanner{text: narrated(line)}); s.next(); {
			if word := s.text[s.start:s.end]; strings.Contains(secondPerson, " "+strings.ToLower(word)+" ") {
				return true
			}
		}
	}
	return false
}

// narrated returns a line without its quotations. A quotation that is not closed ends with the line.
func narrated(line string) string {
	var b strings.Builder
	b.Grow(len(line))
	var until rune
	for _, r := range line {
		switch {
		case until != 0:
			if r == until {
				until = 0
			}
		default:
			until = closingOf(r)
			if until == 0 {
				b.WriteRune(r)
			} else {
				b.WriteRune(' ')
			}
		}
	}
	return b.String()
}

// closingOf returns the mark that ends a quotation; 0 for a character that begins none. The mark before it decides for
// one that both begins and ends them.
func closingOf(opening rune) rune {
	switch opening {
	case '“', '„':
		return '”'
	case '«':
		return '»'
	case '「':
		return '」'
	case '『':
		return '』'
	case '"':
		return '"'
	}
	return 0
}

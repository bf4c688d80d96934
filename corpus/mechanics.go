package corpus

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
)

// Untold returns why posts have nothing of a story; empty if they may have.
func Untold(posts []annotator.Post) string {
	reason := "no text"
	for i := range posts {
		switch body := posts[i].Body; {
		case strings.TrimSpace(body) == "":
		case isMechanical(body):
			reason = "nothing but dice, numbers and votes"
		default:
			return ""
		}
	}
	return reason
}

// isMechanical reports whether a text has only the mechanics of a game, such as dice, numbers and votes, and nothing of
// a story.
//
// It reports true only for known forms.
func isMechanical(text string) bool {
	some := false
	for line := range strings.Lines(text) {
		switch {
		case strings.TrimSpace(line) == "":
		case isBallot(line) || isFigures(line):
			some = true
		case !isCaption(line):
			return false
		}
	}
	return some
}

// mechanicalWords occur with dice, numbers and tallies of votes. None of them has a meaning for the story by itself.
// Words that may have one, such as whether a throw succeeds, are not among them.
var mechanicalWords = strings.Fields(`
	dice roll rolls rolled result results total sum vs dc votes vote tally
	würfel wurf würfe gewürfelt ergebnis summe gesamt stimmen
	dés dé résultat résultats somme voix
	dados tirada tiradas resultado resultados suma votos
	dadi risultato risultati totale somma voti
	rolagem rolagens soma
	dobbelstenen worp worpen resultaat totaal stemmen
	kości rzut rzuty wynik wyniki suma głosy głosów
	кубики бросок броски результат результаты итого сумма голосов
	骰子 掷骰 结果 总计 票 票数 ダイス 合計 結果 주사위 결과 합계 표`)

// dice is dice notation in lower case: a number of dice, the number of their sides, and which of them are kept or
// dropped. German has w for d, and Russian к or д. These need the number of dice, because words begin with them.
var dice = regexp.MustCompile(
	`^(?:\d{0,3}[dw]\d{1,4}|\d{1,3}[кд]\d{1,4}|\d{1,3}d)(?:(?:kh|kl|dh|dl|k|d|r|ro)\d{1,3})?$`)

// isFigures reports whether a line has a number or dice and otherwise only known words and signs.
func isFigures(line string) bool {
	figures := false
	known := eachWord(line, func(word string) bool {
		if isFigure(word) {
			figures = true
			return true
		}
		return slices.Contains(mechanicalWords, word)
	})
	return known && figures
}

// isCaption reports whether a line of known words announces what follows.
func isCaption(line string) bool {
	return strings.HasSuffix(strings.TrimRight(line, " \t\r\n*_"), ":") && eachWord(line, func(word string) bool {
		return slices.Contains(mechanicalWords, word)
	})
}

func isFigure(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return !unicode.IsDigit(r) }) < 0 || dice.MatchString(word)
}

// eachWord reports whether test holds for each word of a line, in lower case, with only common signs between them. A
// sign of another kind may be writing.
func eachWord(line string, test func(word string) bool) bool {
	for len(line) > 0 {
		n := strings.IndexFunc(line, func(r rune) bool { return !isWordRune(r) })
		if n < 0 {
			n = len(line)
		}
		if n > 0 && !test(strings.ToLower(line[:n])) {
			return false
		}
		line = line[n:]
		if line != "" {
			r, size := utf8.DecodeRuneInString(line)
			if !isSign(r) {
				return false
			}
			line = line[size:]
		}
	}
	return true
}

func isWordRune(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

// signs are common signs that are no punctuation or mathematics: ballots, ticks, faces of dice.
const signs = "☐☑☒✓✔✗✘🎲⚀⚁⚂⚃⚄⚅→←°©®™$€£^`\u200d\ufe0f"

func isSign(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.P, unicode.Sm) && r != utf8.RuneError ||
		strings.ContainsRune(signs, r)
}

// ballot matches the mark of a vote at the beginning of a line. The option follows.
var ballot = regexp.MustCompile(`^[\s>*_-]*(?:\[[ xXvV✓✔✗✘]\]|[☐☑☒])\s*(.*?)\s*$`)

// Limits of the name of an option of a vote. A longer text may be story.
const (
	maxOptionWords = 6
	maxOption      = 40 // bytes, which are fewer letters in scripts that say more by each
)

// isBallot reports whether a line votes for an option that is named by a few words. A sentence is no name.
func isBallot(line string) bool {
	match := ballot.FindStringSubmatch(line)
	if match == nil {
		return false
	}
	option := match[1]
	named := strings.IndexFunc(option, func(r rune) bool {
		return !isWordRune(r) && !strings.ContainsRune(" '’-/()", r)
	}) < 0
	return named && len(option) <= maxOption && len(strings.Fields(option)) <= maxOptionWords
}

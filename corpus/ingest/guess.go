package ingest

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"

	"golang.org/x/text/encoding/htmlindex"
)

// language says what a text must have to read as one in it. Shares are percentages.
type language struct {
	encodings   []string
	own         func(rune) bool // the signs that it is written with,
	ownShare    int             // at least, of all that are neither ASCII nor marks
	common      func(rune) bool // the most frequent of these,
	commonShare int             // at least, of its own
	minInWord   int             // of its own next to a letter of ASCII, at least
	maxInWord   int             // and at most
	ascii       int             // letters of ASCII at least, as a share of its own
}

func anyOf(signs string) func(rune) bool {
	return func(r rune) bool { return strings.ContainsRune(signs, r) }
}

func inTables(tables ...*unicode.RangeTable) func(rune) bool {
	// half-width kana are none
	return func(r rune) bool { return unicode.In(r, tables...) && (r < 0xFF61 || r > 0xFF9F) }
}

// languages are tried where a text is no UTF-8 and does not say its encoding.
var languages = [...]language{
	{[]string{"gb18030", "big5"}, inTables(unicode.Han), 95, anyOf(frequentHan), 20, 0, 100, 0},
	{
		[]string{"shift_jis", "euc-jp"},
		inTables(unicode.Han, unicode.Hiragana, unicode.Katakana), 90,
		inTables(unicode.Hiragana, unicode.Katakana), 30, 0, 100, 0,
	},
	{[]string{"euc-kr"}, inTables(unicode.Hangul), 80, anyOf(frequentHangul), 20, 0, 100, 0},
	{[]string{"windows-1251", "koi8-r"}, inTables(unicode.Cyrillic), 95, anyOf(frequentRussian), 40, 0, 5, 0},
	{[]string{"windows-1252"}, anyOf(westernLetters), 98, anyOf(westernLetters), 100, 70, 100, 300},
}

// The signs that are the most frequent in text of a language.
const (
	frequentHan = "的一是不了人我在有他这中大来上个国到说们为子和你地出道也时年" +
		"得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知這個來說們為時會過對學裡後麼沒於還發無開見經頭從動兩長"
	frequentHangul  = "이다는을에의가하고지도사리를한은로기나어자그서인아라시있대정수보일해들것"
	frequentRussian = "оеаинтсрвл"
	westernLetters  = "àâäáãåæçéèêëíìîïñóòôöõøœúùûüýÿßÀÂÄÁÃÅÆÇÉÈÊËÍÌÎÏÑÓÒÔÖÕØŒÚÙÛÜÝŸ"
	westernMarks    = "“”‘’„‚–—…«»‹›¡¿°§£©®·ºª†‡•€™½¼¾×\u00a0\u00ad"
)

// reads reports whether a text reads as one in the language.
func (l *language) reads(text string) bool {
	all, own, common, inWord, ascii := 0, 0, 0, 0, 0
	previous := ' '
	for i, r := range text {
		switch {
		case r == utf8.RuneError:
			return false
		case r < utf8.RuneSelf:
			if unicode.IsLetter(r) {
				ascii++
			}
		case isMark(r):
		default:
			all++
			if !l.own(r) {
				break
			}
			own++
			if l.common(r) {
				common++
			}
			if next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):]); isASCIILetter(previous) ||
				isASCIILetter(next) {
				inWord++
			}
		}
		previous = r
	}
	if all == 0 {
		return l.ascii > 0 // nothing but quotation marks and dashes
	}
	return own*100 >= all*l.ownShare && common*100 >= own*l.commonShare && inWord*100 >= own*l.minInWord &&
		inWord*100 <= own*l.maxInWord &&
		ascii*100 >= own*l.ascii
}

func isASCIILetter(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }

// isMark knows the marks that text in any language may have.
func isMark(r rune) bool {
	return strings.ContainsRune(westernMarks, r) || unicode.IsSpace(r) || r >= 0x2000 && r <= 0x206F ||
		r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFF60
}

var headerEncoding = regexp.MustCompile(`(?im)^\W{0,4}(?:character set encoding|charset|` +
	`encoding)\s*[:=]\s*["']?([\w.:-]+)`)

// trialSize is how much of a text is tried.
const trialSize = 256 << 10

// decode turns a whole source into UTF-8. guessed is the encoding that was found by trial; "" if the source or the user
// named it.
func decode(data []byte, path, name string, markup bool) (text, guessed string, err error) {
	var decoded strings.Builder // of a large text there is no further copy
	decoded.Grow(len(data))
	_, err = io.Copy(&decoded, decodeReader(bytes.NewReader(data), path, name, markup))
	if err == nil || name != "" || annotator.KindOf(err) != annotator.Misused {
		return decoded.String(), "", err
	}
	if match := headerEncoding.FindSubmatch(data[:min(len(data), headSize)]); match != nil {
		if e := named(string(match[1])); e != nil {
			text, err := e.NewDecoder().Bytes(data)
			return string(text), "", err
		}
	}
	return guess(data, path, err)
}

// guess takes the one encoding in which a text reads as a language. failure is what is wrong with it as UTF-8.
func guess(data []byte, path string, failure error) (text, name string, err error) {
	sample := data
	if len(sample) > trialSize {
		sample = sample[:trialSize]
		sample = sample[:bytes.LastIndexByte(sample, '\n')+1]
	}
	found := map[string]string{} // by the text that comes out
	var said []string
	for _, l := range languages {
		for _, name := range l.encodings {
			trial := decodeAs(sample, name)
			if bad := strings.Count(trial, "\uFFFD"); bad < 10 && bad*1000 <= utf8.RuneCountInString(trial) {
				said = append(said, fmt.Sprintf("%s: %q", name, firstForeignLine(trial)))
			}
			if l.reads(trial) && found[trial] == "" {
				found[trial] = name
			}
		}
	}
	if len(found) == 1 {
		for _, name := range found {
			return decodeAs(data, name), name, nil
		}
	}
	unsure := annotator.Errorf(annotator.Misused, "%w", failure)
	if len(said) == 0 {
		return "", "", unsure.WithReason(annotator.ReasonUnknownEncoding)
	}
	return "", "", unsure.WithReason(annotator.ReasonAmbiguousEncoding, path, strings.Join(said, ", "))
}

func decodeAs(data []byte, name string) string {
	e, err := htmlindex.Get(name)
	if err != nil {
		return ""
	}
	text, _ := e.NewDecoder().Bytes(data)
	return string(text)
}

// firstForeignLine is the beginning of the first line that is not all ASCII.
func firstForeignLine(text string) string {
	for line := range strings.Lines(text) {
		if strings.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return firstWords(line)
		}
	}
	return ""
}

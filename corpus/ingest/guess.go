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

// candidates are the encodings that are tried where a text is no UTF-8 and does not say what it is, each with what a
// text in it must read as.
var candidates = [...]struct {
	name  string
	reads func(*script) bool
}{
	{"gb18030", (*script).isChinese},
	{"big5", (*script).isChinese},
	{"shift_jis", (*script).isJapanese},
	{"euc-jp", (*script).isJapanese},
	{"euc-kr", (*script).isKorean},
	{"windows-1251", (*script).isRussian},
	{"koi8-r", (*script).isRussian},
	{"windows-1252", (*script).isWestern},
}

// The signs that are the most frequent in text of a language.
const (
	frequentHan     = "的一是不了人我在有他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知這個來說們為時會過對學裡後麼沒於還發無開見經頭從動兩長"
	frequentHangul  = "이다는을에의가하고지도사리를한은로기나어자그서인아라시있대정수보일해들것"
	frequentRussian = "оеаинтсрвл"
	westernLetters  = "àâäáãåæçéèêëíìîïñóòôöõøœúùûüýÿßÀÂÄÁÃÅÆÇÉÈÊËÍÌÎÏÑÓÒÔÖÕØŒÚÙÛÜÝŸ"
	westernMarks    = "“”‘’„‚–—…«»‹›¡¿°§£©®·ºª†‡•€™½¼¾×\u00a0\u00ad"
)

// script counts the signs of a text.
type script struct {
	ascii, han, commonHan, kana, halfKana, hangul, commonHangul int
	cyrillic, lowerCyrillic, commonCyrillic                     int
	western, westernInWord, marks, mixed, other, bad            int
}

func measureScript(text string) *script {
	s := &script{}
	previous := ' '
	for i, r := range text {
		s.count(r, previous, text[i+utf8.RuneLen(max(r, 0)):])
		previous = r
	}
	return s
}

func isASCIILetter(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }

func (s *script) count(r, previous rune, rest string) {
	next, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == utf8.RuneError:
		s.bad++
	case r < utf8.RuneSelf:
		if unicode.IsLetter(r) {
			s.ascii++
		}
	case unicode.Is(unicode.Han, r):
		s.han++
		if strings.ContainsRune(frequentHan, r) {
			s.commonHan++
		}
	case r >= 0xFF61 && r <= 0xFF9F:
		s.halfKana++
	case unicode.In(r, unicode.Hiragana, unicode.Katakana):
		s.kana++
	case unicode.Is(unicode.Hangul, r):
		s.hangul++
		if strings.ContainsRune(frequentHangul, r) {
			s.commonHangul++
		}
	case unicode.Is(unicode.Cyrillic, r):
		s.cyrillic++
		if unicode.IsLower(r) {
			s.lowerCyrillic++
		}
		if strings.ContainsRune(frequentRussian, unicode.ToLower(r)) {
			s.commonCyrillic++
		}
		if isASCIILetter(previous) || isASCIILetter(next) {
			s.mixed++
		}
	case strings.ContainsRune(westernLetters, r):
		s.western++
		if isASCIILetter(previous) || isASCIILetter(next) {
			s.westernInWord++
		}
	case strings.ContainsRune(westernMarks, r), unicode.IsSpace(r):
		s.marks++
	case r >= 0x2000 && r <= 0x206F, r >= 0x3000 && r <= 0x303F, r >= 0xFF00 && r <= 0xFF60:
		s.marks++
	default:
		s.other++
	}
}

// signs are all that are not ASCII, marks left aside.
func (s *script) signs() int {
	return s.han + s.kana + s.halfKana + s.hangul + s.cyrillic + s.western + s.other + s.bad
}

func (s *script) isChinese() bool {
	all := s.signs()
	return all > 0 && s.bad == 0 && s.han*10 >= all*9 && s.commonHan*5 >= s.han && s.kana*20 < all
}

func (s *script) isJapanese() bool {
	all := s.signs()
	return all > 0 && s.bad == 0 && s.kana*10 >= all*3 && (s.han+s.kana)*10 >= all*9 && s.halfKana*20 < all
}

func (s *script) isKorean() bool {
	all := s.signs()
	return all > 0 && s.bad == 0 && s.hangul*10 >= all*8 && s.commonHangul*5 >= s.hangul
}

func (s *script) isRussian() bool {
	all := s.signs()
	return all > 0 && s.bad == 0 && s.cyrillic*20 >= all*19 && s.lowerCyrillic*10 >= s.cyrillic*6 && s.commonCyrillic*20 >= s.cyrillic*9 && s.mixed*20 <= s.cyrillic
}

func (s *script) isWestern() bool {
	all := s.signs()
	return s.bad == 0 && all+s.marks > 0 && s.western*50 >= all*49 && s.ascii >= 3*s.western && s.westernInWord*10 >= s.western*7
}

var headerEncoding = regexp.MustCompile(`(?im)^\W{0,4}(?:character set encoding|charset|encoding)\s*[:=]\s*["']?([\w.:-]+)`)

// trialSize is how much of a text is tried.
const trialSize = 256 << 10

// decode turns a whole source into UTF-8. guessed is the encoding that was found by trial; "" if the source or the user
// named it.
func decode(data []byte, path, name string, markup bool) (text, guessed string, err error) {
	decoded, err := io.ReadAll(decodeReader(bytes.NewReader(data), path, name, markup))
	if err == nil || name != "" || annotator.KindOf(err) != annotator.Misused {
		return string(decoded), "", err
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
	for _, c := range candidates {
		trial := decodeAs(sample, c.name)
		s := measureScript(trial)
		if s.bad*1000 <= s.signs() && s.bad < 10 {
			said = append(said, fmt.Sprintf("%s: %q", c.name, firstForeignLine(trial)))
		}
		if s.bad == 0 && c.reads(s) && found[trial] == "" {
			found[trial] = c.name
		}
	}
	if len(found) == 1 {
		for _, name := range found {
			return decodeAs(data, name), name, nil
		}
	}
	advice := annotator.Errorf(annotator.Misused, "%w", failure)
	if len(said) == 0 {
		return "", "", advice.WithAdvice("say which with --encoding, as in --encoding windows-1252")
	}
	return "", "", advice.WithAdvice("%s is in another encoding, and several may be meant: say which with --encoding, as in --encoding windows-1252; its first line would be %s",
		path, strings.Join(said, ", "))
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

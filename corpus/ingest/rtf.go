package ingest

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"annotator"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// rtfMark is what an RTF document begins with. A part of one, as programs make for the clipboard or for templates,
// begins with a paragraph.
var rtfMark = regexp.MustCompile(`\A(?:\{\\rtf|[\s{]*\\pard\b)`)

// rtf imports an RTF document.
func (j *job) rtf(ctx context.Context, s source) error {
	data, err := j.readData(ctx, s)
	if err != nil {
		return err
	}
	document, err := readRTF(data)
	if err != nil {
		return inFile(s.path, err)
	}
	return j.madePage(ctx, s, document)
}

// rtfState is what a group of RTF has, and those in it take over.
type rtfState struct {
	into         string // where the text goes: see rtfDestinations
	bold, hidden bool
	deleted      bool
	font         int
	fallback     int // characters behind one of Unicode that stand for it
}

// rtfStyle is what a style says of paragraphs.
type rtfStyle struct {
	name    string
	level   int
	centred bool
}

// rtfReader turns RTF into the paragraphs of a manuscript. It reads groups in braces, control words that a backslash
// begins, and the rest as text.
type rtfReader struct {
	*manuscript
	data   []byte
	at     int
	groups []rtfState
	rtfState

	page    encoding.Encoding
	fonts   map[int]encoding.Encoding
	styles  map[int]rtfStyle
	style   rtfStyle // that is being defined,
	styleID int      // with its number
	skip    int      // characters left that stand for one that was read
	raw     []byte   // bytes in the encoding of the font, not yet decoded
	high    rune     // the first half of a pair of UTF-16
	star    bool     // the group may be passed over if its word is not known
	words   strings.Builder
	outer   []rtfOuter
	props   *msParagraph // properties of the open paragraph, also of the next until they are reset
}

// rtfOuter is the document around a note.
type rtfOuter struct {
	*manuscript
	depth int // groups that were open when it began
	kind  string
	props *msParagraph
}

// rtfDestinations say where the text of a group goes that begins with a word. "" is passed over.
var rtfDestinations = map[string]string{
	"fonttbl": "fonts", "stylesheet": "styles", "title": "title", "author": "author", "info": "info",
	"footnote": "footnote", "annotation": "comment", "header": "running-head", "headerl": "running-head",
	"headerr": "running-head", "headerf": "running-head", "footer": "running-head", "footerl": "running-head",
	"footerr": "running-head", "footerf": "running-head", "fldrslt": "text", "shptxt": "text",
	"pict": "", "colortbl": "", "fldinst": "", "filetbl": "", "listtable": "", "listoverridetable": "", "revtbl": "",
	"rsidtbl": "", "generator": "", "datastore": "", "themedata": "", "latentstyles": "", "xmlnstbl": "", "object": "",
	"bkmkstart": "", "bkmkend": "", "atnid": "", "atnauthor": "", "atndate": "", "atnref": "", "operator": "",
	"listtext": "text",
	"pntext":   "text", "pn": "", "nonshppict": "", "ud": "", "shpinst": "text", "sp": "", "xe": "",
	"tc": "", "company": "", "keywords": "",
	"subject": "", "doccomm": "", "wgrffmtfilter": "", "mmathPr": "", "private": "", "blipuid": "", "panose": "",
	"falt":      "",
	"hlinkbase": "", "comment": "", "ftnsep": "", "ftnsepc": "", "aftnsep": "", "aftnsepc": "",
}

// readRTF makes a page of an RTF document.
func readRTF(data []byte) (string, error) {
	if !rtfMark.Match(data) {
		return "", annotator.Errorf(annotator.Misused, "it is no RTF document").
			WithAdvice("open it in a word processor, save it again, and import that")
	}
	r := &rtfReader{
		manuscript: &manuscript{}, data: data, fonts: map[int]encoding.Encoding{}, styles: map[int]rtfStyle{},
		page: codePage(1252), props: &msParagraph{},
	}
	r.into, r.fallback = "text", 1
	for r.at < len(data) {
		if err := r.next(); err != nil {
			return "", err
		}
	}
	r.flush()
	for len(r.outer) > 0 {
		r.endNote()
	}
	return r.manuscript.page(), nil
}

func codePage(number int) encoding.Encoding {
	name := "windows-" + strconv.Itoa(number)
	switch number {
	case 932:
		name = "shift_jis"
	case 936:
		name = "gb18030"
	case 949:
		name = "euc-kr"
	case 950:
		name = "big5"
	case 10000:
		name = "macintosh"
	case 65001:
		name = "utf-8"
	}
	if e, err := htmlindex.Get(name); err == nil {
		return e
	}
	e, _ := htmlindex.Get("windows-1252")
	return e
}

// rtfCharsets are the code pages of fonts, by their numbers for character sets.
var rtfCharsets = map[int]int{
	77: 10000, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257,
	204: 1251, 222: 874, 238: 1250,
}

func (r *rtfReader) next() error {
	c := r.data[r.at]
	r.at++
	switch c {
	case '{':
		r.flush()
		if len(r.groups) >= maxDepth {
			return errTooDeep
		}
		r.groups = append(r.groups, r.rtfState)
	case '}':
		r.flush()
		r.endGroup()
	case '\\':
		r.control()
	case '\r', '\n', 0:
	default:
		r.byte(c)
	}
	return nil
}

func (r *rtfReader) endGroup() {
	r.skip, r.star = 0, false
	if r.into == "styles" && len(r.groups) > 0 && r.groups[len(r.groups)-1].into == "styles" {
		r.endStyle()
	}
	if n := len(r.groups); n > 0 {
		r.rtfState = r.groups[n-1]
		r.groups = r.groups[:n-1]
	}
	for n := len(r.outer); n > 0 && len(r.groups) < r.outer[n-1].depth; n = len(r.outer) {
		r.endNote()
	}
}

// byte takes a byte of text in the font's encoding.
func (r *rtfReader) byte(c byte) {
	if r.skip > 0 {
		r.skip--
		return
	}
	r.raw = append(r.raw, c)
}

// flush takes the text that was read so far where it belongs.
func (r *rtfReader) flush() {
	if len(r.raw) > 0 {
		e := r.page
		if own := r.fonts[r.font]; own != nil {
			e = own
		}
		text, err := e.NewDecoder().Bytes(r.raw)
		r.raw = r.raw[:0]
		if err == nil {
			r.words.Write(text)
		}
	}
	if r.words.Len() == 0 {
		return
	}
	text := r.words.String()
	r.words.Reset()
	switch r.into {
	case "text", "footnote", "comment", "running-head":
		part := ""
		switch {
		case r.deleted:
			part = "deletion"
		case r.hidden:
			part = "unseen"
		}
		r.paragraph().words(text, r.bold, part)
	case "title":
		r.title += text
	case "author":
		r.author += text
	case "styles":
		r.style.name += text
	}
}

// control reads what a backslash begins: a sign, or a word with perhaps a number.
func (r *rtfReader) control() {
	if r.at >= len(r.data) {
		return
	}
	c := r.data[r.at]
	if !isASCIILetter(rune(c)) {
		r.at++
		r.sign(c)
		return
	}
	from := r.at
	for r.at < len(r.data) && isASCIILetter(rune(r.data[r.at])) && r.at-from < 32 {
		r.at++
	}
	word := string(r.data[from:r.at])
	from = r.at
	for r.at < len(r.data) && (r.data[r.at] >= '0' && r.data[r.at] <= '9' || r.at == from && r.data[r.at] == '-') &&
		r.at-from < 11 {
		r.at++
	}
	value, err := strconv.Atoi(string(r.data[from:r.at]))
	if err != nil {
		value = -1
	}
	if r.at < len(r.data) && r.data[r.at] == ' ' {
		r.at++
	}
	switch {
	case word == "u":
		r.unicode(rune(uint16(value)))
		return
	case word == "bin" && value > 0: // bytes of a picture, which may have braces
		r.at += min(value, len(r.data)-r.at)
		return
	}
	if text, ok := rtfSigns[word]; ok {
		if r.skip > 0 {
			r.skip--
			return
		}
		r.flushRaw()
		r.words.WriteString(text)
		return
	}
	r.flush()
	r.word(word, value)
}

// flushRaw decodes what was read before text that is Unicode already.
func (r *rtfReader) flushRaw() {
	if len(r.raw) > 0 {
		r.flush()
	}
}

// rtfSigns are the words that stand for text.
var rtfSigns = map[string]string{
	"tab": " ", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
	"bullet":  "•",
	"emspace": " ", "enspace": " ", "qmspace": " ",
}

func (r *rtfReader) sign(c byte) {
	switch c {
	case '\'':
		if r.at+2 > len(r.data) {
			r.at = len(r.data)
			return
		}
		value, err := strconv.ParseUint(string(r.data[r.at:r.at+2]), 16, 8)
		r.at += 2
		if err == nil {
			r.byte(byte(value))
		}
	case '*':
		r.star = true
	case '~':
		r.byte(' ')
	case '_':
		r.byte('-')
	case '-':
	case '\n', '\r':
		r.flush()
		r.endParagraph()
	default: // a brace, a backslash
		r.byte(c)
	}
}

// unicode adds a character, of which pairs of UTF-16 are two. What stands for it follows.
func (r *rtfReader) unicode(c rune) {
	r.flushRaw()
	switch {
	case utf16.IsSurrogate(c) && c < 0xDC00:
		r.high = c
	case utf16.IsSurrogate(c):
		if both := utf16.DecodeRune(r.high, c); both != utf8.RuneError {
			r.words.WriteRune(both)
		}
		r.high = 0
	default:
		r.words.WriteRune(c)
	}
	r.skip = r.fallback
}

// word obeys a control word.
func (r *rtfReader) word(word string, value int) {
	star := r.star
	r.star = false
	into, known := rtfDestinations[word]
	switch {
	case r.into == "":
		return
	case known && (r.into != "styles" || into == "") && (into != "text" || r.into != "text"):
		r.destination(word, into)
		return
	case star && !known && word != "cs" && word != "ts" && word != "ds":
		r.into = ""
		return
	}
	on := value != 0
	switch word {
	case "par", "sect", "row", "cell":
		r.endParagraph()
	case "line", "lbr":
		r.paragraph().html.WriteString("<br>")
		r.paragraph().plain.WriteString("\n")
	case "page":
		r.props.page = true
	case "pard":
		*r.props = msParagraph{}
	case "plain":
		r.bold, r.hidden, r.deleted = false, false, false
	case "b":
		r.bold = on
	case "v":
		r.hidden = on
	case "deleted":
		r.deleted = on
	case "uc":
		r.fallback = max(0, value)
	case "f":
		r.font = value
	default:
		r.encodingWord(word, value)
		r.paragraphWord(word, value)
	}
	if r.into == "styles" {
		r.style.centred = r.style.centred || word == "qc"
	}
}

// encodingWord takes what is said of the encoding of the document and of its fonts.
func (r *rtfReader) encodingWord(word string, value int) {
	switch word {
	case "ansicpg":
		r.page = codePage(value)
	case "mac":
		r.page = codePage(10000)
	case "fcharset":
		if number, ok := rtfCharsets[value]; ok && r.into == "fonts" {
			r.fonts[r.font] = codePage(number)
		}
	}
}

// paragraphWord takes the properties of paragraphs and of styles.
func (r *rtfReader) paragraphWord(word string, value int) {
	p := r.props
	switch word {
	case "s":
		if r.styleID = value; r.into == "styles" {
			return
		}
		s := r.styles[value]
		p.level, p.centred, p.title = s.level, s.centred, s.name == "title"
		if strings.HasPrefix(s.name, "toc ") || strings.HasPrefix(s.name, "contents ") {
			p.part = "toc"
		}
	case "outlinelevel":
		level := outlineLevel(strconv.Itoa(value))
		if r.style.level = level; r.into != "styles" {
			p.level = level
		}
	case "qc":
		p.centred = r.into != "styles"
	case "pagebb":
		p.page = value != 0 && r.into != "styles"
	}
}

// endStyle adds a style to those that are known.
func (r *rtfReader) endStyle() {
	s := r.style
	s.name = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(s.name), ";"))
	if number, ok := strings.CutPrefix(s.name, "heading "); ok && s.level == 0 {
		if n, err := strconv.Atoi(number); err == nil && n <= maxHeadingLevel {
			s.level = max(n, 0)
		}
	}
	r.styles[r.styleID] = s
	r.style, r.styleID = rtfStyle{}, 0
}

// destination begins a group whose text goes elsewhere.
func (r *rtfReader) destination(word, into string) {
	switch {
	case into == "footnote" || into == "comment" || into == "running-head":
		r.outer = append(r.outer, rtfOuter{r.manuscript, len(r.groups), into, r.props})
		r.manuscript, r.props = &manuscript{}, &msParagraph{}
	case into == "text" && len(r.outer) == 0 && (r.into == "fonts" || r.into == "styles" || r.into == "info"),
		word == "title" && r.into != "info", word == "author" && r.into != "info":
		return
	}
	r.into = into
}

// endNote returns to the document around a note.
func (r *rtfReader) endNote() {
	last := r.outer[len(r.outer)-1]
	note := r.asNote(last.kind)
	r.outer = r.outer[:len(r.outer)-1]
	r.manuscript, r.props = last.manuscript, last.props
	switch {
	case note == "":
	case last.kind == "running-head":
		r.tag(note)
	default:
		r.paragraph().behind = append(r.paragraph().behind, note)
	}
}

// endParagraph closes the open paragraph with the properties that it has by now.
func (r *rtfReader) endParagraph() {
	if r.into != "text" && r.into != "footnote" && r.into != "comment" && r.into != "running-head" {
		return
	}
	p := r.paragraph()
	p.level, p.title, p.part, p.centred, p.page = r.props.level, r.props.title, r.props.part,
		r.props.centred, r.props.page
	r.props.page = false
	r.end()
}

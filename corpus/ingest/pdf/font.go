package pdf

import (
	"maps"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// maxCodes is how many codes of a font are read.
const maxCodes = 1 << 18

// font turns the codes in strings into text.
type font struct {
	wide     bool           // codes have two bytes
	ucs2     bool           // and are UTF-16
	text     map[int]string // by code; what ToUnicode says goes before the encoding
	widths   map[int]float64
	standard float64 // the width of others
	measured bool    // widths are known
	bold     bool
}

func (d *document) readFont(v any) *font {
	values := d.dict(v)
	f := &font{text: map[int]string{}, widths: map[int]float64{}, standard: 0.5}
	base, _ := d.get(values["BaseFont"]).(name)
	f.bold = strings.Contains(strings.ToLower(string(base)), "bold")
	if values["Subtype"] == name("Type0") {
		f.wide = true
		encoding, _ := d.get(values["Encoding"]).(name)
		f.ucs2 = strings.Contains(string(encoding), "UCS2") || strings.Contains(string(encoding), "UTF16")
		f.readWideWidths(d, d.dict(at(d.array(values["DescendantFonts"]), 0)))
	} else {
		f.readEncoding(d, values)
		scale := 0.001
		if matrix := d.array(values["FontMatrix"]); len(matrix) == 6 {
			scale = d.number(matrix[0], scale) // of a font that is drawn
		}
		first := int(d.number(values["FirstChar"], 0))
		for i, w := range d.array(values["Widths"]) {
			f.widths[first+i] = d.number(w, 0) * scale
			f.measured = true
		}
	}
	if s, ok := d.get(values["ToUnicode"]).(stream); ok {
		f.readUnicode(d.unpack(s))
	}
	for code, text := range f.text {
		if strings.ContainsFunc(text, isLigature) {
			f.text[code] = norm.NFKC.String(text)
		}
	}
	return f
}

// isLigature knows the signs that are several Latin letters, which words are not looked for with.
func isLigature(r rune) bool { return r >= 'ﬀ' && r <= 'ﬆ' }

// readEncoding takes the standard encoding of a font, and its differences.
func (f *font) readEncoding(d *document, values dict) {
	encoding := d.get(values["Encoding"])
	base, _ := encoding.(name)
	e := d.dict(encoding)
	if b, ok := d.get(e["BaseEncoding"]).(name); ok {
		base = b
	}
	table := charmap.Windows1252
	if base == "MacRomanEncoding" {
		table = charmap.Macintosh
	}
	for code := 32; code < 256; code++ {
		f.text[code] = string(table.DecodeByte(byte(code)))
	}
	if base == "" {
		for i, r := range []rune(standardUpper) {
			f.text[0xA1+i] = strings.TrimPrefix(string(r), "\x00")
		}
		f.text['\''], f.text['`'] = "’", "‘"
		maps.Copy(f.text, d.builtIn(values))
	}
	code := 0
	for _, v := range d.array(e["Differences"]) {
		switch v := d.get(v).(type) {
		case float64:
			code = int(v)
		case name:
			if code >= 0 && code < 256 {
				f.text[code] = glyph(string(v))
			}
			code++
		}
	}
}

// standardUpper are the signs of Adobe's standard encoding from 0xA1 on; NUL is none.
const standardUpper = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\x00–†‡·\x00¶•‚„”»…‰\x00¿\x00`´ˆ˜¯˘˙¨\x00˚¸\x00˝˛ˇ—" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00Æ\x00ª\x00\x00\x00\x00ŁØŒº" +
	"\x00\x00\x00\x00\x00æ\x00\x00\x00ı\x00\x00łøœß"

// glyphs are the names of signs that are not made of a letter and an accent. Names of one letter stand for it.
var glyphs = func() map[string]string {
	m := map[string]string{}
	fields := strings.Fields(`space   exclam ! quotedbl " numbersign # dollar $ percent % ampersand &
		quotesingle ' quoteright ’ quoteleft ‘ parenleft ( parenright ) asterisk * plus + comma , hyphen - minus −
		period . slash / zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 colon : semicolon ;
		less < equal = greater > question ? at @ bracketleft [ backslash \ bracketright ] asciicircum ^ underscore _
		grave ` + "`" + ` braceleft { bar | braceright } asciitilde ~ exclamdown ¡ cent ¢ sterling £ fraction ⁄ yen ¥
		florin ƒ section § currency ¤ quotedblleft “ guillemotleft « guilsinglleft ‹ guilsinglright ›
		endash – dagger † daggerdbl ‡ periodcentered · paragraph ¶ bullet • quotesinglbase ‚
		quotedblbase „ quotedblright ” guillemotright » ellipsis … perthousand ‰ questiondown ¿ emdash — AE Æ ae æ
		OE Œ oe œ Oslash Ø oslash ø Lslash Ł lslash ł dotlessi ı germandbls ß Eth Ð eth ð Thorn Þ thorn þ
		Dcroat Đ dcroat đ degree ° copyright © registered ® trademark ™ Euro € multiply × divide ÷ plusminus ±
		onehalf ½ onequarter ¼ threequarters ¾ ordfeminine ª ordmasculine º mu µ acute ´ circumflex ˆ tilde ˜
		macron ¯ breve ˘ dotaccent ˙ dieresis ¨ ring ˚ cedilla ¸ hungarumlaut ˝ ogonek ˛ caron ˇ dotlessj ȷ
		onesuperior ¹ twosuperior ² threesuperior ³ eng ŋ Eng Ŋ asteriskmath * star *`)
	m["space"], m["nbspace"], m["sfthyphen"] = " ", " ", "\u00AD"
	for _, ligature := range []string{"ff", "fi", "fl", "ffi", "ffl"} {
		m[ligature] = ligature
	}
	for i := 1; i+1 < len(fields); i += 2 {
		m[fields[i]] = fields[i+1]
	}
	return m
}()

var accents = map[string]string{
	"grave": "\u0300", "acute": "\u0301", "circumflex": "\u0302", "tilde": "\u0303", "macron": "\u0304",
	"breve": "\u0306", "dotaccent": "\u0307", "dieresis": "\u0308", "ring": "\u030A", "hungarumlaut": "\u030B",
	"caron": "\u030C", "cedilla": "\u0327", "ogonek": "\u0328", "commaaccent": "\u0327",
}

// glyph is the text of a glyph by its name; "\uFFFD" if the name does not say.
func glyph(s string) string {
	s, _, _ = strings.Cut(s, ".")
	if text := glyphs[s]; text != "" {
		return text
	}
	if utf8.RuneCountInString(s) == 1 {
		return s
	}
	if len(s) > 1 {
		if accent := accents[s[1:]]; accent != "" {
			return norm.NFC.String(s[:1] + accent)
		}
	}
	if text := strings.Split(s, "_"); len(text) > 1 && text[0] != "" {
		joined := ""
		for _, part := range text[:min(len(text), 4)] {
			joined += glyph(part)
		}
		return joined
	}
	digits := strings.TrimPrefix(strings.TrimPrefix(s, "uni"), "u")
	if n, err := strconv.ParseUint(digits, 16, 21); err == nil && digits != s && len(digits) >= 4 {
		return string(rune(n)) //nolint:gosec // 21 bits
	}
	return "\uFFFD"
}

// readWideWidths reads widths as fonts with many signs have them: a first code and its followers, or a range.
func (f *font) readWideWidths(d *document, values dict) {
	f.standard = d.number(values["DW"], 1000) / 1000
	f.measured = true
	w := d.array(values["W"])
	for i := 0; i+1 < len(w) && len(f.widths) < maxCodes; {
		first := int(d.number(w[i], 0))
		if list := d.array(w[i+1]); list != nil {
			for k, width := range list {
				f.widths[first+k] = d.number(width, 0) / 1000
			}
			i += 2
			continue
		}
		for code := first; code <= int(d.number(w[i+1], 0)) && len(f.widths) < maxCodes; code++ {
			f.widths[code] = d.number(at(w, i+2), 0) / 1000
		}
		i += 3
	}
}

// readUnicode reads the table that says what text the codes stand for.
func (f *font) readUnicode(data []byte) {
	l := &lexer{data: data}
	var stack array
	for {
		v, ok := l.next(0)
		if !ok || len(f.text) > maxCodes {
			return
		}
		switch v {
		case operator("endbfchar"):
			for i := 0; i+1 < len(stack); i += 2 {
				f.set(stack[i], 0, stack[i+1])
			}
		case operator("endbfrange"):
			for i := 0; i+2 < len(stack); i += 3 {
				f.setRange(stack[i], stack[i+1], stack[i+2])
			}
		}
		if _, isOperator := v.(operator); isOperator {
			stack = nil
			continue
		}
		stack = append(stack, v)
	}
}

func codeOf(v any) int {
	s, _ := v.([]byte)
	n := 0
	for _, b := range s[:min(len(s), 4)] {
		n = n<<8 | int(b)
	}
	return n
}

func (f *font) setRange(from, to, text any) {
	n := min(codeOf(to)-codeOf(from), 1<<16)
	for i := 0; i <= n && len(f.text) <= maxCodes; i++ {
		if list, ok := text.(array); ok {
			f.set(from, i, at(list, i))
			continue
		}
		s, ok := text.([]byte)
		if !ok || len(s) < 2 {
			return
		}
		s = append([]byte{}, s...)
		last := int(s[len(s)-2])<<8 + int(s[len(s)-1]) + i
		s[len(s)-2], s[len(s)-1] = byte(last>>8), byte(last) //nolint:gosec // as UTF-16 has it
		f.set(from, i, s)
	}
}

func (f *font) set(code any, more int, text any) {
	if s, ok := text.([]byte); ok {
		f.text[codeOf(code)+more] = utf16Text(s)
	}
}

func utf16Text(s []byte) string {
	var units []uint16
	for i := 0; i+1 < len(s); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	return strings.Trim(string(utf16.Decode(units)), "\x00")
}

// sign is a code of a string.
type sign struct {
	text  string
	width float64
	space bool // one byte, a space: words may be set apart there
}

func (f *font) signs(s []byte) []sign {
	size := 1
	if f.wide {
		size = 2
	}
	all := make([]sign, 0, len(s)/size)
	for ; len(s) >= size; s = s[size:] {
		code := codeOf(s[:size])
		width, ok := f.widths[code]
		if !ok {
			width = f.standard
		}
		text, ok := f.text[code]
		switch {
		case ok:
		case f.ucs2:
			text = utf16Text(s[:size])
		default:
			text = "\uFFFD"
		}
		all = append(all, sign{text, width, !f.wide && code == ' '})
	}
	return all
}

// textString decodes a string outside of pages: a title, an entry of the outline.
func textString(v any) string {
	s, _ := v.([]byte)
	var text string
	switch {
	case len(s) >= 2 && s[0] == 0xFE && s[1] == 0xFF:
		text = utf16Text(s[2:])
	case len(s) >= 3 && string(s[:3]) == "\xEF\xBB\xBF":
		text = strings.ToValidUTF8(string(s[3:]), "\uFFFD")
	default:
		decoded, _ := charmap.Windows1252.NewDecoder().Bytes(s)
		text = string(decoded)
	}
	return strings.Join(strings.Fields(text), " ")
}

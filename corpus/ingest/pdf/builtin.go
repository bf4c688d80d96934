package pdf

import (
	"bytes"
	"regexp"
	"strconv"
)

// builtIn is what the program of a font says that its codes stand for. It counts where the document does not say.
func (d *document) builtIn(values dict) map[int]string {
	descriptor := d.dict(values["FontDescriptor"])
	if s, ok := d.get(descriptor["FontFile3"]).(stream); ok && d.get(s.dict["Subtype"]) == name("Type1C") {
		return compactEncoding(d.unpack(s))
	}
	if s, ok := d.get(descriptor["FontFile"]).(stream); ok {
		return programEncoding(d.unpack(s))
	}
	return nil
}

var codeInProgram = regexp.MustCompile(`\bdup\s+(\d{1,3})\s*/([^\s/]{1,40})\s+put\b`)

// programEncoding reads the encoding of a Type 1 font, which is a program. Its first part is text.
func programEncoding(program []byte) map[int]string {
	text := map[int]string{}
	head, _, _ := bytes.Cut(program, []byte("eexec"))
	for _, match := range codeInProgram.FindAllSubmatch(head, 256) {
		if code, _ := strconv.Atoi(string(match[1])); code < 256 {
			text[code] = glyph(string(match[2]))
		}
	}
	return text
}

// compact reads a font in the compact form (CFF). Behind its end there are zeros.
type compact struct {
	data []byte
	at   int
}

func (c *compact) number(size int) int {
	n := 0
	for range size {
		n <<= 8
		if c.at >= 0 && c.at < len(c.data) {
			n |= int(c.data[c.at])
		}
		c.at++
	}
	return n
}

// index reads a list of values.
func (c *compact) index() (values [][]byte) {
	n := c.number(2)
	if n == 0 {
		return nil
	}
	size := c.number(1)
	offsets := c.at
	start := offsets + (n+1)*size - 1
	end := start
	for i := 0; i < n && size > 0 && size <= 4 && start < len(c.data); i++ {
		c.at = offsets + i*size
		from := start + c.number(size)
		end = start + c.number(size)
		if from < start || end < from || end > len(c.data) {
			return nil
		}
		values = append(values, c.data[from:end])
	}
	c.at = end
	return values
}

// The operators of a compact font that say where its tables are.
const (
	charsetAt  = 15
	encodingAt = 16
	shapesAt   = 17
)

// tables reads where the tables of a compact font are. Numbers that are no integers are passed over.
func (c *compact) tables() map[int]int {
	tables, last := map[int]int{}, 0
	for c.at < len(c.data) {
		switch b := c.number(1); {
		case b == 12:
			c.at++
		case b < 22:
			tables[b] = last
		case b == 28:
			last = c.number(2)
		case b == 29:
			last = c.number(4)
		case b == 30:
			for c.at < len(c.data) && c.number(1)&0xF != 0xF {
			}
		case b < 247:
			last = b - 139
		case b < 251:
			last = (b-247)*256 + c.number(1) + 108
		default:
			last = -(b-251)*256 - c.number(1) - 108
		}
	}
	return tables
}

// compactEncoding reads the encoding of a compact font; nil if it is the standard one.
func compactEncoding(data []byte) map[int]string {
	c := &compact{data: data}
	if len(data) < 4 {
		return nil
	}
	c.at = int(data[2])
	c.index() // names
	fonts := c.index()
	own := c.index()
	if len(fonts) == 0 {
		return nil
	}
	tables := (&compact{data: fonts[0]}).tables()
	if tables[encodingAt] < 2 {
		return nil
	}
	c.at = tables[shapesAt]
	glyphs := c.charset(tables[charsetAt], c.number(2))
	text := map[int]string{}
	c.encode(tables[encodingAt], func(code, glyph, id int) {
		if glyph > 0 && glyph < len(glyphs) {
			id = glyphs[glyph]
		}
		if id > 0 {
			text[code] = glyphByID(id, own)
		}
	})
	return text
}

// charset reads which ids the glyphs have, of which there are some number.
func (c *compact) charset(at, count int) []int {
	ids := []int{0}
	if at < 3 { // one of the standard
		for len(ids) < count {
			ids = append(ids, len(ids))
		}
		return ids
	}
	c.at = at
	format := c.number(1)
	for len(ids) < count && c.at < len(c.data) {
		first, more := c.number(2), 0
		if format > 0 {
			more = c.number(min(format, 2))
		}
		for i := 0; i <= more && len(ids) < count; i++ {
			ids = append(ids, first+i)
		}
	}
	return ids
}

// encode reads which code each glyph has, or, of further codes, each id.
func (c *compact) encode(at int, found func(code, glyph, id int)) {
	c.at = at
	format, glyph := c.number(1), 1
	for range c.number(1) {
		first, more := c.number(1), 0
		if format&0x7F > 0 {
			more = c.number(1)
		}
		for i := 0; i <= more && first+i < 256; i++ {
			found(first+i, glyph, 0)
			glyph++
		}
	}
	if format&0x80 == 0 {
		return
	}
	for range c.number(1) {
		code := c.number(1)
		found(code, 0, c.number(2))
	}
}

// The ids of glyphs that every compact font knows: those of the standard encoding in its order, further letters, old
// digits, ligatures. Behind them are the font's own names.
const (
	digitIDs  = 239
	ligature  = 266
	ownIDs    = 391
	moreUpper = "¹¬µ™Ð½±Þ¼÷¦°þ¾²®−ð×³©ÁÂÄÀÅÃÇÉÊËÈÍÎÏÌÑÓÔÖÒÕŠÚÛÜÙÝŸŽáâäàåãçéêëèíîïìñóôöòõšúûüùýÿž"
)

var standardGlyphs = func() []rune {
	all := []rune{0}
	for r := ' '; r <= '~'; r++ {
		switch r {
		case '\'':
			all = append(all, '’')
		case '`':
			all = append(all, '‘')
		default:
			all = append(all, r)
		}
	}
	for _, r := range standardUpper {
		if r != 0 {
			all = append(all, r)
		}
	}
	return append(all, []rune(moreUpper)...)
}()

func glyphByID(id int, own [][]byte) string {
	switch {
	case id < len(standardGlyphs):
		return string(standardGlyphs[id])
	case id >= digitIDs && id < digitIDs+10:
		return strconv.Itoa(id - digitIDs)
	case id >= ligature && id < ligature+3:
		return []string{"ff", "ffi", "ffl"}[id-ligature]
	case id >= ownIDs && id-ownIDs < len(own):
		return glyph(string(own[id-ownIDs]))
	}
	return "\uFFFD"
}

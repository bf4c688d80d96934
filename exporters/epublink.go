package exporters

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// unlinked are the elements in which no name becomes a link: links, headings, and elements whose text is not part of
// the story.
var unlinked = map[string]bool{
	"a": true, "head": true, "title": true, "script": true, "style": true, "svg": true, "math": true, "nav": true,
	"h1": true, "h2": true, "h3": true,
	"h4": true, "h5": true, "h6": true, "hgroup": true, "button": true, "textarea": true, "select": true,
	"object": true, "audio": true, "video": true, "rt": true,
}

// opsNamespace is that of the attribute epub:type.
const opsNamespace = "http://www.idpf.org/2007/ops"

// linkDocument returns a document of a book with links to notes. It does not change other bytes. The relative path up
// leads to the folder of the notes.
func linkDocument(text []byte, places []epubPlace, up string, third bool) []byte {
	var out bytes.Buffer
	d := documentLinker{
		out: &out, up: up, third: third,
		declared: bytes.Contains(text, []byte(`xmlns:epub="`+opsNamespace)), places: places,
	}
	tokens := html.NewTokenizer(bytes.NewReader(text))
	tokens.AllowCDATA(true)
	for {
		kind := tokens.Next()
		raw := tokens.Raw()
		if kind == html.ErrorToken {
			out.Write(raw)
			return out.Bytes()
		}
		d.token(kind, raw, tokens)
		d.at += int64(len(raw) - bytes.Count(raw, []byte("\r\n")))
	}
}

// documentLinker writes a document with links.
type documentLinker struct {
	out      *bytes.Buffer
	up       string
	third    bool           // the document is of EPUB 3
	declared bool           // the prefix epub is declared
	places   []epubPlace    // the first is the current or the next one
	names    *regexp.Regexp // the pattern of the current scene; nil before its first text
	at       int64          // the offset in the document, as in corpus.Origin
	body     bool
	skipped  []string // the open elements without links
}

func (d *documentLinker) token(kind html.TokenType, raw []byte, tokens *html.Tokenizer) {
	switch kind {
	case html.StartTagToken:
		name, _ := tokens.TagName()
		if string(name) == "body" {
			d.body = true
		}
		if unlinked[string(name)] {
			d.skipped = append(d.skipped, string(name))
		}
	case html.EndTagToken:
		name, _ := tokens.TagName()
		if n := len(d.skipped); n > 0 && d.skipped[n-1] == string(name) {
			d.skipped = d.skipped[:n-1]
		}
	case html.TextToken:
		if d.body && len(d.skipped) == 0 {
			d.text(raw)
			return
		}
	}
	d.out.Write(raw)
}

// text writes a text with the first mention of each name in the scene as a link. It searches the raw text, so a name
// that contains a character reference gets no link.
func (d *documentLinker) text(raw []byte) {
	scene := d.scene()
	if len(scene.names) == 0 {
		d.out.Write(raw)
		return
	}
	if d.names == nil {
		d.names = scene.pattern()
	}
	written := 0
	for at := 0; at < len(raw); {
		found := d.names.FindIndex(raw[at:])
		if found == nil {
			break
		}
		start, end := at+found[0], at+found[1]
		if raw[start] == '&' {
			at = end
			continue
		}
		_, size := utf8.DecodeRune(raw[start:])
		at = start + size
		name := string(raw[start:end])
		id := scene.names[name]
		if !wordsEnd(raw, start, end) || scene.noted[id] {
			continue
		}
		scene.noted[id] = true
		scene.chapter.notes = append(scene.chapter.notes, epubNote{id, scene.order})
		d.out.Write(raw[written:start])
		d.out.WriteString(d.link(scene, id) + name + "</a>")
		written, at = end, end
	}
	d.out.Write(raw[written:])
}

// scene returns the scene of the place in the document.
func (d *documentLinker) scene() *epubScene {
	for len(d.places) > 1 && d.places[1].offset <= d.at {
		if d.places[1].scene != d.places[0].scene {
			d.names = nil
		}
		d.places = d.places[1:]
	}
	return d.places[0].scene
}

func (d *documentLinker) link(s *epubScene, id int64) string {
	href := strings.TrimPrefix(d.up+"/"+s.chapter.file, "./") + "#" + s.note(id)
	if !d.third {
		return fmt.Sprintf(`<a href="%s">`, href)
	}
	namespace := ""
	if !d.declared {
		namespace = ` xmlns:epub="` + opsNamespace + `"`
	}
	return fmt.Sprintf(`<a%s epub:type="noteref" role="doc-noteref" href="%s">`, namespace, href)
}

// wordsEnd reports whether a range of a text begins and ends at boundaries of words. In scripts without spaces, every
// character is a boundary.
func wordsEnd(text []byte, start, end int) bool {
	before, _ := utf8.DecodeLastRune(text[:start])
	first, _ := utf8.DecodeRune(text[start:])
	last, _ := utf8.DecodeLastRune(text[:end])
	after, _ := utf8.DecodeRune(text[end:])
	return !joins(before, first) && !joins(last, after)
}

func joins(a, b rune) bool { return spaced(a) && spaced(b) }

// spaced reports whether a character is part of a word in a script with spaces between words.
func spaced(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
			unicode.Myanmar)
}

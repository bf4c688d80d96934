// Package mobi reads the books of Kindles: MOBI and its successor KF8, which AZW3 files hold. Books with copy
// protection are refused.
//
// A book is a database of records, as Palm's computers had them. The first describes the others: those of the text,
// which are compressed one by one, and those of indexes. An index names the table of contents; in KF8, further ones say
// of which pieces the text of each page is put together.
//
// The source is not trusted: no size or position in it is used before it is compared with what is there.
package mobi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// Book is what a file holds.
type Book struct {
	Title, Author string
	Pages         []string // as HTML, in their order
	Contents      []Entry  // in the order of the book
	// what the book calls some pages, in the words of EPUB 2: "title-page", "notes"
	Guide map[int]string
}

// Entry is an entry of the table of contents.
type Entry struct {
	Label    string
	Page     int
	Fragment string // the id of the element in the page at which the entry's part begins
	Depth    int    // from 1
	Leaf     bool   // no entries are below it
}

// Errors that a user can do something about.
var (
	ErrProtected = errors.New("it is protected against copies (DRM)")
	ErrDamaged   = errors.New("it is damaged, or no Kindle book")
	ErrTooLong   = errors.New("its text is longer than it may be")
)

// Limits of what a file may make the reader do.
const (
	maxText   = 512 << 20 // bytes of the text
	maxRecord = 64 << 10  // bytes that one record of the text unpacks to
	maxPhrase = 64 << 10  // bytes of an entry of a dictionary
	maxItems  = 200_000   // entries of an index
	maxGuide  = 100       // entries of a guide
)

// Mark is at offset MarkAt of each such file.
const (
	Mark   = "BOOKMOBI"
	MarkAt = 60
)

// noRecord is the number of a record that is not there.
const noRecord = 0xFFFFFFFF

// Read reads a book.
func Read(data []byte) (*Book, error) {
	records, err := split(data)
	if err != nil {
		return nil, err
	}
	h, err := readHeader(records, 0)
	if err != nil {
		return nil, err
	}
	// A file for both generations of readers has the book twice; the newer form has the better markup.
	if at := h.boundary; at != noRecord && at > 0 && at < uint32(len(records)) {
		if newer, err := readHeader(records, int(at)); err == nil && newer.version >= kf8 {
			newer.title, newer.author = h.title, h.author
			h = newer
		}
	}
	text, err := h.text()
	if err != nil {
		return nil, err
	}
	b := &Book{Title: h.decode([]byte(h.title)), Author: h.decode([]byte(h.author))}
	points, err := h.contents()
	if err != nil {
		return nil, err
	}
	if h.version >= kf8 {
		return b, h.assemble(b, text, points)
	}
	h.cut(b, text, points)
	return b, nil
}

// split takes the records apart.
func split(data []byte) ([][]byte, error) {
	const head, each = 78, 8
	if len(data) < head || string(data[MarkAt:MarkAt+len(Mark)]) != Mark {
		return nil, ErrDamaged
	}
	n := int(binary.BigEndian.Uint16(data[76:]))
	if n == 0 || len(data) < head+each*n {
		return nil, ErrDamaged
	}
	records := make([][]byte, n)
	end := len(data)
	for i := n - 1; i >= 0; i-- {
		start := int(binary.BigEndian.Uint32(data[head+each*i:]))
		if start > end {
			return nil, ErrDamaged
		}
		records[i] = data[start:end]
		end = start
	}
	return records, nil
}

// kf8 is the version from which on the text of pages is in pieces.
const kf8 = 8

// header is what the first record of a book says.
type header struct {
	records       [][]byte // of this book; the first is this
	title, author string
	version       uint32
	encoding      uint32
	compression   uint16
	textRecords   int
	textSize      int
	trailers      uint16 // flags of what follows the text in each record
	huffman       uint32 // its first record,
	huffmans      uint32 // and how many there are
	boundary      uint32 // the first record of the newer form
	toc           uint32 // indexes
	fragments     uint32
	skeletons     uint32
	flows         uint32
}

func readHeader(records [][]byte, at int) (*header, error) {
	r := records[at]
	if len(r) < 16+8 {
		return nil, ErrDamaged
	}
	if binary.BigEndian.Uint16(r[12:]) != 0 {
		return nil, ErrProtected
	}
	long := func(offset int) uint32 {
		// What a shorter, older header lacks is not there.
		if offset+4 > len(r) || offset+4 > 16+int(binary.BigEndian.Uint32(r[20:])) {
			return noRecord
		}
		return binary.BigEndian.Uint32(r[offset:])
	}
	h := &header{
		records: records[at:], compression: binary.BigEndian.Uint16(r),
		textSize: int(binary.BigEndian.Uint32(r[4:])), textRecords: int(binary.BigEndian.Uint16(r[8:])),
		encoding: long(28), version: long(36), huffman: long(112), huffmans: long(116), toc: long(0xF4),
		fragments: long(0xF8), skeletons: long(0xFC), flows: long(0xC0), boundary: noRecord,
	}
	if h.version == noRecord || h.textRecords >= len(h.records) {
		return nil, ErrDamaged
	}
	if flags := long(0xF0); flags != noRecord && h.version >= 5 {
		h.trailers = uint16(flags)
	}
	if start, n := int64(long(84)), int64(long(88)); start+n <= int64(len(r)) {
		h.title = string(r[start : start+n])
	}
	if flags := long(128); flags != noRecord && flags&0x40 != 0 {
		h.readExtra(r[min(len(r), 16+int(binary.BigEndian.Uint32(r[20:]))):])
	}
	return h, nil
}

// readExtra reads the list of what else is known of a book.
func (h *header) readExtra(list []byte) {
	if len(list) < 12 || string(list[:4]) != "EXTH" {
		return
	}
	n, at := binary.BigEndian.Uint32(list[8:]), 12
	var authors []string
	for range min(n, 1000) {
		if at+8 > len(list) {
			break
		}
		kind, size := binary.BigEndian.Uint32(list[at:]), int(binary.BigEndian.Uint32(list[at+4:]))
		if size < 8 || at+size > len(list) {
			break
		}
		value := list[at+8 : at+size]
		switch {
		case kind == 100:
			authors = append(authors, string(value))
		case kind == 503:
			h.title = string(value)
		case kind == 121 && len(value) == 4:
			h.boundary = binary.BigEndian.Uint32(value)
		}
		at += size
	}
	h.author = strings.Join(authors, ", ")
}

// decode makes UTF-8 of the book's text.
func (h *header) decode(text []byte) string {
	if h.encoding != 65001 {
		if decoded, err := charmap.Windows1252.NewDecoder().Bytes(text); err == nil {
			return string(decoded)
		}
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// record is a record of the book; nil if it is not there.
func (h *header) record(i uint32) []byte {
	if int64(i) >= int64(len(h.records)) {
		return nil
	}
	return h.records[i]
}

// text unpacks the text, and in KF8 takes the first of its flows, which is the pages'.
func (h *header) text() ([]byte, error) {
	unpack, err := h.unpacker()
	if err != nil {
		return nil, err
	}
	var text []byte
	for i := 1; i <= h.textRecords; i++ {
		part, err := unpack(h.withoutTrailers(h.records[i]))
		if err != nil {
			return nil, err
		}
		if text = append(text, part...); len(text) > maxText {
			return nil, ErrTooLong
		}
	}
	if h.version < kf8 {
		return text, nil
	}
	if list := h.record(h.flows); len(list) >= 20 && string(list[:4]) == "FDST" {
		if end := int64(binary.BigEndian.Uint32(list[16:])); end <= int64(len(text)) {
			text = text[:end]
		}
	}
	return text, nil
}

// withoutTrailers takes off what follows the text in a record.
func (h *header) withoutTrailers(r []byte) []byte {
	for range bits.OnesCount16(h.trailers >> 1) {
		size := 0
		for _, b := range r[max(0, len(r)-4):] {
			if b&0x80 != 0 {
				size = 0
			}
			size = size<<7 | int(b&0x7F)
		}
		r = r[:max(0, len(r)-size)]
	}
	if h.trailers&1 != 0 && len(r) > 0 {
		r = r[:max(0, len(r)-int(r[len(r)-1]&3)-1)]
	}
	return r
}

func (h *header) unpacker() (func([]byte) ([]byte, error), error) {
	switch h.compression {
	case 1:
		return func(r []byte) ([]byte, error) { return r, nil }, nil
	case 2:
		return unpackPalm, nil
	case 17480:
		return h.huffmanReader()
	}
	return nil, fmt.Errorf("it is compressed in a way that is not known (%d)", h.compression)
}

// unpackPalm undoes the compression of Palm's documents. Its codes are for bytes as they are, for a distance and a
// length, and for a space with the letter behind it.
func unpackPalm(r []byte) ([]byte, error) {
	var text []byte
	for i := 0; i < len(r) && len(text) <= maxRecord; {
		c := r[i]
		i++
		switch {
		case c >= 1 && c <= 8:
			n := min(int(c), len(r)-i)
			text = append(text, r[i:i+n]...)
			i += n
		case c < 0x80:
			text = append(text, c)
		case c >= 0xC0:
			text = append(text, ' ', c^0x80)
		case i < len(r):
			pair := int(c)<<8 | int(r[i])
			i++
			distance, length := pair>>3&0x7FF, pair&7+3
			if distance == 0 || distance > len(text) {
				return nil, ErrDamaged
			}
			for range length {
				text = append(text, text[len(text)-distance])
			}
		}
	}
	return text, nil
}

// point is an entry of the table of contents with its position in the text.
type point struct {
	label    string
	position int
	fragment int // in KF8, the piece that the position is in; -1 else
	depth    int
	leaf     bool
}

// contents reads the table of contents; nothing if there is none.
func (h *header) contents() ([]point, error) {
	if h.toc == noRecord {
		return nil, nil
	}
	items, err := h.index(h.toc)
	if err != nil {
		return nil, err
	}
	var points []point
	for _, item := range items {
		p := point{label: h.decode(item.labels(3)), fragment: -1, depth: item.tag(4) + 1, leaf: len(item.tags[22]) == 0}
		switch place := item.tags[6]; {
		case len(place) > 1:
			p.fragment, p.position = place[0], place[1]
		case len(item.tags[1]) > 0:
			p.position = item.tag(1)
		default:
			continue
		}
		points = append(points, p)
	}
	return points, nil
}

// place finds where each entry leads to: pages are given by where they begin and end.
func place(b *Book, points []point, starts []int, pages [][]byte) [][]byte {
	slices.SortStableFunc(points, func(a, b point) int { return a.position - b.position })
	inserts := make([][]int, len(pages))
	for _, p := range points {
		i := pageAt(starts, p.position)
		if i < 0 || p.position < 0 {
			continue
		}
		at := min(max(0, p.position-starts[i]), len(pages[i]))
		// A position within a tag is that of the tag.
		if open := bytes.LastIndexByte(pages[i][:at], '<'); open >= 0 && bytes.IndexByte(pages[i][open:at], '>') < 0 {
			at = open
		}
		if !slices.Contains(inserts[i], at) {
			inserts[i] = append(inserts[i], at)
		}
		b.Contents = append(b.Contents, Entry{
			Label: p.label, Page: i, Fragment: anchorOf(at), Depth: min(max(p.depth, 1), 9), Leaf: p.leaf,
		})
	}
	for i, all := range inserts {
		slices.Sort(all)
		var page []byte
		from := 0
		for _, at := range all {
			page = append(page, pages[i][from:at]...)
			page = append(page, `<a id="`+anchorOf(at)+`"></a>`...)
			from = at
		}
		pages[i] = append(page, pages[i][from:]...)
	}
	return pages
}

func anchorOf(at int) string { return fmt.Sprintf("contents-%d", at) }

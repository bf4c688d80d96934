package mobi

import (
	"encoding/binary"
)

// huffman is a code with a dictionary of phrases, which may be in the code themselves.
type huffman struct {
	short    [256]uint32 // by the first eight bits
	min, max [33]uint64  // codes by their length
	phrases  []phrase
}

type phrase struct {
	text []byte
	done bool // it is text; else it is in the code
	open bool // it is being read: one that holds itself is refused
}

// maxNested is how deep phrases may hold others.
const maxNested = 32

func (h *header) huffmanReader() (func([]byte) ([]byte, error), error) {
	u := &huffman{}
	table := h.record(h.huffman)
	if len(table) < 24 || string(table[:4]) != "HUFF" {
		return nil, ErrDamaged
	}
	short, long := int64(binary.BigEndian.Uint32(table[8:])), int64(binary.BigEndian.Uint32(table[12:]))
	if short+256*4 > int64(len(table)) || long+64*4 > int64(len(table)) {
		return nil, ErrDamaged
	}
	for i := range u.short {
		u.short[i] = binary.BigEndian.Uint32(table[short+int64(4*i):])
	}
	for n := 1; n <= 32; n++ {
		at := long + int64(8*(n-1))
		u.min[n] = uint64(binary.BigEndian.Uint32(table[at:])) << (32 - n)
		u.max[n] = (uint64(binary.BigEndian.Uint32(table[at+4:]))+1)<<(32-n) - 1
	}
	for i := uint32(1); i < min(h.huffmans, uint32(len(h.records))); i++ {
		if err := u.addPhrases(h.record(h.huffman + i)); err != nil {
			return nil, err
		}
	}
	return func(r []byte) ([]byte, error) { return u.unpack(r, 0) }, nil
}

// addPhrases adds the phrases of a record.
func (u *huffman) addPhrases(r []byte) error {
	if len(r) < 16 || string(r[:4]) != "CDIC" {
		return ErrDamaged
	}
	all, digits := int64(binary.BigEndian.Uint32(r[8:])), binary.BigEndian.Uint32(r[12:])
	n := min(int64(1)<<min(digits, 32), all-int64(len(u.phrases)))
	if n < 0 || 16+2*n > int64(len(r)) {
		return ErrDamaged
	}
	for i := range n {
		at := 16 + int(binary.BigEndian.Uint16(r[16+2*i:]))
		if at+2 > len(r) {
			return ErrDamaged
		}
		size := binary.BigEndian.Uint16(r[at:])
		end := at + 2 + int(size&0x7FFF)
		if end > len(r) {
			return ErrDamaged
		}
		u.phrases = append(u.phrases, phrase{text: r[at+2 : end], done: size&0x8000 != 0})
	}
	return nil
}

func (u *huffman) unpack(data []byte, depth int) ([]byte, error) {
	if depth > maxNested {
		return nil, ErrDamaged
	}
	var text []byte
	left := len(data) * 8
	padded := append(append(make([]byte, 0, len(data)+12), data...), make([]byte, 12)...)
	for at := 0; left > 0; {
		word := binary.BigEndian.Uint64(padded[at/32*4:])
		code := word >> (32 - at%32) & 0xFFFFFFFF
		first := u.short[code>>24]
		n := int(first & 0x1F)
		if n == 0 {
			return nil, ErrDamaged
		}
		last := (uint64(first>>8)+1)<<(32-n) - 1
		if first&0x80 == 0 {
			for n < 32 && code < u.min[n] {
				n++
			}
			last = u.max[n]
		}
		at += n
		if left -= n; left < 0 {
			break
		}
		part, err := u.phrase((last-code)>>(32-n), depth)
		if err != nil {
			return nil, err
		}
		if text = append(text, part...); len(text) > maxRecord {
			return nil, ErrTooLong
		}
	}
	return text, nil
}

// phrase is the text of a phrase. It is unpacked once.
func (u *huffman) phrase(i uint64, depth int) ([]byte, error) {
	if i >= uint64(len(u.phrases)) || u.phrases[i].open {
		return nil, ErrDamaged
	}
	p := &u.phrases[i]
	if p.done {
		return p.text, nil
	}
	p.open = true
	text, err := u.unpack(p.text, depth+1)
	if err == nil && len(text) > maxPhrase {
		err = ErrTooLong
	}
	*p = phrase{text: text, done: true}
	return text, err
}

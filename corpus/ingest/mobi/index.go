package mobi

import (
	"encoding/binary"
	"math/bits"
)

// item is an entry of an index.
type item struct {
	name  []byte
	tags  map[byte][]int
	texts map[int][]byte // of the index, by their offsets
}

// tag is the first value of a tag; 0 if there is none.
func (i *item) tag(tag byte) int {
	if values := i.tags[tag]; len(values) > 0 {
		return values[0]
	}
	return 0
}

// labels is the text that a tag refers to.
func (i *item) labels(tag byte) []byte { return i.texts[i.tag(tag)] }

// tagForm says how the values of a tag are written.
type tagForm struct{ tag, each, mask, end byte }

// index reads an index: a record that describes it, records of entries, records of texts.
func (h *header) index(first uint32) ([]item, error) {
	head := h.record(first)
	if len(head) < 56 || string(head[:4]) != "INDX" {
		return nil, ErrDamaged
	}
	forms, control, err := readForms(head)
	if err != nil {
		return nil, err
	}
	count := binary.BigEndian.Uint32(head[24:])
	if int64(first)+int64(count) >= int64(len(h.records)) {
		return nil, ErrDamaged
	}
	texts := map[int][]byte{}
	for k := range min(binary.BigEndian.Uint32(head[52:]), uint32(len(h.records))) {
		readTexts(texts, h.record(first+count+1+k), int(k)<<16)
	}
	var items []item
	for k := range count {
		r := h.record(first + 1 + k)
		if len(r) < 28 || string(r[:4]) != "INDX" {
			return nil, ErrDamaged
		}
		start, n := int64(binary.BigEndian.Uint32(r[20:])), int64(binary.BigEndian.Uint32(r[24:]))
		if start+4+2*n > int64(len(r)) || len(items)+int(n) > maxItems {
			return nil, ErrDamaged
		}
		for i := range n {
			at := int(binary.BigEndian.Uint16(r[start+4+2*i:]))
			end := int(start)
			if i+1 < n {
				end = int(binary.BigEndian.Uint16(r[start+6+2*i:]))
			}
			if at >= end || end > len(r) || at+1+int(r[at]) > end {
				return nil, ErrDamaged
			}
			name := r[at+1 : at+1+int(r[at])]
			tags, err := readTags(forms, control, r[at+1+len(name):end])
			if err != nil {
				return nil, err
			}
			items = append(items, item{name, tags, texts})
		}
	}
	return items, nil
}

// readForms reads which tags an index has.
func readForms(head []byte) (forms []tagForm, control int, err error) {
	start := int64(binary.BigEndian.Uint32(head[4:]))
	if start+12 > int64(len(head)) || string(head[start:start+4]) != "TAGX" {
		return nil, 0, ErrDamaged
	}
	size := int64(binary.BigEndian.Uint32(head[start+4:]))
	control = int(binary.BigEndian.Uint32(head[start+8:]))
	if start+size > int64(len(head)) || control > 8 {
		return nil, 0, ErrDamaged
	}
	for at := start + 12; at+4 <= start+size; at += 4 {
		forms = append(forms, tagForm{head[at], head[at+1], head[at+2], head[at+3]})
	}
	return forms, control, nil
}

// number reads a number of seven bits a byte; the last has the eighth set. n is how many bytes it has.
func number(data []byte) (value, n int) {
	for n < len(data) && n < 5 {
		b := data[n]
		value = value<<7 | int(b&0x7F)
		n++
		if b&0x80 != 0 {
			break
		}
	}
	return value, n
}

// readTags reads the values of an entry. Bits of the control bytes say how many values each tag has.
func readTags(forms []tagForm, control int, data []byte) (map[byte][]int, error) {
	if len(data) < control {
		return nil, ErrDamaged
	}
	type wanted struct {
		form         tagForm
		count, bytes int
	}
	var all []wanted
	at, group := control, 0
	for _, f := range forms {
		if f.end == 1 {
			group++
			continue
		}
		if group >= control {
			return nil, ErrDamaged
		}
		switch value := data[group] & f.mask; {
		case value == 0:
		case value == f.mask && bits.OnesCount8(f.mask) > 1:
			size, n := number(data[at:])
			at += n
			all = append(all, wanted{f, -1, size})
		default:
			all = append(all, wanted{f, int(value >> bits.TrailingZeros8(f.mask)), 0})
		}
	}
	tags := map[byte][]int{}
	for _, w := range all {
		end := len(data)
		if w.count < 0 {
			end = min(at+w.bytes, end)
		}
		for k := 0; at < end && (w.count < 0 || k < w.count*int(w.form.each)); k++ {
			value, n := number(data[at:])
			at += n
			tags[w.form.tag] = append(tags[w.form.tag], value)
		}
	}
	return tags, nil
}

// readTexts reads the texts of a record of an index.
func readTexts(texts map[int][]byte, r []byte, base int) {
	for at := 0; at < len(r) && r[at] != 0; {
		size, n := number(r[at:])
		if at+n+size > len(r) {
			return
		}
		texts[base+at] = r[at+n : at+n+size]
		at += n + size
	}
}

package pdf

import (
	"bytes"
	"compress/flate"
	"encoding/ascii85"
	"io"
)

// unpack decodes a stream. What a damaged stream gives before its damage is kept. Pictures are not decoded.
func (d *document) unpack(s stream) []byte {
	data := s.packed
	filters, ok := d.get(s.dict["Filter"]).(array)
	if !ok {
		filters = array{s.dict["Filter"]}
	}
	parameters, ok := d.get(s.dict["DecodeParms"]).(array)
	if !ok {
		parameters = array{s.dict["DecodeParms"]}
	}
	d.budget -= chargeUse
	for i, f := range filters[:min(len(filters), 8)] {
		limit := int64(min(maxStream, max(d.budget, 0)))
		p := d.dict(at(parameters, i))
		switch f := d.get(f); f {
		case nil:
		case name("FlateDecode"), name("Fl"):
			data = predict(d.inflate(data, limit), d, p)
		case name("LZWDecode"), name("LZW"):
			early := d.number(p["EarlyChange"], 1)
			data = predict(expandLZW(data, int(limit), int(early)), d, p)
		case name("ASCIIHexDecode"), name("AHx"):
			data, _, _ = bytes.Cut(data, []byte(">"))
			data = unhex(data)
		case name("ASCII85Decode"), name("A85"):
			data, _, _ = bytes.Cut(data, []byte("~>"))
			data, _ = io.ReadAll(io.LimitReader(ascii85.NewDecoder(bytes.NewReader(data)), limit))
		default:
			return nil
		}
		d.budget -= len(data)
	}
	return data
}

// inflate skips the two bytes of zlib's head, as its sum at the end is often wrong or missing.
func (d *document) inflate(data []byte, limit int64) []byte {
	if len(data) < 2 {
		return nil
	}
	out, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data[2:])), limit))
	if err != nil {
		d.broken++
	}
	return out
}

// expandLZW decodes the LZW of TIFF, whose codes grow one entry earlier than those of GIF.
func expandLZW(data []byte, limit, early int) []byte {
	const clear, end, first, last = 256, 257, 258, 4096
	var out []byte
	var starts, ends [last]int // where each phrase stands in out
	n, width, previous, bits, held := first, 9, -1, 0, uint32(0)
	from := 0 // where the phrase before begins
	for _, b := range data {
		held, bits = held<<8|uint32(b), bits+8
		if bits < width {
			continue
		}
		bits -= width
		code := int(held >> bits & (1<<width - 1))
		switch {
		case code == end || len(out) > limit:
			return out
		case code == clear:
			n, width, previous = first, 9, -1
			continue
		}
		begin := len(out)
		switch {
		case code < clear:
			out = append(out, byte(code))
		case code < n:
			out = append(out, out[starts[code]:ends[code]]...)
		case code == n && previous >= 0:
			out = append(append(out, out[from:begin]...), out[from])
		default:
			return out
		}
		if previous >= 0 && n < last {
			starts[n], ends[n] = from, begin+1
			n++
		}
		previous, from = code, begin
		for width < 12 && n+early >= 1<<width {
			width++
		}
	}
	return out
}

// predict undoes the differences to the row above, which streams of cross-references have.
func predict(data []byte, d *document, p dict) []byte {
	if d.number(p["Predictor"], 1) < 10 {
		return data
	}
	row := int(d.number(p["Columns"], 1)*d.number(p["Colors"], 1)*d.number(p["BitsPerComponent"], 8)+7) / 8
	each := max(1, int(d.number(p["Colors"], 1)*d.number(p["BitsPerComponent"], 8))/8)
	if row < 1 || row > len(data) || each > row {
		return nil
	}
	var out []byte
	above := make([]byte, row)
	for ; len(data) > row; data = data[row+1:] {
		line := bytes.Clone(data[1 : row+1])
		for i := range line {
			var left, corner byte
			if i >= each {
				left, corner = line[i-each], above[i-each]
			}
			switch data[0] {
			case 1:
				line[i] += left
			case 2:
				line[i] += above[i]
			case 3:
				line[i] += byte((int(left) + int(above[i])) / 2) //nolint:gosec // a mean of bytes
			case 4:
				line[i] += paeth(left, above[i], corner)
			}
		}
		out, above = append(out, line...), line
	}
	return out
}

func paeth(a, b, c byte) byte {
	distance := func(x byte) int { return max(int(a)+int(b)-int(c)-int(x), int(x)+int(c)-int(a)-int(b)) }
	if distance(a) <= distance(b) && distance(a) <= distance(c) {
		return a
	}
	if distance(b) <= distance(c) {
		return b
	}
	return c
}

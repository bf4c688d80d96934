package pdf

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
)

// Limits of what a file may make the reader do.
const (
	maxObjects = 2_000_000
	maxStream  = 64 << 20  // bytes of one unpacked stream
	maxUnpack  = 512 << 20 // bytes of all that is unpacked
	chargeUse  = 1 << 10   // taken off that for each stream, so that uses of small ones end too
	maxPages   = 50_000
	maxEntries = 50_000 // of the outline
)

// document is a file with its objects.
//
// Objects are found by one scan, not by the tables of cross-references, which are wrong in many files. Of an object
// that is there twice, the later one counts: files are changed by appending.
type document struct {
	objects map[ref]any
	trailer dict
	budget  int // bytes that may still be unpacked
	broken  int // streams that end too early
}

var objectHead = regexp.MustCompile(`(\d{1,10})[\x00\t\n\f\r ]+\d{1,5}[\x00\t\n\f\r ]+obj|trailer`)

func open(data []byte) *document {
	d := &document{objects: map[ref]any{}, trailer: dict{}, budget: maxUnpack}
	for at := 0; at < len(data) && len(d.objects) < maxObjects; {
		m := objectHead.FindSubmatchIndex(data[at:])
		if m == nil {
			break
		}
		l := &lexer{data, at + m[1]}
		v, _ := l.next(0)
		if m[2] < 0 {
			t, _ := v.(dict)
			d.trail(t)
			at += m[1]
			continue
		}
		n, _ := strconv.Atoi(string(data[at+m[2] : at+m[3]]))
		at = l.at
		if values, ok := v.(dict); ok {
			v = d.withStream(l, values)
			at = l.at
		}
		d.put(ref(n), v)
	}
	return d
}

// withStream adds the bytes of a stream to its dictionary, if there is one. A length that is wrong, or an object of
// its own, gives way to the word at the end.
func (d *document) withStream(l *lexer, values dict) any {
	before := l.at
	if word, _ := l.next(0); word != operator("stream") {
		l.at = before
		return values
	}
	if bytes.HasPrefix(l.data[l.at:], []byte("\r\n")) {
		l.at++
	}
	start := min(l.at+1, len(l.data))
	if n, ok := values["Length"].(float64); ok && n >= 0 && int(n) <= len(l.data)-start {
		end := &lexer{l.data, start + int(n)}
		if word, _ := end.next(0); word == operator("endstream") {
			l.at = end.at
			return stream{values, l.data[start : start+int(n)]}
		}
	}
	n := bytes.Index(l.data[start:], []byte("endstream"))
	if n < 0 {
		n = len(l.data) - start
	}
	l.at = start + n
	return stream{values, l.data[start : start+n]}
}

func (d *document) put(n ref, v any) {
	s, ok := v.(stream)
	if !ok {
		d.objects[n] = v
		return
	}
	d.objects[n] = s
	switch s.dict["Type"] {
	case name("XRef"):
		d.trail(s.dict)
	case name("ObjStm"):
		d.unpackObjects(s)
	}
}

// trail takes what a trailer says. The last one counts.
func (d *document) trail(t dict) {
	for _, key := range []name{"Root", "Info", "Encrypt"} {
		if t[key] != nil {
			d.trailer[key] = t[key]
		}
	}
}

// unpackObjects reads the objects in a stream: their numbers and positions, then themselves.
func (d *document) unpackObjects(s stream) {
	data := d.unpack(s)
	head := &lexer{data: data}
	first, count := d.number(s.dict["First"], 0), d.number(s.dict["N"], 0)
	for i := 0.0; i < count && len(d.objects) < maxObjects; i++ {
		number, _ := head.next(0)
		position, ok := head.next(0)
		n, isNumber := number.(float64)
		offset, isOffset := position.(float64)
		if !ok || !isNumber || !isOffset {
			return
		}
		if offset += first; offset < 0 || int(offset) >= len(data) {
			continue
		}
		l := &lexer{data, int(offset)}
		v, _ := l.next(0)
		d.objects[ref(n)] = v
	}
}

// get follows references.
func (d *document) get(v any) any {
	for range maxDepth {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = d.objects[r]
	}
	return nil
}

func (d *document) dict(v any) dict {
	switch v := d.get(v).(type) {
	case dict:
		return v
	case stream:
		return v.dict
	}
	return nil
}

func (d *document) array(v any) array {
	a, _ := d.get(v).(array)
	return a
}

func (d *document) number(v any, otherwise float64) float64 {
	if n, ok := d.get(v).(float64); ok && !math.IsNaN(n) {
		return n
	}
	return otherwise
}

// root is the catalog, by the trailer or, where that is lost, by its type.
func (d *document) root() dict {
	if root := d.dict(d.trailer["Root"]); root["Pages"] != nil {
		return root
	}
	for _, v := range d.objects {
		if values, ok := v.(dict); ok && values["Type"] == name("Catalog") {
			return values
		}
	}
	return nil
}

// leaf is a page with what it takes over from the nodes above.
type leaf struct {
	dict
	id        any // its reference
	resources dict
	rotate    float64
}

// pages lists the pages in their order.
func (d *document) pages(root dict) []leaf {
	var all []leaf
	seen := map[ref]bool{}
	var walk func(v any, above leaf, depth int)
	walk = func(v any, above leaf, depth int) {
		if r, ok := v.(ref); ok {
			if seen[r] {
				return
			}
			seen[r] = true
		}
		node := d.dict(v)
		if node == nil || depth > maxDepth || len(all) >= maxPages {
			return
		}
		here := leaf{node, v, above.resources, d.number(node["Rotate"], above.rotate)}
		if r := d.dict(node["Resources"]); r != nil {
			here.resources = r
		}
		if kids := d.array(node["Kids"]); kids != nil {
			for _, kid := range kids {
				walk(kid, here, depth+1)
			}
			return
		}
		all = append(all, here)
	}
	walk(root["Pages"], leaf{}, 0)
	return all
}

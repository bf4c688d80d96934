package mobi

import (
	"bytes"
	"regexp"
	"strconv"
)

var (
	pageBreak = regexp.MustCompile(`(?i)<mbp:pagebreak[^>]*>`)
	fileLink  = regexp.MustCompile(`(?i)\bfilepos\s*=\s*["']?(\d+)["']?`)
)

// cut makes pages of the text of a MOBI: a tag of its own begins each.
func (h *header) cut(b *Book, text []byte, points []point) {
	var starts []int
	var pages [][]byte
	from := 0
	for _, at := range append(pageBreak.FindAllIndex(text, -1), []int{len(text), len(text)}) {
		starts, pages = append(starts, from), append(pages, text[from:at[0]:at[0]])
		from = at[0]
	}
	for _, page := range place(b, points, starts, pages) {
		page = fileLink.ReplaceAll(page, []byte(`href="#filepos$1"`))
		b.Pages = append(b.Pages, "<body>"+h.decode(page)+"</body>")
	}
}

// maxCopied is how many bytes may be copied to put pages together.
const maxCopied = 4 << 30

// assemble puts the pages of KF8 together. Each has a skeleton, and fragments that are inserted into it one after
// another.
func (h *header) assemble(b *Book, text []byte, points []point) error {
	skeletons, err := h.index(h.skeletons)
	if err != nil {
		return err
	}
	var fragments []item
	if h.fragments != noRecord {
		if fragments, err = h.index(h.fragments); err != nil {
			return err
		}
	}
	positions := make([]int, len(fragments))
	for i := range fragments {
		positions[i], err = strconv.Atoi(string(bytes.TrimLeft(fragments[i].name, "0")))
		if err != nil && len(bytes.Trim(fragments[i].name, "0")) > 0 {
			return ErrDamaged
		}
	}
	var starts []int
	var pages [][]byte
	next, done, copied := 0, 0, 0
	for i := range skeletons {
		place := skeletons[i].tags[6]
		if len(place) < 2 || place[0] != done || place[0]+place[1] > len(text) {
			return ErrDamaged // each piece follows the one before
		}
		start := place[0]
		page := bytes.Clone(text[start : start+place[1]])
		done = start + place[1]
		for range skeletons[i].tag(1) {
			if next >= len(fragments) || len(fragments[next].tags[6]) < 2 {
				return ErrDamaged
			}
			size, at := fragments[next].tags[6][1], positions[next]-start
			if at < 0 || at > len(page) || done+size > len(text) {
				return ErrDamaged
			}
			if copied += len(page) + size; copied > maxCopied {
				return ErrTooLong
			}
			page = append(page[:at:at], append(bytes.Clone(text[done:done+size]), page[at:]...)...)
			done += size
			next++
		}
		starts, pages = append(starts, start), append(pages, page)
	}
	if len(pages) == 0 || done < len(bytes.TrimRight(text, "\x00 \n")) {
		return ErrDamaged // some of the text would be on no page
	}
	for i := range points {
		if f := points[i].fragment; f >= 0 && f < len(positions) {
			points[i].position += positions[f]
		}
	}
	for _, page := range place(b, points, starts, pages) {
		b.Pages = append(b.Pages, h.decode(page))
	}
	return nil
}

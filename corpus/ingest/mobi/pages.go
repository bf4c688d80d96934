package mobi

import (
	"bytes"
	"regexp"
	"strconv"
)

var (
	pageBreak = regexp.MustCompile(`(?i)<mbp:pagebreak[^>]*>`)
	fileLink  = regexp.MustCompile(`(?i)\bfilepos\s*=\s*["']?(\d{1,10})["']?`)
	reference = regexp.MustCompile(`(?i)<reference\b[^>]*>`)
	kindOf    = regexp.MustCompile(`(?i)\btype\s*=\s*["']([\w.-]+)["']`)
	anyTag    = regexp.MustCompile(`<[^<>]*>`)
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
	b.Guide = readGuide(text, starts, pages)
	for _, page := range place(b, points, starts, pages) {
		page = fileLink.ReplaceAll(page, []byte(`href="#filepos$1"`))
		b.Pages = append(b.Pages, "<body>"+h.decode(page)+"</body>")
	}
}

// readGuide reads what the book says of its own parts. A part that begins within a page says nothing of the page.
func readGuide(text []byte, starts []int, pages [][]byte) map[int]string {
	var guide map[int]string
	for _, tag := range reference.FindAll(text, maxGuide) {
		kind, link := kindOf.FindSubmatch(tag), fileLink.FindSubmatch(tag)
		if kind == nil || link == nil {
			continue
		}
		position, _ := strconv.Atoi(string(link[1]))
		i := pageAt(starts, position)
		before := pages[i][:min(position-starts[i], len(pages[i]))]
		if len(bytes.TrimSpace(anyTag.ReplaceAll(before, nil))) == 0 {
			if guide == nil {
				guide = map[int]string{}
			}
			guide[i] = string(kind[1])
		}
	}
	return guide
}

// pageAt is the page that a position of the text is on.
func pageAt(starts []int, position int) int {
	i := len(starts) - 1
	for i > 0 && starts[i] > position {
		i--
	}
	return i
}

// maxCopied is how many bytes may be copied to put pages together.
const maxCopied = 4 << 30

// piece is where some text is, and at which position of the page it belongs.
type piece struct{ at, size int }

// assemble puts the pages of KF8 together. Each has a skeleton, and fragments that are inserted into it one after
// another.
func (h *header) assemble(b *Book, text []byte, points []point) error {
	skeletons, err := h.index(h.skeletons)
	if err != nil {
		return err
	}
	fragments, err := h.pieces()
	if err != nil {
		return err
	}
	var starts []int
	var pages [][]byte
	done, copied, rest := 0, 0, fragments
	for i := range skeletons {
		place, n := skeletons[i].tags[6], skeletons[i].tag(1)
		if len(place) < 2 || place[0] != done || done+place[1] > len(text) || n > len(rest) {
			return ErrDamaged // each piece follows the one before
		}
		start := done
		page := bytes.Clone(text[done : done+place[1]])
		done += place[1]
		for _, f := range rest[:n] {
			at := f.at - start
			if at < 0 || at > len(page) || done+f.size > len(text) {
				return ErrDamaged
			}
			if copied += len(page) + f.size; copied > maxCopied {
				return ErrTooLong
			}
			page = append(page[:at:at], append(bytes.Clone(text[done:done+f.size]), page[at:]...)...)
			done += f.size
		}
		starts, pages, rest = append(starts, start), append(pages, page), rest[n:]
	}
	if len(pages) == 0 || done < len(bytes.TrimRight(text, "\x00 \n")) {
		return ErrDamaged // some of the text would be on no page
	}
	for i := range points {
		if f := points[i].fragment; f >= 0 && f < len(fragments) {
			points[i].position += fragments[f].at
		}
	}
	for _, page := range place(b, points, starts, pages) {
		b.Pages = append(b.Pages, h.decode(page))
	}
	return nil
}

// pieces reads the list of fragments.
func (h *header) pieces() ([]piece, error) {
	if h.fragments == noRecord {
		return nil, nil
	}
	items, err := h.index(h.fragments)
	if err != nil {
		return nil, err
	}
	all := make([]piece, len(items))
	for i := range items {
		at, err := strconv.ParseUint(string(items[i].name), 10, 31)
		if err != nil || len(items[i].tags[6]) < 2 {
			return nil, ErrDamaged
		}
		all[i] = piece{int(at), items[i].tags[6][1]}
	}
	return all, nil
}

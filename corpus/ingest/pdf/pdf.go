// Package pdf reads the text of PDF files: its paragraphs, by the positions of lines, and the outline.
//
// PDF says where each piece of text is shown, not what it is. Lines are pieces on one height, paragraphs are told by an
// indent or a gap. What stands at the edge of several pages is a running head or a page number.
//
// The source is not trusted: depth, loops, objects and all that is unpacked are bounded.
package pdf

import (
	"bytes"
	"errors"
)

// Book is what a file holds.
type Book struct {
	Title, Author string
	Paragraphs    []Paragraph
	Contents      []Entry // in the order of the outline
	Pages         int
	Unordered     int // pages whose text is in columns, or not from top to bottom
	Uncertain     int // lines at edges that come again, and may be running heads; they are in the text
	Broken        int // streams that are damaged, of which the beginning was read
	Unknown       int // characters whose font does not say what they are
}

// Paragraph is a paragraph, or a line that is no part of the story.
type Paragraph struct {
	Text  string
	Bold  bool
	Level int // of a heading, by its size, from 1; 0 for others
	Kind  Kind
	Page  bool // the first one of a page
}

// Kind says what a paragraph is.
type Kind int

// The kinds of paragraphs.
const (
	Body Kind = iota
	RunningHead
	PageNumber
)

// Entry is an entry of the outline.
type Entry struct {
	Label     string
	Paragraph int
	Depth     int // from 1
	Leaf      bool
}

// Errors that a user can do something about.
var (
	ErrEncrypted = errors.New("it is encrypted")
	ErrNoText    = errors.New("it has no text: its pages are pictures, or its fonts do not say what their signs are")
	ErrDamaged   = errors.New("it is damaged, or no PDF document")
	ErrTooLong   = errors.New("it unpacks to more than it may")
)

// Mark is what a PDF document begins with.
const Mark = "%PDF-"

// Read reads a document.
func Read(data []byte) (*Book, error) {
	if !bytes.HasPrefix(data, []byte(Mark)) {
		return nil, ErrDamaged
	}
	d := open(data)
	if d.trailer["Encrypt"] != nil {
		return nil, ErrEncrypted
	}
	root := d.root()
	leaves := d.pages(root)
	if len(leaves) == 0 {
		return nil, ErrDamaged
	}
	info := d.dict(d.trailer["Info"])
	b := &Book{
		Title: textString(d.get(info["Title"])), Author: textString(d.get(info["Author"])), Pages: len(leaves),
	}
	p := &painter{document: d, fonts: map[ref]*font{}, running: map[ref]bool{}}
	y := &layout{book: b}
	for i, l := range leaves {
		y.addPage(i, p.page(l))
		if d.budget <= 0 {
			return nil, ErrTooLong
		}
	}
	b.Broken = d.broken
	y.finish(d.outline(root, leaves))
	if y.known == 0 || b.Unknown*4 > y.known {
		return nil, ErrNoText
	}
	return b, nil
}

package ingest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
)

// element is a node of a small XML document: a package file, a table of contents. Text is an element without a name.
type element struct {
	name     string
	attrs    []xml.Attr
	children []*element
	text     string
}

// maxTokens bounds a document, in tags and texts; the largest tables of contents have some ten thousand.
const maxTokens = 1_000_000

// parseXML reads a document into a tree, below an element without a name. The entities of HTML are known; those that a
// document defines itself are never expanded.
func parseXML(data []byte) (*element, error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = charset.NewReaderLabel
	d.Entity = xml.HTMLEntity
	open := []*element{{}}
	for range maxTokens {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return open[0], nil
		}
		if err != nil {
			return nil, fmt.Errorf("broken XML: %w", err)
		}
		top := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			if len(open) > maxDepth {
				return nil, errTooDeep
			}
			child := &element{name: token.Name.Local, attrs: token.Attr}
			top.children = append(top.children, child)
			open = append(open, child)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.children = append(top.children, &element{text: string(token)})
		}
	}
	return nil, errors.New("too long to be a list of chapters")
}

// attr is an attribute's value, whatever its namespace; "" if there is none.
func (e *element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// each visits all elements of a name below e, in the document's order.
func (e *element) each(name string, visit func(*element)) {
	for _, c := range e.children {
		if c.name == name {
			visit(c)
		}
		c.each(name, visit)
	}
}

// first is the first element of a name below e; an empty one if there is none.
func (e *element) first(name string) *element {
	var found *element
	e.each(name, func(c *element) {
		if found == nil {
			found = c
		}
	})
	if found == nil {
		return &element{}
	}
	return found
}

// words is all text in e, white space brought together.
func (e *element) words() string {
	var text strings.Builder
	var collect func(*element)
	collect = func(e *element) {
		text.WriteString(e.text)
		for _, c := range e.children {
			collect(c)
		}
	}
	collect(e)
	return strings.Join(strings.Fields(text.String()), " ")
}

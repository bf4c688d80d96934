package ingest

import (
	"cmp"
	"strings"
)

// readFB2 reads a FictionBook: its sections are chapters, its verse keeps its lines, its notes are one chapter.
func (b *book) readFB2(_, text string) error {
	page, err := readPage(text, pageOptions{keep: b.keep, doc: b.doc, fb2: true})
	if err != nil {
		return err
	}
	b.nodes = page.nodes
	b.account.add(&page.account)
	b.title, b.author = fb2Title(text)
	return nil
}

// fb2Element gives the elements of FictionBook the names of those of HTML that read alike.
func fb2Element(name string) string {
	switch name {
	case "title":
		return "heading"
	case "description", "binary", "stylesheet":
		return "head"
	case "poem", "cite", "epigraph", "annotation":
		return "blockquote"
	case "v", "subtitle", "text-author", "date":
		return "p"
	case "style":
		return "span"
	case "emphasis":
		return "i"
	case "empty-line":
		return "br"
	case "image":
		return "wbr"
	}
	return name
}

// fb2Title reads title and author from the description.
func fb2Title(text string) (title, author string) {
	const end = "</title-info>"
	at := strings.Index(text, "<title-info")
	stop := strings.Index(text, end)
	if at < 0 || stop < at {
		return "", ""
	}
	info, err := parseXML([]byte(text[at : stop+len(end)]))
	if err != nil {
		return "", ""
	}
	person := info.first("author")
	var names []string
	for _, part := range []string{"first-name", "middle-name", "last-name"} {
		if name := person.first(part).words(); name != "" {
			names = append(names, name)
		}
	}
	return info.first("book-title").words(), cmp.Or(strings.Join(names, " "), person.first("nickname").words())
}

package ingest

import "strings"

// isBlock knows the elements that begin and end a paragraph.
func isBlock(name string) bool {
	switch name {
	case "p", "div", "section", "article", "blockquote", "li", "ul", "ol", "dl", "dt", "dd", "table", "tr", "caption",
		"h1", "h2", "h3", "h4", "h5", "h6", "figure", "figcaption", "header", "footer", "main", "aside", "nav", "pre", "hr", "address",
		"hgroup", "body", "form", "fieldset", "center", "details", "summary", "heading", "stanza":
		return true
	}
	return false
}

// voidElement knows the elements that have no content and no end.
func voidElement(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}

// isSection knows the elements that hold whole parts of a book.
func isSection(name string) bool {
	switch name {
	case "body", "section", "article", "div", "aside", "main", "ol", "ul":
		return true
	}
	return false
}

// matterPart names the part that a kind of front and back matter is, as EPUB's vocabularies call it; "" for what is
// read: a preface, a prologue and the like may well be part of the story.
func matterPart(kind string) string {
	switch strings.TrimPrefix(kind, "doc-") {
	case "titlepage", "title-page", "halftitlepage", "half-title-page", "title_page", "title", "halftitle", "cover", "cover-page", "coverpage", "seriespage":
		return partTitlePage
	case "imprint", "colophon", "copyright-page", "copyright", "uncopyright":
		return partImprint
	case "dedication":
		return partDedication
	case "toc", "landmarks", "page-list", "nav", "contents", "index_toc":
		return partContents
	case "loi", "lot", "loa", "lov":
		return partIllustrations
	case "endnotes", "footnotes", "rearnotes", "notes":
		return partNotes
	case "index", "bibliography", "acknowledgments", "acknowledgements", "contributors", "other-credits", "credits", "errata":
		return partMatter
	}
	return ""
}

// maxNamedMatter is how many words a file may have that is left out for its name.
const maxNamedMatter = 300

// matterFile names the part that a file is by its name, where nothing else says what it is; "" if it is none.
func matterFile(name string) string {
	switch name = strings.ToLower(stem(name)); name {
	case "titlepage", "title", "title_page", "title-page", "halftitle", "halftitlepage", "imprint", "colophon", "copyright", "copyright-page", "uncopyright",
		"dedication", "toc", "nav", "contents", "cover", "coverpage", "endnotes", "footnotes", "loi", "index_toc":
		return matterPart(name)
	}
	return ""
}

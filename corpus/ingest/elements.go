package ingest

import "strings"

// isBlock knows the elements that begin and end a paragraph.
func isBlock(name string) bool {
	switch name {
	case "p", "div", "section", "article", "blockquote", "li", "ul", "ol", "dl", "dt", "dd", "table", "tr", "caption",
		"h1", "h2", "h3", "h4", "h5", "h6", "figure", "figcaption", "header", "footer", "main", "aside", "nav", "pre", "hr", "address",
		"hgroup", "body", "form", "fieldset", "center", "details", "summary":
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

// isMatter knows the kinds of front and back matter that are not the story, as EPUB's vocabularies call them. A preface, a
// prologue and the like are read: they may well be part of it.
func isMatter(kind string) bool {
	switch strings.TrimPrefix(kind, "doc-") {
	case "titlepage", "title-page", "halftitlepage", "half-title-page", "imprint", "colophon", "copyright-page", "dedication", "toc", "landmarks",
		"loi", "lot", "loa", "lov", "page-list", "endnotes", "footnotes", "rearnotes", "notes", "index", "bibliography", "acknowledgments",
		"acknowledgements", "contributors", "other-credits", "credits", "cover", "cover-page", "errata", "seriespage":
		return true
	}
	return false
}

// isMatterFile goes by a file's name where nothing else says what it is.
func isMatterFile(name string) bool {
	switch strings.ToLower(stem(name)) {
	case "titlepage", "title", "title_page", "title-page", "halftitle", "halftitlepage", "imprint", "colophon", "copyright", "copyright-page", "uncopyright",
		"dedication", "toc", "nav", "contents", "cover", "coverpage", "endnotes", "footnotes", "loi", "index_toc":
		return true
	}
	return false
}

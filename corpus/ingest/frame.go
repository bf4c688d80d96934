package ingest

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// frame is an open element.
type frame struct {
	name    string
	silent  bool   // nothing in it is text
	part    string // all in it is left out as this part
	level   int    // of the heading that it is or is in; 0 outside
	pre     bool   // its line ends count
	link    bool   // it leads to a place in the book
	inLink  bool   // it is in such a link
	inAny   bool   // it is in a link to anywhere
	note    bool   // by its markup it leads to a note
	raised  bool   // it is or is in a superscript, or, of a link, holds one
	bold    bool
	table   bool // it is or is in a row of a table or an item of a list
	story   bool // it is or is in what holds the text of a site's story
	section int  // FictionBook: how deep sections are nested
	endnote bool // FictionBook: it is or is in a body that is not the story's
	divides bool // it is the division, and not only in it
	stanza  int  // that it is or is in; 0 outside of verse

	division *division // that it is or is in; nil outside

	start int    // where its text begins in the open paragraph
	parts int    // elements directly in it so far, of a formula
	alt   string // of a heading, the words of its pictures
}

// frame returns the frame of an element inside the open one.
func (r *pageReader) frame(token html.Token) frame {
	f := r.top()
	classes := strings.Fields(attribute(token, "class"))
	kinds := strings.Fields(strings.ToLower(attribute(token, "epub:type") + " " + attribute(token, "role")))
	f.name, f.start, f.parts, f.alt, f.link, f.note, f.divides = token.Data, len(r.text), 0, "", false, false, false
	if f.level == 0 {
		if f.level = r.headingLevel(token, classes, kinds); f.level > 0 && r.site.keepsHeadings(f.part, f.level) {
			f.part = ""
		}
	}
	f.story = f.story || r.site.containers && holdsStory(classes, attribute(token, "id"))
	f.silent = f.silent || silentElements[f.name]
	f.part = r.framePart(&f, token, classes, kinds)
	f.pre = f.pre || f.name == "pre"
	f.raised = f.raised || f.name == "sup"
	f.bold = f.bold || f.name == "b" || f.name == "strong"
	f.table = f.table || f.name == "tr" || f.name == "li"
	if blockElements[f.name] && isStanza(f.name, classes, kinds) {
		r.stanzas++
		f.stanza = r.stanzas
	}
	if d := r.divisionOf(token, kinds); d != nil && f.part == "" && f.section < maxHeadingLevel-1 && !f.endnote {
		f.division, f.divides = d, true
	}
	switch {
	case f.name == "body" && r.fb2:
		f.endnote = attribute(token, "name") != ""
	case f.name == "section" && r.fb2:
		f.section = min(f.section+1, maxHeadingLevel)
	case f.name == "a":
		href := attribute(token, "href")
		f.link = href != "" && !strings.Contains(href, ":") &&
			(strings.Contains(href, "#") || strings.Contains(href, ".htm") || strings.Contains(href, ".xhtml"))
		f.inLink, f.inAny = f.inLink || f.link, f.inAny || href != ""
		f.note = leadsToNote(token, href, classes)
		r.open.links++
	}
	return f
}

// isStanza knows the elements that hold lines of verse.
func isStanza(name string, classes, kinds []string) bool {
	return slices.ContainsFunc(slices.Concat([]string{name}, classes, kinds), func(word string) bool {
		return stanzaNames[strings.ToLower(word)]
	})
}

// framePart is the part that an element is or is in. What holds the story ends the navigation around it.
func (r *pageReader) framePart(f *frame, token html.Token, classes, kinds []string) string {
	if f.part != "" && !isOfPage(f.part) {
		return f.part
	}
	part := r.partOf(token, classes, kinds)
	switch outside := r.site.containers && !f.story && f.level == 0; {
	case part != "":
	case f.part != "" && !f.story:
		part = f.part
	case outside && f.name != "html" && f.name != "body":
		part = partAround
	}
	if r.keep(part) {
		return ""
	}
	return part
}

// isOfPage reports whether a part is what a web page has around its story.
func isOfPage(part string) bool { return part == partNavigation || part == partAround }

const maxHeadingLevel = 9

var noteTarget = regexp.MustCompile(`(?i)#(?:_?(?:foot|end|rear)?notes?|fn|ftn|foot|edn|n)[-_:]?\w*\d`)

// leadsToNote knows the links whose text may be the mark of a note.
func leadsToNote(token html.Token, href string, classes []string) bool {
	return attribute(token, "type") == "note" || noteTarget.MatchString(href) ||
		slices.ContainsFunc(classes, func(class string) bool { return noteClasses[strings.ToLower(class)] })
}

// headingLevel is 1 to 6 for a heading: by its element, or by a forum's mark of a chapter. A paragraph among headings
// belongs to the previous one.
func (r *pageReader) headingLevel(token html.Token, classes, kinds []string) int {
	name := token.Data
	if r.fb2 {
		switch section := r.top().section; {
		case name != "heading":
			return 0
		case r.top().name == "body":
			return 1
		case r.top().endnote: // they are one chapter
			return 0
		default:
			return min(section+1, maxHeadingLevel)
		}
	}
	if len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' {
		return int(name[1] - '0')
	}
	if slices.Contains(classes, "threadmarkLabel") {
		return 2
	}
	in := r.top().name
	if name != "p" || in != "hgroup" && (in != "header" || !slices.Contains(kinds, "title")) {
		return 0
	}
	if n := len(r.nodes); n > 0 && r.nodes[n-1].kind == heading {
		return r.nodes[n-1].level
	}
	return 2
}

// partOf names the part that an element is, if it is no part of the story; "" else.
func (r *pageReader) partOf(token html.Token, classes, kinds []string) string {
	if r.isHidden(token, classes) {
		return partHidden
	}
	if token.Data == "rt" || token.Data == "rp" {
		return partRuby
	}
	if token.Data == "nav" {
		return partNavigation
	}
	if part := partOfClass(token.Data, classes, attribute(token, "id")); part != "" {
		return part
	}
	if part := r.site.partOf(token.Data, classes, attribute(token, "id")); part != "" {
		return part
	}
	for _, kind := range kinds {
		if part := kindParts[kind]; part != "" {
			return part
		}
		if part := matterPart(kind); part != "" && sectionElements[token.Data] {
			return part
		}
	}
	return ""
}

// isHidden reports whether a page does not show an element.
func (r *pageReader) isHidden(token html.Token, classes []string) bool {
	style := strings.ReplaceAll(strings.ToLower(attribute(token, "style")), " ", "")
	if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") ||
		hiddenElements[token.Data] {
		return true
	}
	if slices.ContainsFunc(token.Attr, func(a html.Attribute) bool { return a.Key == "hidden" }) {
		return true
	}
	return slices.ContainsFunc(classes, func(class string) bool { return r.hiddenClasses[class] })
}

var (
	styleSheet = regexp.MustCompile(`(?is)<style[^>]*>(.*?)</style`)
	hidingRule = regexp.MustCompile(`(?i)([^{}]+)\{[^{}]*(?:display\s*:\s*none|visibility\s*:\s*hidden)[^{}]*\}`)
	onlyClass  = regexp.MustCompile(`^\s*\w*\.([\w-]+)\s*$`)
)

// hiddenClasses are the classes that a document's style sheets hide everywhere.
func hiddenClasses(document string) map[string]bool {
	hidden := map[string]bool{}
	for _, sheet := range styleSheet.FindAllStringSubmatch(document, 64) {
		for _, rule := range hidingRule.FindAllStringSubmatch(sheet[1], 4096) {
			for selector := range strings.SplitSeq(rule[1], ",") {
				if match := onlyClass.FindStringSubmatch(selector); match != nil {
					hidden[match[1]] = true
				}
			}
		}
	}
	return hidden
}

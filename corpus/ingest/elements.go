package ingest

import (
	"cmp"
	"strings"
)

// setOf is the words of some lists.
func setOf(lists ...string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(strings.Join(lists, " ")) {
		set[word] = true
	}
	return set
}

// tableOf is a table of words by the part that they signify.
func tableOf(lists map[string]string) map[string]string {
	table := map[string]string{}
	for part, list := range lists {
		for word := range strings.FieldsSeq(list) {
			table[word] = part
		}
	}
	return table
}

var (
	blockElements = setOf("p div section article blockquote li ul ol dl dt dd table tr caption h1 h2 h3 h4 h5 h6 "+
		"figure figcaption header footer",
		"main aside nav pre hr address hgroup body form fieldset center details summary heading stanza")
	siblingElements = setOf("li dt dd tr td th option") // the next ends them
	voidElements    = setOf("area base br col embed hr img input link meta param source track wbr")
	sectionElements = setOf("body section article div aside main ol ul") // they hold whole parts of a book
	silentElements  = setOf("head script style title")
	// They hold no text of a story; annotations have a formula in another form.
	hiddenElements = setOf("template svg iframe object select textarea button noscript annotation annotation-xml")
	// of elements, classes and types
	stanzaNames = setOf("stanza linegroup line-group lg verse poem poetry z3998:verse z3998:poem")
	// of links whose text may be the mark of a note
	noteClasses = setOf("noteref footnote-ref footnoteref fnref fnanchor footnote-link")
)

// formulaSigns are the signs between the parts of a formula that are shown above or below each other, by element. The
// last one stands between all further parts.
var formulaSigns = map[string]string{
	"mfrac": "/", "mroot": " ", "mtable": " ", "mtr": " ",
	"msub": "_", "munder": "_", "msup": "^", "mover": "^", "msubsup": "_^", "munderover": "_^",
}

// matterParts are the kinds of front and back matter, as EPUB's vocabularies call them. A preface, a prologue and the
// like are none: they may well be part of the story.
var matterParts = tableOf(map[string]string{
	partTitlePage: "titlepage title-page halftitlepage half-title-page title_page title halftitle cover " +
		"cover-page coverpage seriespage",
	partImprint:       "imprint colophon copyright-page copyright uncopyright",
	partDedication:    "dedication",
	partContents:      "toc landmarks page-list nav contents index_toc",
	partIllustrations: "loi lot loa lov",
	partNotes:         "endnotes footnotes rearnotes notes",
	partMatter: "index bibliography acknowledgments acknowledgements contributors other-credits credits errata " +
		"cast dramatis_personae persons",
})

// kindParts are the types and roles of elements of any kind.
var kindParts = tableOf(map[string]string{
	partPageMarks: "pagebreak doc-pagebreak",
	partNoteMarks: "noteref doc-noteref doc-backlink backlink",
	partNotes:     "footnote endnote rearnote doc-footnote doc-endnote",
	// what importers call parts that EPUB has no word for
	partComments:     "comment",
	partDeletions:    "deletion",
	partRunningHeads: "running-head",
	partHidden:       "unseen",
	partRuby:         "reading",
})

// classParts are the classes and ids that makers of books and sites give.
var classParts = tableOf(map[string]string{
	partLicence: "pg-boilerplate #pg-header #pg-footer licensecontainer licensetpl",
	partNotes:   "ol.references",
	partHidden:  "ws-noexport mw-editsection", // a wiki leaves them out of what it prints
	partPageMarks: "pagenum pageno pagenumber page-number pgnum page_number linenum lnum line-number linenumber " +
		"span.pb a.pb small.pb span.ln a.ln small.ln span.lineno a.lineno small.lineno",
	partNoteMarks:   "footnote-backref footnote-back backlink",
	partMakerNotes:  "transnote tnote transcribersnote transcriber-note trnote",
	partNavigation:  "sharedaddy post-navigation nav-links comments-area",
	partAuthorNotes: "author-note-portlet author-note authornote authors-note",
})

// matterPart names the part that a kind of front and back matter is; "" for what is read.
func matterPart(kind string) string { return matterParts[strings.TrimPrefix(kind, "doc-")] }

// partOfClass names the part that an element is by a class or an id.
func partOfClass(name string, classes []string, id string) string {
	part := classParts["#"+id]
	for _, class := range classes {
		class = strings.ToLower(class)
		part = cmp.Or(part, classParts[class], classParts[name+"."+class])
	}
	return part
}

// maxNamedMatter is how many words a file may have that is left out for its name.
const maxNamedMatter = 300

// matterName names the part that a file or an entry of a table of contents is by its name; "" if it is none. A chapter
// may well be called an index or credits.
func matterName(name string) string {
	if part := matterPart(strings.ReplaceAll(strings.ToLower(name), " ", "-")); part != partMatter {
		return part
	}
	return ""
}

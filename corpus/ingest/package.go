package ingest

import (
	"path"
	"slices"
	"strings"

	"annotator"
)

// publication is what an EPUB says of itself: its files in reading order, and its table of contents.
type publication struct {
	title, author string
	spine         []spineItem
	toc           map[string][]tocEntry // by file; empty if there is no table of contents
	// the files that the book calls front or back matter, with the part that each is
	matter map[string]string
}

// spineItem is a file of the reading order.
type spineItem struct {
	name   string // in the archive
	linear bool   // read in its turn
}

// tocEntry is a line of the table of contents.
type tocEntry struct {
	label    string
	fragment string // the id of an element in the file; "" is the whole file
	depth    int    // from 1
	leaf     bool   // it has no entries below it
}

// readPublication reads the container, the package file that it names, and the table of contents that this one names.
func readPublication(a *archive, report *Report) (*publication, error) {
	container, err := readXML(a, "META-INF/container.xml")
	if err != nil {
		return nil, notEPUB("META-INF/container.xml", err)
	}
	packageName := container.first("rootfile").attr("full-path")
	document, err := readXML(a, packageName)
	if err != nil {
		return nil, notEPUB(packageName, err)
	}
	metadata := document.first("metadata")
	b := &packageReader{
		publication: &publication{
			title: metadata.first("title").words(), author: metadata.first("creator").words(),
			toc: map[string][]tocEntry{}, matter: map[string]string{},
		},
		archive: a, name: packageName, report: report, items: map[string]manifestItem{},
	}
	b.readManifest(document)
	if err := b.readSpine(document); err != nil {
		return nil, err
	}
	b.readTOC(document)
	document.first("guide").each("reference", func(e *element) { b.addMatter(b.name, e.attr("href"), e.attr("type")) })
	return b.publication, nil
}

func notEPUB(name string, err error) error {
	if annotator.KindOf(err) != "" {
		return err
	}
	return annotator.Errorf(annotator.Misused, "it is no EPUB that can be read: %q is %w", name, err).
		WithAdvice("if it is another kind of file, convert it to EPUB or to plain text first")
}

func readXML(a *archive, name string) (*element, error) {
	data, err := a.read(name)
	if err != nil {
		return nil, err
	}
	return parseXML(data)
}

// manifestItem is a file as the package lists it.
type manifestItem struct{ name, kind, properties string }

// packageReader reads the package file and what it names into a publication.
type packageReader struct {
	*publication
	archive *archive
	name    string // of the package file: links are relative to it
	report  *Report
	items   map[string]manifestItem // by id
	nav     string                  // the file of the navigation document, if any
}

func (b *packageReader) readManifest(document *element) {
	document.first("manifest").each("item", func(e *element) {
		name, _, err := resolve(b.name, e.attr("href"))
		if err != nil {
			b.report.leaveOut(err.Error(), e.attr("href"))
			return
		}
		item := manifestItem{name, e.attr("media-type"), e.attr("properties")}
		b.items[e.attr("id")] = item
		if slices.Contains(strings.Fields(item.properties), "nav") {
			b.nav = name
			b.matter[name] = partContents
		}
	})
}

// readSpine reads the reading order. A file that it names again is read once, or a book of a few bytes would be as long
// as it likes.
func (b *packageReader) readSpine(document *element) error {
	named, read := 0, map[string]bool{}
	document.first("spine").each("itemref", func(e *element) {
		item, ok := b.items[e.attr("idref")]
		switch named++; {
		case read[item.name]:
			b.report.leaveOut("files that the reading order names again", path.Base(item.name))
		case !ok:
			b.report.leaveOut("chapters that the package does not list", e.attr("idref"))
		case !strings.Contains(item.kind, "html"):
			b.report.leaveOut("pages that are not text", path.Base(item.name))
		default:
			b.spine = append(b.spine, spineItem{name: item.name, linear: e.attr("linear") != "no"})
			read[item.name] = true
		}
	})
	if named > maxEntries {
		return annotator.Errorf(annotator.Misused, "its reading order has %d files, more than %d", named, maxEntries).
			WithAdvice("it is not a book, or made to do harm")
	}
	return nil
}

// readTOC reads the navigation document of EPUB 3, or else the NCX of EPUB 2. If neither can be read, the book has no
// table of contents.
func (b *packageReader) readTOC(document *element) {
	if b.nav != "" {
		if nav, err := readXML(b.archive, b.nav); err == nil {
			b.readNav(nav)
		}
	}
	item, ok := b.items[document.first("spine").attr("toc")]
	if !ok || len(b.toc) > 0 {
		return
	}
	if ncx, err := readXML(b.archive, item.name); err == nil {
		b.readPoints(ncx.first("navMap"), item.name, 1)
	}
}

func (b *packageReader) readNav(document *element) {
	document.each("nav", func(nav *element) {
		switch kinds := strings.Fields(nav.attr("type")); {
		case slices.Contains(kinds, "toc") && len(b.toc) == 0:
			b.readList(nav.first("ol"), 1)
		case slices.Contains(kinds, "landmarks"):
			nav.each("a", func(e *element) { b.addMatter(b.nav, e.attr("href"), e.attr("type")) })
		}
	})
}

// readList reads a nested list of links.
func (b *packageReader) readList(list *element, depth int) {
	for _, item := range list.children {
		if item.name != "li" {
			continue
		}
		for _, e := range item.children {
			switch e.name {
			case "a":
				b.addEntry(tocEntry{label: e.words(), depth: depth, leaf: item.first("ol").name == ""}, b.nav,
					e.attr("href"))
			case "ol":
				b.readList(e, depth+1)
			}
		}
	}
}

// readPoints reads the nested points of an NCX.
func (b *packageReader) readPoints(point *element, from string, depth int) {
	for _, e := range point.children {
		if e.name == "navPoint" {
			entry := tocEntry{label: e.first("navLabel").words(), depth: depth, leaf: e.first("navPoint").name == ""}
			b.addEntry(entry, from, e.first("content").attr("src"))
			b.readPoints(e, from, depth+1)
		}
	}
}

func (b *packageReader) addEntry(e tocEntry, from, link string) {
	if file, fragment, err := resolve(from, link); err == nil {
		e.fragment = fragment
		b.toc[file] = append(b.toc[file], e)
	}
}

// addMatter takes the landmarks' word, and that of EPUB 2's guide, for whole files that are no part of the story.
func (b *packageReader) addMatter(from, link, kinds string) {
	if file, fragment, err := resolve(from, link); err == nil && fragment == "" {
		b.callMatter(file, kinds)
	}
}

// callMatter takes the book's word for a file that is no part of the story.
func (p *publication) callMatter(file, kinds string) {
	for kind := range strings.FieldsSeq(strings.ToLower(kinds)) {
		if part := matterPart(kind); part != "" {
			p.matter[file] = part
		}
	}
}

package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"annotator"
)

// epub reads a book. Its table of contents says where chapters begin, unless it has too few entries. A file that it
// does not name continues the previous chapter.
func (j *job) epub(ctx context.Context, s source) error {
	f, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	p, err := openBook(f, s.size, j.report)
	if err != nil {
		return inFile(s.path, err)
	}
	return j.spine(ctx, s, p)
}

// spine reads the files of a book in their order.
func (j *job) spine(ctx context.Context, s source, p *bookReader) error {
	p.book, p.encoding = j.newBook(s), j.options.Encoding
	p.book.title, p.book.author = p.publication.title, p.publication.author
	spine := p.publication.spine
	for i, item := range spine {
		if err := p.item(ctx, item); err != nil {
			return inFile(s.path, err)
		}
		j.progress.set(s.size * int64(i+1) / int64(len(spine)))
	}
	return j.addBook(ctx, p.book)
}

// inFile adds the file's name to an error of a kind, which stays of its kind.
func inFile(path string, err error) error {
	if e := (*annotator.Error)(nil); errors.As(err, &e) && e.Kind == annotator.Misused {
		named := *e
		named.Err = fmt.Errorf("import %s: %w", path, e.Err)
		return &named
	}
	return err
}

// refuseEncrypted refuses a book whose text is encrypted. Fonts often are, by a rule that is no secret; they do not
// matter.
func refuseEncrypted(a *archive, p *publication) error {
	list, err := readXML(a, "META-INF/encryption.xml")
	if errors.Is(err, errMissing) {
		return nil
	}
	if err != nil {
		return notEPUB("META-INF/encryption.xml", err)
	}
	locked := map[string]bool{}
	list.each("CipherReference", func(e *element) {
		if name, _, err := resolve("container", e.attr("URI")); err == nil {
			locked[name] = true
		}
	})
	for _, item := range p.spine {
		if locked[item.name] {
			return annotator.Errorf(annotator.Misused, "its text is encrypted (DRM): %s", item.name).
				WithAdvice("get a copy without copy protection")
		}
	}
	return nil
}

// files are the files of a book by their names.
type files interface {
	read(name string) ([]byte, error)
}

// bookReader turns a publication's files into the nodes of a book.
type bookReader struct {
	archive     files
	publication *publication
	report      *Report
	encoding    string // of pages that do not say theirs; "" if none is named
	book        *book
}

func openBook(r io.ReaderAt, size int64, report *Report) (*bookReader, error) {
	a, err := openArchive(r, size, report)
	if err != nil {
		return nil, err
	}
	p, err := readPublication(a, report)
	if err != nil {
		return nil, err
	}
	return &bookReader{archive: a, publication: p, report: report}, refuseEncrypted(a, p)
}

// item reads a file of the spine. One that cannot be read ends the import, or the book would lack a part of its text. A
// file that is left out anyway does not.
func (b *bookReader) item(ctx context.Context, item spineItem) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := path.Base(item.name)
	entries := b.publication.toc[item.name]
	page, err := b.page(item.name, entries)
	matter := b.publication.matter[item.name]
	switch {
	case err == nil:
	case annotator.KindOf(err) != "":
		return err
	case matter != "" || !item.linear:
		b.report.leaveOut("files that cannot be read", fmt.Sprintf("%s (%s)", name, err))
		return nil
	default:
		return unreadable(item.name, err)
	}
	if matter == "" {
		matter = page.namedMatter(item.name, entries)
	}
	switch {
	case matter != "":
		b.leaveOutPage(page, matter, "front and back matter", name)
		return nil
	case !item.linear:
		b.leaveOutPage(page, partMatter, "pages out of the reading order", name)
		return nil
	}
	b.noteEmpty(page, name)
	if len(page.nodes) > 0 {
		page.nodes[0].page = true
	}
	b.addEntries(page.nodes, entries, item.name)
	return nil
}

// unreadable is the error for a file of the book's text.
func unreadable(name string, err error) error {
	e := annotator.Errorf(annotator.Misused, "%s is in the book's reading order and cannot be read: it is %w",
		name, err)
	if errors.Is(err, errNoText) {
		return e.WithReason(annotator.ReasonUnknownEncoding)
	}
	return e.WithAdvice("get a whole copy of the book, or take the file out of its reading order in an editor")
}

// maxListedMatter is how many words a page may have that is left out for what the table of contents calls it.
const maxListedMatter = 500

// namedMatter names the part that a page is by the name of its file or by the entry of the table of contents. There
// must be no other, and it leads to the beginning. Entries are made for readers: they count for more. "" is no part.
func (p *page) namedMatter(file string, entries []tocEntry) string {
	words, label := 0, ""
	if len(entries) == 1 {
		label = entries[0].label
	}
	for _, n := range p.nodes {
		switch {
		case n.kind != anchor:
			words += annotator.CountWords(n.text)
		case words > 0 && len(entries) == 1 && n.text == entries[0].fragment:
			label = ""
		}
	}
	if isNotesTitle(label) { // a chapter may well be called notes
		if areNotes(label, p.nodes) {
			return partNotes
		}
		label = ""
	}
	switch {
	case words <= maxNamedMatter:
		return cmp.Or(matterName(stem(file)), matterName(label))
	case words <= maxListedMatter:
		return matterName(label)
	}
	return ""
}

// leaveOutPage leaves a whole page out.
func (b *bookReader) leaveOutPage(p *page, part, why, name string) {
	if b.book.keep(part) {
		b.book.nodes = append(b.book.nodes, p.nodes...)
		return
	}
	b.report.leaveOut(why, name)
	for _, n := range p.nodes {
		if n.kind != anchor {
			n.part = part
			b.book.nodes = append(b.book.nodes, n)
		}
	}
}

// noteEmpty says of a page without text what it is.
func (b *bookReader) noteEmpty(p *page, name string) {
	has := func(kind nodeKind) bool {
		return slices.ContainsFunc(p.nodes, func(n *node) bool { return n.kind == kind })
	}
	switch {
	case has(paragraph):
	case has(heading):
		b.report.leaveOut("pages with nothing but a heading", name)
	case p.account.of(partNotes) > 0:
	case len(p.account.Parts) > 0:
		b.report.leaveOut("front and back matter", name)
	default:
		b.report.leaveOut("pages without text", name)
	}
}

func (b *bookReader) page(name string, entries []tocEntry) (*page, error) {
	data, err := b.archive.read(name)
	if err != nil {
		return nil, err
	}
	text, err := decodeMarkup(data, path.Base(name), b.encoding)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, e := range entries {
		ids[e.fragment] = e.fragment != ""
	}
	p, err := readPage(b.report.clean(text, path.Base(name)), pageOptions{ids: ids, keep: b.book.keep, doc: name})
	if err == nil {
		b.book.account.add(&p.account)
	}
	return p, err
}

// addEntries adds the nodes of a page, with the entries of the table of contents where they lead to.
func (b *bookReader) addEntries(nodes []*node, entries []tocEntry, name string) {
	at := map[string][]tocEntry{}
	known := map[string]bool{}
	for _, n := range nodes {
		known[n.text] = known[n.text] || n.kind == anchor
	}
	for _, e := range entries {
		if !known[e.fragment] {
			e.fragment = ""
		}
		at[e.fragment] = append(at[e.fragment], e)
	}
	b.enter(at[""], name, 0)
	for _, n := range nodes {
		if n.kind == anchor {
			b.enter(at[n.text], name, n.offset)
			continue
		}
		b.book.nodes = append(b.book.nodes, n)
	}
}

func (b *bookReader) enter(entries []tocEntry, name string, offset int) {
	for _, e := range entries {
		b.book.nodes = append(b.book.nodes, &node{
			kind: heading, text: e.label, level: e.depth, leaf: e.leaf,
			listed: true, copied: true, doc: name, offset: offset,
		})
	}
}

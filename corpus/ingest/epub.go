package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"annotator"
)

// epub reads a book. Its table of contents says where chapters begin; a file that it does not name goes on with the chapter
// before. Without a table of contents every file is a chapter, or several if it has several headings of one level.
func (j *job) epub(ctx context.Context, s source) error {
	f, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	b, err := openBook(f, s.size, j.report)
	if err != nil {
		return inFile(s.path, err)
	}
	j.entitle(b.publication.title, b.publication.author)
	b.name, b.encoding, b.emit = stem(s.path), j.options.Encoding, j.addChapter
	spine := b.publication.spine
	for i, item := range spine {
		if err := b.item(ctx, item); err != nil {
			return inFile(s.path, err)
		}
		j.progress.set(s.size * int64(i+1) / int64(len(spine)))
	}
	return b.close(ctx)
}

// inFile adds the file's name to an error of a kind, which stays of its kind.
func inFile(path string, err error) error {
	if e := (*annotator.Error)(nil); errors.As(err, &e) && e.Kind == annotator.Misused {
		return annotator.Errorf(e.Kind, "import %s: %w", path, e.Err).WithAdvice("%s", e.Advice)
	}
	return err
}

// refuseEncrypted refuses a book whose text is encrypted. Fonts often are, by a rule that is no secret; they do not matter.
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

// bookReader turns a publication's files into chapters.
type bookReader struct {
	archive     *archive
	publication *publication
	report      *Report
	encoding    string // of pages that do not say theirs; "" if none is named
	name        string // of chapters in a book that has no names at all
	emit        func(context.Context, *chapter) error
	open        chapter // not yet emitted: the next file may go on with it
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

// item reads a file of the spine. What is wrong with one file leaves that one out; what is wrong with the archive is an error.
func (b *bookReader) item(ctx context.Context, item spineItem) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := path.Base(item.name)
	switch {
	case b.publication.matter[item.name], isMatterFile(item.name):
		b.report.leaveOut("front and back matter", name)
		return nil
	case !item.linear:
		b.report.leaveOut("pages out of the reading order", name)
		return nil
	}
	entries := b.entries(item.name)
	page, err := b.page(item.name, entries)
	if err != nil {
		if annotator.KindOf(err) != "" {
			return err
		}
		b.report.leaveOut("files that cannot be read", fmt.Sprintf("%s (%s)", name, err))
		return nil
	}
	b.report.leaveOutMany("footnotes and endnotes", name, page.notes)
	if !slices.ContainsFunc(page.nodes, func(n node) bool { return n.kind == paragraph }) {
		b.leaveOutEmpty(page, name)
		return nil
	}
	return b.chapters(ctx, page.nodes, entries, name)
}

func (b *bookReader) leaveOutEmpty(p *page, name string) {
	switch {
	case p.matter > 0:
		b.report.leaveOut("front and back matter", name)
	case p.notes > 0:
	case len(p.nodes) > 0:
		b.report.leaveOut("pages with nothing but a heading", name)
	default:
		b.report.leaveOut("pages without text", name)
	}
}

// entries are the lines of the table of contents that lead to a file: the highest there are, for what is below them is within
// a chapter.
func (b *bookReader) entries(file string) []tocEntry {
	all := b.publication.toc[file]
	if len(all) == 0 {
		return nil
	}
	highest := slices.MinFunc(all, func(x, y tocEntry) int { return cmp.Compare(x.depth, y.depth) })
	return slices.DeleteFunc(slices.Clone(all), func(e tocEntry) bool { return e.depth > highest.depth })
}

func (b *bookReader) page(name string, entries []tocEntry) (*page, error) {
	data, err := b.archive.read(name)
	if err != nil {
		return nil, err
	}
	text, err := decodeMarkup(data, name, b.encoding)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	if len(entries) > 1 {
		for _, e := range entries {
			ids[e.fragment] = e.fragment != ""
		}
	}
	return readPage(b.report.clean(text, path.Base(name)), ids)
}

// chapters parts a file's text and adds it to what came before.
func (b *bookReader) chapters(ctx context.Context, nodes []node, entries []tocEntry, name string) error {
	var parts []chapter
	switch {
	case len(entries) > 1:
		parts = partAtAnchors(nodes, entries)
	case len(entries) == 1:
		parts = []chapter{makeChapter(entries[0].label, nodes)}
	case len(b.publication.toc) > 0 && b.open.hasText() && nodes[0].kind != heading:
		b.open.blocks = append(b.open.blocks, makeChapter("", nodes).blocks...)
		return nil
	default:
		o := newOutline(nodes, false)
		parts = o.chapters()
		b.report.leaveOutMany("headings without text", name, o.empty)
	}
	for _, c := range parts {
		if err := b.close(ctx); err != nil {
			return err
		}
		b.open = c
	}
	return nil
}

// close emits the open chapter.
func (b *bookReader) close(ctx context.Context) error {
	c := b.open
	b.open = chapter{}
	c.title = cmp.Or(c.title, b.publication.title, b.name)
	return b.emit(ctx, &c)
}

// partAtAnchors parts a file at the places that the table of contents names. What stands before the first belongs to the
// first.
func partAtAnchors(nodes []node, entries []tocEntry) []chapter {
	labels := map[string]string{}
	for _, e := range entries {
		labels[e.fragment] = e.label
	}
	title, start := entries[0].label, 0
	var parts []chapter
	cut := func(end int) {
		if c := makeChapter(title, nodes[start:end]); c.hasText() {
			parts = append(parts, c)
			start = end
		}
	}
	for i, n := range nodes {
		if n.kind == anchor {
			cut(i)
			title = labels[n.text]
		}
	}
	cut(len(nodes))
	return parts
}

// makeChapter makes a chapter of a part of the text. The headings that it begins with are its title, unless it has one; a later
// heading is a paragraph behind a break.
func makeChapter(title string, nodes []node) chapter {
	var leading []string
	c := chapter{title: title}
	for _, n := range nodes {
		switch {
		case n.kind == heading && !c.hasText():
			leading = append(leading, n.text)
		case n.kind == heading:
			c.blocks = append(c.blocks, block{}, block{n.text})
		case n.kind == pause:
			c.blocks = append(c.blocks, block{})
		case n.kind == paragraph:
			c.blocks = append(c.blocks, block{n.text})
		}
	}
	if c.title == "" {
		c.title = strings.Join(leading, ": ")
	}
	return c
}

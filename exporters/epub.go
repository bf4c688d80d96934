package exporters

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"annotator"
)

// maxEPUBFile is the maximum size of a file in a book, in bytes. It protects against decompression bombs.
const maxEPUBFile = 64 << 20

// epubBook is an EPUB that is copied with notes.
type epubBook struct {
	*Codex
	archive  *zip.Reader
	files    map[string]bool
	opf      string // the path of the package document
	third    bool   // EPUB 3, which has footnotes in place; in EPUB 2, links lead to a page
	chapters []*epubChapter
	scenes   map[annotator.Order]*epubScene
	places   map[string][]epubPlace // by document: where scenes begin, in order
}

// epubChapter is a thread of the story with the notes of its names.
type epubChapter struct {
	title string
	file  string     // of the notes, relative to the package document
	notes []epubNote // in the order of the text
}

// epubNote identifies a note: an entry as of the end of a scene.
type epubNote struct {
	entry int64
	scene annotator.Order
}

// epubScene is a scene with the names that are known at its end.
type epubScene struct {
	order   annotator.Order
	number  int // of scenes up to it
	chapter *epubChapter
	names   map[string]int64 // entries by their names in the text; 0 for a name of several entries
	noted   map[int64]bool   // entries with a note in this scene
}

// epubPlace is the beginning of a scene in a document. The offset is that of corpus.Origin.
type epubPlace struct {
	offset int64
	scene  *epubScene
}

// writeEPUB copies the book that the story was imported from. The first mention of each name in a scene becomes a
// link to a note, which readers show in place. The note is the entry as of the end of the mention's scene.
func writeEPUB(ctx context.Context, w io.Writer, c *Codex) error {
	file, err := zip.OpenReader(c.Book)
	if err != nil {
		return refuseBook(c.Book, err)
	}
	defer func() { _ = file.Close() }()
	b := &epubBook{
		Codex: c, archive: &file.Reader, files: map[string]bool{}, scenes: map[annotator.Order]*epubScene{},
		places: map[string][]epubPlace{},
	}
	for _, f := range b.archive.File {
		b.files[f.Name] = true
	}
	root, err := b.readRoot()
	if err != nil {
		return refuseBook(c.Book, err)
	}
	text, err := b.read(root)
	if err != nil {
		return refuseBook(c.Book, err)
	}
	b.opf, b.third = root, !secondVersion.Match(text)
	if err := b.readChapters(ctx); err != nil {
		return err
	}
	if err := b.removeNamesWithoutNotes(ctx); err != nil {
		return err
	}
	return b.write(ctx, w)
}

// secondVersion matches a package document of EPUB 2.
var secondVersion = regexp.MustCompile(`<(?:\w+:)?package\s[^>]*\bversion\s*=\s*["']2`)

func refuseBook(path string, err error) error {
	return annotator.Errorf(annotator.Misused, "read the book %s: %w", path, err).
		WithReason(annotator.ReasonNoPublishedBook)
}

// readRoot returns the path of the package document.
func (b *epubBook) readRoot() (string, error) {
	text, err := b.read("META-INF/container.xml")
	if err != nil {
		return "", err
	}
	var container struct {
		Root []struct {
			Path string `xml:"full-path,attr"`
		} `xml:"rootfiles>rootfile"`
	}
	if err := xml.Unmarshal(text, &container); err != nil {
		return "", err
	}
	if len(container.Root) == 0 {
		return "", errors.New("its container names no package document")
	}
	return container.Root[0].Path, nil
}

func (b *epubBook) read(name string) ([]byte, error) {
	file, err := b.archive.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxEPUBFile+1))
	if err == nil && len(text) > maxEPUBFile {
		err = fmt.Errorf("%s has more than %d bytes", name, maxEPUBFile)
	}
	return text, err
}

// readChapters reads the scenes with their places in the documents and their names.
func (b *epubBook) readChapters(ctx context.Context) error {
	threads, err := b.Text.Threads(ctx)
	if err != nil {
		return err
	}
	for i, thread := range threads {
		chapter := &epubChapter{
			title: thread.Title, file: fmt.Sprintf("codex/notes-%04d.xhtml", i+1),
		}
		mentions, err := b.Text.MentionsThen(ctx, thread.ID)
		if err != nil {
			return err
		}
		for post, err := range b.Text.Posts(ctx, thread.ID) {
			if err != nil {
				return err
			}
			if !b.files[post.Document] {
				return refuseBook(b.Book, errors.New("the story was not imported from it"))
			}
			b.addPost(chapter, post, mentions[post.Place])
		}
		b.chapters = append(b.chapters, chapter)
	}
	for _, places := range b.places {
		slices.SortStableFunc(places, func(a, b epubPlace) int { return cmp.Compare(a.offset, b.offset) })
	}
	return nil
}

func (b *epubBook) addPost(chapter *epubChapter, p *Post, mentions []Mention) {
	order := p.Place.Order()
	scene := b.scenes[order]
	if scene == nil {
		scene = &epubScene{order, b.count(order), chapter, map[string]int64{}, map[int64]bool{}}
		b.scenes[order] = scene
	}
	b.places[p.Document] = append(b.places[p.Document], epubPlace{p.Offset, scene})
	body := []rune(p.Body)
	for _, m := range mentions {
		name := string(body[m.Start:m.End])
		if known, ok := scene.names[name]; ok && known != m.Entry {
			scene.names[name] = 0
		} else {
			scene.names[name] = m.Entry
		}
	}
}

// removeNamesWithoutNotes removes the names from each scene whose entry is not in the codex at its end.
func (b *epubBook) removeNamesWithoutNotes(ctx context.Context) error {
	var wanted []epubNote
	for order, scene := range b.scenes {
		for _, entry := range scene.names {
			wanted = append(wanted, epubNote{entry, order})
		}
	}
	has := map[epubNote]bool{}
	err := b.eachNote(ctx, wanted, func(note epubNote, _ *annotator.Entry) { has[note] = true })
	for order, scene := range b.scenes {
		for name, entry := range scene.names {
			if !has[epubNote{entry, order}] {
				delete(scene.names, name)
			}
		}
	}
	return err
}

// eachNote visits the entries of notes, as of the ends of their scenes. It omits entries that are not in the codex
// then.
func (b *epubBook) eachNote(ctx context.Context, notes []epubNote, visit func(epubNote, *annotator.Entry)) error {
	scenes := map[int64][]annotator.Order{}
	for _, note := range notes {
		scenes[note.entry] = append(scenes[note.entry], note.scene)
	}
	for l, err := range b.histories(ctx) {
		if err != nil {
			return err
		}
		slices.Sort(scenes[l.entry.ID])
		for _, order := range slices.Compact(scenes[l.entry.ID]) {
			e, _, err := l.at(order)
			if err != nil {
				return err
			}
			if b.has(e) {
				visit(epubNote{e.ID, order}, e)
			}
		}
	}
	return nil
}

// note returns the id of the note on an entry in a scene.
func (s *epubScene) note(entry int64) string { return fmt.Sprintf("e%d-%d", entry, s.number) }

// characterReference matches a character reference: &#39; or &amp;.
const characterReference = `&#?\w+;?`

// pattern returns the pattern of character references and of the scene's names; longer names match first.
func (s *epubScene) pattern() *regexp.Regexp {
	names := slices.SortedFunc(maps.Keys(s.names),
		func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return regexp.MustCompile(strings.Join(append([]string{characterReference}, each(names, regexp.QuoteMeta)...), "|"))
}

// write copies the files of the book, and rewrites those with text. The container format requires that the file
// mimetype is first and not compressed.
func (b *epubBook) write(ctx context.Context, w io.Writer) error {
	out := zip.NewWriter(w)
	mime, err := out.CreateHeader(&zip.FileHeader{Name: "mimetype", Method: zip.Store})
	if err == nil {
		_, err = io.WriteString(mime, "application/epub+zip")
	}
	if err != nil {
		return err
	}
	for _, file := range b.archive.File {
		switch {
		case file.Name == "mimetype" || file.Name == b.opf:
			continue
		case len(b.places[file.Name]) > 0:
			err = b.rewrite(out, file.Name)
		default:
			err = out.Copy(file)
		}
		if err != nil {
			return err
		}
	}
	if err := b.writeNotes(ctx, out); err != nil {
		return err
	}
	return out.Close()
}

func (b *epubBook) rewrite(out *zip.Writer, name string) error {
	text, err := b.read(name)
	if err != nil {
		return refuseBook(b.Book, err)
	}
	up, err := filepath.Rel(path.Dir(name), path.Dir(b.opf))
	if err != nil {
		return err
	}
	linked := linkDocument(text, b.places[name], filepath.ToSlash(up), b.third)
	return writeEntry(out, name, linked)
}

func writeEntry(out *zip.Writer, name string, text []byte) error {
	w, err := out.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// writeNotes writes the notes of each chapter and the package document that lists them.
func (b *epubBook) writeNotes(ctx context.Context, out *zip.Writer) error {
	var notes []epubNote
	for _, chapter := range b.chapters {
		notes = append(notes, chapter.notes...)
	}
	texts, titles := map[epubNote]string{}, b.titles()
	err := b.eachNote(ctx, notes, func(note epubNote, e *annotator.Entry) { texts[note] = b.noteOf(note, e, titles) })
	if err != nil {
		return err
	}
	text, err := b.read(b.opf)
	if err != nil {
		return refuseBook(b.Book, err)
	}
	var items, spine strings.Builder
	for i, chapter := range b.chapters {
		if len(chapter.notes) == 0 {
			continue
		}
		if err := writeEntry(out, path.Join(path.Dir(b.opf), chapter.file),
			notesOf(chapter, texts, b.third)); err != nil {
			return err
		}
		fmt.Fprintf(&items, `<%%sitem id="codex-notes-%d" href="%s" media-type="application/xhtml+xml"/>`, i+1,
			chapter.file)
		fmt.Fprintf(&spine, `<%%sitemref idref="codex-notes-%d" linear="no"/>`, i+1)
	}
	text, err = insertBefore(text, "manifest", items.String())
	if err == nil {
		text, err = insertBefore(text, "spine", spine.String())
	}
	if err != nil {
		return refuseBook(b.Book, err)
	}
	return writeEntry(out, b.opf, text)
}

// insertBefore inserts elements before the end tag of an element of the package document. %s becomes its prefix.
func insertBefore(text []byte, element, elements string) ([]byte, error) {
	end := regexp.MustCompile(`</(\w+:)?` + element + `\s*>`).FindSubmatchIndex(text)
	if end == nil {
		return nil, fmt.Errorf("its package document has no %s", element)
	}
	prefix := ""
	if end[2] >= 0 {
		prefix = string(text[end[2]:end[3]])
	}
	return slices.Concat(text[:end[0]], []byte(strings.ReplaceAll(elements, "%s", prefix)), text[end[0]:]), nil
}

// notesOf returns the document with the notes of a chapter.
func notesOf(c *epubChapter, texts map[epubNote]string, third bool) []byte {
	root := "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.1//EN\" \"http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd\">\n" +
		`<html xmlns="http://www.w3.org/1999/xhtml">`
	if third {
		root = `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="` + opsNamespace + `">`
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n%s\n<head><title>%s: names</title></head>\n<body>\n",
		root, escapeXML(c.title))
	for _, note := range c.notes {
		b.WriteString(texts[note])
	}
	b.WriteString("</body>\n</html>\n")
	return b.Bytes()
}

// noteOf returns the note on an entry, given the titles of threads. Readers of EPUB 3 show it in place.
func (b *epubBook) noteOf(n epubNote, e *annotator.Entry, titles map[int64]string) string {
	note, end := `<div id="%s">`, "</div>\n"
	if b.third {
		note, end = `<aside id="%s" epub:type="footnote" role="doc-footnote">`, "</aside>\n"
	}
	exported := NewEntry(e, b.sceneOf)
	var text strings.Builder
	fmt.Fprintf(&text, note+"<p><b>%s</b></p>", b.scenes[n.scene].note(n.entry), escapeXML(nameOf(&exported)))
	for _, paragraph := range loreParagraphs(&exported, titles) {
		fmt.Fprintf(&text, "<p>%s</p>", escapeXML(paragraph))
	}
	text.WriteString(end)
	return text.String()
}

// escapeXML escapes a text for XML 1.0, which has no control characters. White space becomes spaces.
func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder does not fail
	return strings.NewReplacer("&#xA;", " ", "&#x9;", " ", "&#xD;", " ").Replace(b.String())
}

package ingest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// zipMark is what an archive begins with, and an EPUB is one.
const zipMark = "PK\x03\x04"

// foreignFormats are those that people try, or that lie beside a story, with the bytes that show them, and where these
// stand. The command makes an EPUB of it.
var foreignFormats = [...]struct {
	at          int
	bytes, name string
	command     string
}{
	{0, "%PDF-", "a PDF document", convertEbook},
	{60, "BOOKMOBI", "a Kindle book", convertEbook},
	{0, "\x1f\x8b", "a gzip archive", ""},
	{0, "BZh", "a bzip2 archive", ""},
	{0, "\xfd7zXZ\x00", "an xz archive", ""},
	{0, "\x28\xb5\x2f\xfd", "a Zstandard archive", ""},
	{0, "Rar!", "a RAR archive", ""},
	{0, "7z\xbc\xaf", "a 7z archive", ""},
	{257, "ustar", "a tar archive", ""},
	{0, "\x89PNG", "an image", ""},
	{0, "\xff\xd8\xff", "an image", ""},
	{0, "GIF8", "an image", ""},
	{8, "WEBP", "an image", ""},
	{0, "<svg", "an image", ""},
	{0, "ID3", "a sound", ""},
	{0, "OggS", "a sound", ""},
	{4, "ftyp", "a film", ""},
	{0, "\x7fELF", "a program", ""},
	{0, "{\\rtf", "an RTF document", convertEbook},
	{0, "\xd0\xcf\x11\xe0", "an old Word document", convertWord},
	{0, "{\n  \"format\": \"annotator-glossary\"", "an export of annotator's", ""},
	{0, "format: \"annotator-glossary\"", "an export of annotator's", ""},
}

// The commands that make an EPUB of another format.
const (
	convertEbook  = "ebook-convert %s book.epub"
	convertPandoc = "pandoc %s -o book.epub"
	convertWord   = "soffice --headless --convert-to epub %s"
)

// foreignEndings are the names of formats that are text, or archives, and not to be read as such.
var foreignEndings = map[string]struct{ name, command string }{
	".docx": {"a Word document", convertPandoc}, ".odt": {"an OpenDocument text", convertPandoc}, ".rtf": {"an RTF document", convertEbook},
	".tex": {"a LaTeX document", convertPandoc}, ".latex": {"a LaTeX document", convertPandoc},
	".adoc": {"an AsciiDoc document", "asciidoctor -b docbook5 -o - %s | pandoc -f docbook -o book.epub"}, ".asciidoc": {"an AsciiDoc document", "asciidoctor -b docbook5 -o - %s | pandoc -f docbook -o book.epub"},
	".mobi": {"a Kindle book", convertEbook}, ".azw": {"a Kindle book", convertEbook}, ".azw3": {"a Kindle book", convertEbook}, ".kfx": {"a Kindle book", convertEbook},
	".org": {"an Org document", convertPandoc}, ".doc": {"an old Word document", convertWord},
}

// foreignKind is what a file is that cannot be imported, and the command that makes an EPUB of it; "" if there is none.
type foreignKind struct{ name, command string }

// advice says how to make a source of it that can be read.
func (k foreignKind) advice(path string) string {
	if k.command == "" {
		return "convert it to EPUB or to plain text first"
	}
	return "make an EPUB of it: " + fmt.Sprintf(k.command, path)
}

var (
	latexMark    = regexp.MustCompile(`(?m)^\s*\\(?:documentclass|begin\{document\})`)
	asciidocMark = regexp.MustCompile(`(?m)^(?::[a-z-]+:(?: .*)?|={2,5} \S.*|\[(?:quote|verse|NOTE)[^\]\n]*\])$`)
)

// foreign tells what a file is by its head, where that is nothing to import; the zero value where it may be. What is
// called an EPUB and is no archive, a download that failed perhaps, is not taken for the text of a book.
func foreign(path string, head []byte) foreignKind {
	for _, f := range foreignFormats {
		if bytes.HasPrefix(head[min(f.at, len(head)):], []byte(f.bytes)) {
			return foreignKind{f.name, f.command}
		}
	}
	ending := strings.ToLower(filepath.Ext(path))
	zipped := bytes.HasPrefix(head, []byte(zipMark))
	if ending == ".epub" && !zipped {
		return foreignKind{name: "something else than an EPUB"}
	}
	if known, ok := foreignEndings[ending]; ok && (zipped == (ending == ".docx" || ending == ".odt")) {
		return foreignKind(known)
	}
	if zipped {
		return foreignKind{}
	}
	switch {
	case latexMark.Match(head):
		return foreignKind(foreignEndings[".tex"])
	case bytes.HasPrefix(head, []byte("= ")) && len(asciidocMark.FindAll(head, 3)) > 1:
		return foreignKind(foreignEndings[".adoc"])
	}
	return foreignKind{}
}

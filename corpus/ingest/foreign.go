package ingest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"annotator"
)

// zipMark is what an archive begins with, and an EPUB is one.
const zipMark = "PK\x03\x04"

// foreignFormat is a format that cannot be imported, but is tried or is in the folder of a story.
type foreignFormat struct {
	name    string
	command string // makes an EPUB of it; "" if there is none
	at      int    // offset of the bytes
	bytes   string // that show it
	endings string // of its names, if these show it
}

var foreignFormats = [...]foreignFormat{
	{"a Kindle book in the format KFX, or one with copy protection (DRM)", convertEbook, 0, "\xeaDRMION", ""},
	{"a Kindle book in the format KFX", convertEbook, 0, "CONT\x02\x00", ".kfx"},
	{"a Kindle book in the format Topaz", convertEbook, 0, "TPZ", ""},
	{"a bzip2 archive", "", 0, "BZh", ""},
	{"an xz archive", "", 0, "\xfd7zXZ\x00", ""},
	{"a Zstandard archive", "", 0, "\x28\xb5\x2f\xfd", ""},
	{"a RAR archive", "", 0, "Rar!", ""},
	{"a 7z archive", "", 0, "7z\xbc\xaf", ""},
	{"an image", "", 0, "\x89PNG", ""},
	{"an image", "", 0, "\xff\xd8\xff", ""},
	{"an image", "", 0, "GIF8", ""},
	{"an image", "", 8, "WEBP", ""},
	{"an image", "", 0, "<svg", ""},
	{"a sound", "", 0, "ID3", ""},
	{"a sound", "", 0, "OggS", ""},
	{"a film", "", 4, "ftyp", ""},
	{"a program", "", 0, "\x7fELF", ""},
	{"a Palm document", convertEbook, 60, "TEXtREAd", ""},
	{"an old Word document", convertWord, 0, "\xd0\xcf\x11\xe0", ".doc"},
	{"an export of annotator's", "", 0, "{\n  \"format\": \"annotator-glossary\"", ""},
	{"an export of annotator's", "", 0, "format: \"annotator-glossary\"", ""},
	latexDocument,
	asciidocDocument,
	{"an Org document", convertPandoc, 0, "", ".org"},
}

// Formats that more than bytes or a name show.
var (
	latexDocument    = foreignFormat{"a LaTeX document", convertPandoc, 0, "", ".tex .latex"}
	asciidocDocument = foreignFormat{
		"an AsciiDoc document",
		"asciidoctor -b docbook5 -o - %s | pandoc -f docbook -o book.epub", 0, "", ".adoc .asciidoc",
	}
)

// The commands that make an EPUB of another format.
const (
	convertEbook  = "ebook-convert %s book.epub"
	convertPandoc = "pandoc %s -o book.epub"
	convertWord   = "soffice --headless --convert-to epub %s"
)

// advice says how to make a source of it that can be read.
func (f foreignFormat) advice(path string) string {
	if f.command == "" {
		return "convert it to EPUB or to plain text first"
	}
	return "make an EPUB of it: " + fmt.Sprintf(f.command, path)
}

// refusal is the error of a source in the format.
func (f foreignFormat) refusal(path string) error {
	refused := annotator.Errorf(annotator.Misused, "%s is %s, which cannot be imported", path, f.name)
	switch f.command {
	case convertPandoc:
		return refused.WithReason(annotator.ReasonConvertible, pandoc, f.advice(path))
	case convertEbook:
		return refused.WithReason(annotator.ReasonConvertible, ebookConvert, f.advice(path))
	}
	return refused.WithAdvice("%s", f.advice(path))
}

var (
	latexMark    = regexp.MustCompile(`(?m)^\s*\\(?:documentclass|begin\{document\})`)
	asciidocMark = regexp.MustCompile(`(?m)^(?::[a-z-]+:(?: .*)?|={2,5} \S.*|\[(?:quote|verse|NOTE)[^\]\n]*\])$`)
)

// foreign recognises a file that cannot be imported by its head. The zero value means that it may be imported. What is
// called an EPUB and is no archive, a download that failed perhaps, is not taken for the text of a book.
func foreign(path string, head []byte) foreignFormat {
	for _, f := range foreignFormats {
		if f.bytes != "" && bytes.HasPrefix(head[min(f.at, len(head)):], []byte(f.bytes)) {
			return f
		}
	}
	ending := strings.ToLower(filepath.Ext(path))
	zipped := bytes.HasPrefix(head, []byte(zipMark))
	if ending == ".epub" && !zipped {
		return foreignFormat{name: "something else than an EPUB"}
	}
	for _, f := range foreignFormats {
		if slices.Contains(strings.Fields(f.endings), ending) && !zipped {
			return f
		}
	}
	switch {
	case zipped:
	case latexMark.Match(head):
		return latexDocument
	case bytes.HasPrefix(head, []byte("= ")) && len(asciidocMark.FindAll(head, 3)) > 1:
		return asciidocDocument
	}
	return foreignFormat{}
}

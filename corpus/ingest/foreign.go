package ingest

import (
	"bytes"
	"path/filepath"
	"strings"
)

// zipMark is what an archive begins with, and an EPUB is one.
const zipMark = "PK\x03\x04"

// foreignFormats are those that people try, or that lie beside a story, with the bytes that show them, and where these stand.
var foreignFormats = [...]struct {
	at          int
	bytes, name string
}{
	{0, "%PDF-", "a PDF document"},
	{60, "BOOKMOBI", "a Kindle book"},
	{0, "\x1f\x8b", "a gzip archive"},
	{0, "BZh", "a bzip2 archive"},
	{0, "\xfd7zXZ\x00", "an xz archive"},
	{0, "\x28\xb5\x2f\xfd", "a Zstandard archive"},
	{0, "Rar!", "a RAR archive"},
	{0, "7z\xbc\xaf", "a 7z archive"},
	{257, "ustar", "a tar archive"},
	{0, "\x89PNG", "an image"},
	{0, "\xff\xd8\xff", "an image"},
	{0, "GIF8", "an image"},
	{8, "WEBP", "an image"},
	{0, "<svg", "an image"},
	{0, "ID3", "a sound"},
	{0, "OggS", "a sound"},
	{4, "ftyp", "a film"},
	{0, "\x7fELF", "a program"},
	{0, "{\\rtf", "an RTF document"},
	{0, "\xd0\xcf\x11\xe0", "an old Word document"},
	{0, "{\n  \"format\": \"annotator-glossary\"", "an export of annotator's"},
	{0, "format: \"annotator-glossary\"", "an export of annotator's"},
}

// foreign names what a file is by its head, where that is nothing to import; "" where it may be. What is called an EPUB and is no archive,
// a download that failed perhaps, is not taken for the text of a book.
func foreign(path string, head []byte) string {
	for _, f := range foreignFormats {
		if bytes.HasPrefix(head[min(f.at, len(head)):], []byte(f.bytes)) {
			return f.name
		}
	}
	if strings.EqualFold(filepath.Ext(path), ".epub") && !bytes.HasPrefix(head, []byte(zipMark)) {
		return "something else than an EPUB"
	}
	return ""
}

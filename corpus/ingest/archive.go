package ingest

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"annotator"
)

// What an archive may hold. Sizes are counted as they are unpacked: what the archive says of them is worth nothing.
const (
	maxEntries = 20_000
	maxEntry   = 64 << 20  // bytes of one file
	maxArchive = 512 << 20 // bytes of all files read
	maxRatio   = 200       // times that a file may unpack to its packed size,
	freeRatio  = 1 << 20   // beyond its first bytes
)

// archive reads files out of a zip archive by name. Nothing is ever written to disk, and a name only means a file of
// the archive.
type archive struct {
	files map[string]*zip.File
	left  int64 // bytes that may still be unpacked
}

// openArchive lists the archive. Files whose names lead elsewhere, or that another file has, are never read.
func openArchive(r io.ReaderAt, size int64, report *Report) (*archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, annotator.Errorf(annotator.Misused, "it is a damaged zip archive: %w",
			err).WithAdvice("get the file again")
	}
	if len(z.File) > maxEntries {
		return nil, annotator.Errorf(annotator.Misused, "the archive has %d files, more than %d", len(z.File),
			maxEntries)
	}
	a := &archive{files: make(map[string]*zip.File, len(z.File)), left: maxArchive}
	for _, f := range z.File {
		switch {
		case strings.HasSuffix(f.Name, "/"):
		case !safeName(f.Name):
			report.leaveOut("archive files with unsafe names", fmt.Sprintf("%q", f.Name))
		case a.files[f.Name] != nil:
			report.leaveOut("archive files with the name of an earlier one", fmt.Sprintf("%q", f.Name))
		default:
			a.files[f.Name] = f
		}
	}
	return a, nil
}

// inArchive looks into a source that is a zip archive.
func (s source) inArchive(look func(*archive)) error {
	f, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	a, err := openArchive(f, s.size, &Report{})
	if err != nil {
		return err
	}
	look(a)
	return nil
}

// lookIntoZip looks into a zip archive that may be an EPUB. If it holds a document of a word processor, that is its
// format. If it is none of these, and holds files, they are what is read. The reader of EPUBs says what is wrong with
// one that cannot be opened.
func (s *source) lookIntoZip() (files bool) {
	_ = s.inArchive(func(a *archive) {
		kind := officeFormat(a)
		switch {
		case a.files["META-INF/container.xml"] != nil:
		case kind != "":
			s.format = kind
		default:
			files = strings.ToLower(path.Ext(s.path)) != ".epub" && len(a.files) > 0
		}
	})
	return files
}

// packedFormat recognises a document of a word processor that is a zip archive; "" if it is none.
func packedFormat(s source) (kind Format) {
	_ = s.inArchive(func(a *archive) { kind = officeFormat(a) })
	return kind
}

// officeFormat recognises a document of a word processor by the files of its package; "" if it is none.
func officeFormat(a *archive) Format {
	switch {
	case a.files["content.xml"] != nil && a.files["META-INF/manifest.xml"] != nil:
		return ODT
	case a.files["[Content_Types].xml"] == nil:
		return ""
	}
	for _, r := range relations(a, "", "_rels/.rels") {
		if r.kind == "officeDocument" && strings.HasPrefix(r.target, "word/") {
			return DOCX
		}
	}
	return ""
}

// safeName reports whether a name is a plain path within the archive, on every system.
func safeName(name string) bool {
	return fs.ValidPath(name) && !strings.ContainsAny(name, "\\\x00:")
}

// resolve finds what a link in a file of the archive leads to. The fragment is the text after #.
func resolve(from, link string) (name, fragment string, err error) {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/") {
		return "", "", errOutside
	}
	if u.Path == "" {
		return from, u.Fragment, nil
	}
	name = path.Join(path.Dir(from), u.Path)
	if !safeName(name) {
		return "", "", errOutside
	}
	return name, u.Fragment, nil
}

var (
	errOutside   = errors.New("a link out of the archive")
	errMissing   = errors.New("missing from the archive")
	errDamaged   = errors.New("damaged in the archive")
	errEncrypted = errors.New("encrypted")
	errNoText    = errors.New("in an encoding that it does not name")
)

// read unpacks a file. An archive that unpacks to more than it may is refused as a whole, annotator.Misused; other
// errors concern the one file.
func (a *archive) read(name string) ([]byte, error) {
	f := a.files[name]
	if f == nil {
		return nil, errMissing
	}
	if f.Flags&1 != 0 {
		return nil, errEncrypted
	}
	packed, err := f.Open()
	if err != nil {
		return nil, errDamaged
	}
	defer func() { _ = packed.Close() }()
	limit := min(maxEntry, a.left, freeRatio+maxRatio*int64(min(f.CompressedSize64, maxEntry)))
	data, err := io.ReadAll(io.LimitReader(packed, limit+1))
	a.left -= int64(len(data))
	if int64(len(data)) > limit {
		return nil, annotator.Errorf(annotator.Misused, "%q in the archive unpacks to more than it may (%d bytes)",
			name, limit).
			WithAdvice("it is not a book, or made to do harm")
	}
	if err != nil {
		return nil, errDamaged
	}
	return data, nil
}

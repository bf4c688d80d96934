package ingest

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"annotator"
)

// gzipMark is what a compressed file begins with.
const gzipMark = "\x1f\x8b"

// What a tar archive begins with: a header of this size, which has its checksum in octal digits at this place.
const (
	tarHeader  = 512
	tarSumAt   = 148
	tarSumSize = 8
)

// isTar reports whether data begins with the header of a tar archive. The oldest ones have no other mark than its
// checksum, which counts its own bytes as spaces.
func isTar(head []byte) bool {
	if len(head) < tarHeader {
		return false
	}
	digits := head[tarSumAt : tarSumAt+tarSumSize]
	want, err := strconv.ParseInt(strings.Trim(string(digits), " \x00"), 8, 32)
	sum := int64(tarSumSize * ' ')
	for i, b := range head[:tarHeader] {
		if i < tarSumAt || i >= tarSumAt+tarSumSize {
			sum += int64(b)
		}
	}
	return err == nil && sum == want
}

// member is a file of an archive.
type member struct {
	name   string
	data   []byte
	damage string // why it cannot be read; "" if it can be
}

// unpack makes sources of what an archive or a compressed file holds. Nothing is written to disk; the sizes are limited
// as those of an EPUB. Other files are left out, as in a folder.
func unpack(s source, o Options, report *Report) ([]source, error) {
	members, err := readMembers(s, report)
	if err != nil {
		return nil, inFile(s.path, err)
	}
	var found []source
	for _, m := range members {
		inside := source{
			path: filepath.Join(s.path, filepath.FromSlash(m.name)), size: int64(len(m.data)), data: m.data,
			damage: m.damage,
		}
		if len(members) == 1 {
			inside.path = filepath.Join(filepath.Dir(s.path), path.Base(m.name))
		}
		head := m.data[:min(len(m.data), headSize)]
		inside.format = detect(inside.path, head, o.Encoding)
		if inside.format == EPUB {
			inside.format = cmp.Or(packedFormat(inside), EPUB)
		}
		switch kind := evidently(inside, head, o); {
		case strings.HasPrefix(path.Base(m.name), "."), strings.HasPrefix(m.name, "__MACOSX/"):
			report.leaveOut(hidden, m.name)
		case kind != "":
			report.leaveOut(noStory, fmt.Sprintf("%s (%s)", m.name, kind))
		default:
			found = append(found, inside)
		}
	}
	if len(found) == 0 {
		return nil, report.nothingFound("the archive %s has no files to import", s.path)
	}
	slices.SortFunc(found, compareFiles)
	if found, err = withoutDamaged(s.path, found, report); err != nil {
		return nil, err
	}
	if len(members) > 1 {
		report.note("%s of the archive %s: %s", annotator.Quantity(len(found), "file"), titleOf(s.path),
			taken(s.path, found))
	}
	return found, nil
}

// withoutDamaged leaves out files of an archive that cannot be read, and marks the others that may turn out to be so. A
// file whose name is like another's but for its digits is never left out: the story would have a gap.
func withoutDamaged(root string, found []source, report *Report) ([]source, error) {
	countedName := func(s source) string { return numberInName.ReplaceAllString(s.path, "#") }
	alike := map[string]int{}
	for _, s := range found {
		alike[countedName(s)]++
	}
	var whole []source
	for _, s := range found {
		s.stray = len(found) > 1 && (!numberInName.MatchString(stem(s.path)) || alike[countedName(s)] < 2)
		switch {
		case s.damage == "":
			whole = append(whole, s)
		case s.stray:
			name, _ := filepath.Rel(root, s.path)
			report.leaveUnread(name, s.damage)
		default:
			return nil, s.unreadable("get the archive again, or unpack it, and import the folder")
		}
	}
	if len(whole) == 0 {
		return nil, report.nothingFound("no file of the archive %s can be read", root)
	}
	return whole, nil
}

// isArchive reports whether a file is one that unpack reads.
func isArchive(head []byte) bool {
	return bytes.HasPrefix(head, []byte(gzipMark)) || isTar(head)
}

// readMembers reads the files of an archive.
func readMembers(s source, report *Report) ([]member, error) {
	f, err := s.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, len(zipMark))
	n, _ := io.ReadFull(f, head)
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, annotator.Errorf(annotator.Storage, "read %s: %w", s.path, err)
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte(zipMark)):
		return zipMembers(f, s.size, report)
	case bytes.HasPrefix(head, []byte(gzipMark)):
		return gzipMembers(f, s)
	}
	return tarMembers(f, report)
}

func zipMembers(f io.ReaderAt, size int64, report *Report) ([]member, error) {
	a, err := openArchive(f, size, report)
	if err != nil {
		return nil, err
	}
	var all []member
	for _, name := range slices.Sorted(maps.Keys(a.files)) {
		data, err := a.read(name)
		if annotator.KindOf(err) != "" {
			return nil, err
		}
		m := member{name: name, data: data}
		if err != nil {
			m.damage = err.Error()
		}
		all = append(all, m)
	}
	return all, nil
}

// gzipMembers unpacks a compressed file, which may be a tar archive.
func gzipMembers(f io.Reader, s source) ([]member, error) {
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, damagedArchive(err)
	}
	limit := min(int64(maxArchive), freeRatio+maxRatio*s.size)
	data, err := io.ReadAll(io.LimitReader(z, limit+1))
	switch {
	case int64(len(data)) > limit:
		return nil, annotator.Errorf(annotator.Misused, "it unpacks to more than it may (%d bytes)", limit).
			WithAdvice("it is not a book, or made to do harm")
	case err != nil:
		return nil, damagedArchive(err)
	case isTar(data):
		return tarMembers(bytes.NewReader(data), &Report{})
	}
	return []member{{name: strings.TrimSuffix(filepath.Base(s.path), filepath.Ext(s.path)), data: data}}, nil
}

func damagedArchive(err error) error {
	return annotator.Errorf(annotator.Misused, "it is a damaged archive: %w", err).WithAdvice("get the file again")
}

// tarMembers reads a tar archive.
func tarMembers(f io.Reader, report *Report) ([]member, error) {
	var all []member
	left := int64(maxArchive)
	for t := tar.NewReader(f); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return nil, damagedArchive(err)
		}
		name := strings.TrimPrefix(h.Name, "./")
		switch {
		case h.Typeflag != tar.TypeReg:
			continue
		case !safeName(name):
			report.leaveOut("archive files with unsafe names", fmt.Sprintf("%q", h.Name))
			continue
		case len(all) == maxEntries:
			return nil, annotator.Errorf(annotator.Misused, "the archive has more than %d files", maxEntries)
		}
		data, err := io.ReadAll(io.LimitReader(t, min(maxEntry, left)+1))
		if err != nil {
			return nil, damagedArchive(err)
		}
		if left -= int64(len(data)); len(data) > maxEntry || left < 0 {
			return nil, annotator.Errorf(annotator.Misused, "%q in the archive is larger than it may be", name).
				WithAdvice("unpack it, and import the folder")
		}
		all = append(all, member{name: name, data: data})
	}
}

package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"annotator"
)

// source is one file to import.
type source struct {
	path   string
	size   int64
	format Format
}

// findSources lists the files, each with its format.
func findSources(o Options) ([]source, error) {
	var sources []source
	for _, path := range o.Sources {
		found, err := expand(path)
		if err != nil {
			return nil, err
		}
		sources = append(sources, found...)
	}
	for i := range sources {
		sources[i].format = o.Format
		if o.Format != Auto {
			continue
		}
		var err error
		if sources[i].format, err = detect(sources[i].path, o.Encoding); err != nil {
			return nil, err
		}
	}
	return sources, nil
}

// expand gives a file, or all files of a folder by name, numbers in names taken as numbers. Hidden files are passed over.
func expand(path string) ([]source, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, annotator.Errorf(annotator.NotFound, "there is nothing at %s to import", path)
	}
	if err != nil {
		return nil, annotator.Errorf(annotator.Storage, "look at %s: %w", path, err)
	}
	if !info.IsDir() {
		return []source{{path: path, size: info.Size()}}, nil
	}
	return folder(path)
}

func folder(path string) ([]source, error) {
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, annotator.Errorf(annotator.Storage, "read the folder %s: %w", path, err)
	}
	var found []source
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch hidden := strings.HasPrefix(entry.Name(), ".") && file != root; {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden, !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		found = append(found, source{path: file, size: info.Size()})
		return nil
	})
	if err != nil {
		return nil, annotator.Errorf(annotator.Storage, "read the folder %s: %w", path, err)
	}
	if len(found) == 0 {
		return nil, annotator.Errorf(annotator.Misused, "the folder %s has no files to import", path)
	}
	slices.SortFunc(found, func(a, b source) int { return byNumber(a.path, b.path) })
	return found, nil
}

// byNumber compares names with numbers in them the way people do: 2 comes before 10.
func byNumber(a, b string) int {
	digits := func(s string) int {
		return len(s) - len(strings.TrimLeftFunc(s, func(r rune) bool { return r >= '0' && r <= '9' }))
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		m, n := digits(a[i:]), digits(b[j:])
		if m > 0 && n > 0 {
			x, y := strings.TrimLeft(a[i:i+m], "0"), strings.TrimLeft(b[j:j+n], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			i, j = i+m, j+n
			continue
		}
		if a[i] != b[j] {
			return cmp.Compare(a[i], b[j])
		}
		i, j = i+1, j+1
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

func (s source) open() (*os.File, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "read the source: %w", err).WithAdvice("name a file that is there and that you may read")
	}
	return f, nil
}

func (s source) digest(ctx context.Context) ([]byte, error) {
	f, err := s.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, contextReader{ctx, f}); err != nil {
		return nil, annotator.Errorf(annotator.Storage, "read %s: %w", s.path, err)
	}
	return hash.Sum(nil), nil
}

// contextReader ends a long read when its context does.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// headSize is how much of a file is looked at to tell its format.
const headSize = 64 << 10

func detect(path, encoding string) (Format, error) {
	head, err := readHead(path)
	if err != nil {
		return "", err
	}
	for _, magic := range foreignFormats {
		if bytes.HasPrefix(head[min(magic.at, len(head)):], []byte(magic.bytes)) {
			return "", annotator.Errorf(annotator.Misused, "%s is %s, which cannot be imported", path, magic.name).
				WithAdvice("convert it to EPUB or to plain text first")
		}
	}
	switch {
	case isDatabase(head):
		return SQLite, nil
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return EPUB, nil
	}
	return detectText(path, decodeHead(head, encoding)), nil
}

func isDatabase(head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) }

// foreignFormats are those that people try, with the bytes that show them, and where these stand.
var foreignFormats = [...]struct {
	at          int
	bytes, name string
}{
	{0, "%PDF-", "a PDF document"},
	{60, "BOOKMOBI", "a Kindle book"},
	{0, "\x1f\x8b", "a gzip archive"},
	{0, "Rar!", "a RAR archive"},
	{0, "7z\xbc\xaf", "a 7z archive"},
	{0, "\x89PNG", "an image"},
	{0, "\xff\xd8\xff", "an image"},
	{0, "{\\rtf", "an RTF document"},
	{0, "\xd0\xcf\x11\xe0", "an old Word document"},
}

func readHead(path string) ([]byte, error) {
	f, err := source{path: path}.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	head, err := io.ReadAll(io.LimitReader(f, headSize))
	if err != nil {
		return nil, annotator.Errorf(annotator.Storage, "read %s: %w", path, err)
	}
	return head, nil
}

// detectText tells the formats that are text. Only if the first line is a JSON object, or what begins like JSON speaks of
// posts, is it JSON: a book may well begin with a bracket.
func detectText(path, head string) Format {
	head = strings.TrimLeftFunc(head, unicode.IsSpace)
	extension := strings.ToLower(filepath.Ext(path))
	if strings.HasPrefix(head, "{") || strings.HasPrefix(head, "[") {
		line, _, _ := strings.Cut(head, "\n")
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(line), &object) == nil && object["posts"] == nil && object["threads"] == nil {
			return JSONL
		}
		if strings.Contains(head, `"posts"`) || extension == ".json" {
			return Board
		}
	}
	if extension == ".jsonl" || extension == ".ndjson" {
		return JSONL
	}
	lower := strings.ToLower(head[:min(len(head), 1024)])
	if strings.HasPrefix(lower, "<!doctype html") || strings.HasPrefix(lower, "<html") ||
		strings.HasPrefix(lower, "<?xml") && strings.Contains(lower, "<html") {
		return HTML
	}
	return Text
}

// meter reports progress, at most once in meterStep bytes.
type meter struct {
	report             func(Progress)
	source             string
	before, last, done int64 // bytes of the sources before this one, when last reported, and in all
	size, total        int64
}

const meterStep = 1 << 20

func newMeter(sources []source, report func(Progress)) *meter {
	m := &meter{report: report}
	for _, s := range sources {
		m.total += s.size
	}
	return m
}

func (m *meter) start(s source) {
	m.before += m.size
	m.source, m.size = s.path, s.size
	m.set(0)
}

// set says how many bytes of the current source are done.
func (m *meter) set(done int64) {
	m.done = m.before + min(done, m.size)
	if m.report != nil && (m.done-m.last >= meterStep || done == 0 || done >= m.size) {
		m.last = m.done
		m.report(Progress{Source: m.source, Done: m.done, Total: m.total})
	}
}

// reader counts what is read of the current source.
func (m *meter) reader(ctx context.Context, r io.Reader) io.Reader {
	return &meterReader{contextReader{ctx, r}, m, 0}
}

type meterReader struct {
	contextReader
	meter *meter
	done  int64
}

func (r *meterReader) Read(p []byte) (int, error) {
	n, err := r.contextReader.Read(p)
	r.done += int64(n)
	r.meter.set(r.done)
	return n, err
}

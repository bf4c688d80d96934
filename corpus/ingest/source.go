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
	"annotator/corpus/ingest/mobi"
	"annotator/corpus/ingest/pdf"
)

// source is one file to import.
type source struct {
	path   string
	size   int64
	format Format
	data   []byte // of a file in an archive or of a conversion; nil if it is to be read from the path
	damage string // why it cannot be read; "" if it can be, as far as its head shows
	stray  bool   // a file of an archive without which the story has no gap: see withoutDamaged

	converter string // the program that converts it first; "" for none
}

// unreadable is the error of a damaged file without which the story would have a gap.
func (s source) unreadable(advice string) error {
	return annotator.Errorf(annotator.Misused, "%s is one of the story's files and cannot be read: it is %s", s.path,
		s.damage).WithAdvice("%s", advice)
}

// isText reports whether a source is in a format that is text.
func (s source) isText() bool {
	return !slices.Contains([]Format{EPUB, DOCX, ODT, MOBI, PDF, SQLite}, s.format)
}

// findSources lists the files, each with its format. Other files in folders are left out, and the report says so.
func findSources(o Options, report *Report) ([]source, error) {
	var sources []source
	for _, path := range o.Sources {
		info, err := os.Stat(path)
		var found []source
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, annotator.Errorf(annotator.NotFound, "there is nothing at %s to import", path)
		case err != nil:
			return nil, annotator.Errorf(annotator.Misused, "read the source: %w",
				err).WithAdvice("name a file that is there and that you may read")
		case info.IsDir() && o.Convert != "":
			return nil, annotator.Errorf(annotator.Misused, "%s is a folder, and only files are converted", path).
				WithAdvice("name the files, in the order of the story")
		case info.IsDir():
			path = filepath.Clean(path)
			found, err = folder(path, o, report)
		default:
			found, err = file(path, info, o, report)
		}
		if err != nil {
			return nil, err
		}
		sources = append(sources, found...)
	}
	return sources, nil
}

// file is a file that was named, which is read whatever it is called.
func file(path string, info fs.FileInfo, o Options, report *Report) ([]source, error) {
	if !info.Mode().IsRegular() {
		return nil, annotator.Errorf(annotator.Misused, "%s is a pipe or a device, and a source is read more than once",
			path).
			WithAdvice("save what comes out of it in a file, and name that")
	}
	s := source{path: path, size: info.Size(), format: o.Format}
	if o.Convert != "" {
		s.format, s.converter = convertedFormat(o.Convert), o.Convert
		return []source{s}, nil
	}
	if o.Format != Auto {
		return []source{s}, nil
	}
	head, err := readHead(path)
	if err != nil {
		return nil, err
	}
	if kind := foreign(path, head); kind.name != "" {
		return nil, kind.refusal(path)
	}
	if isArchive(head) {
		return unpack(s, o, report)
	}
	s.format = detect(path, head, o.Encoding)
	if kind := markupOf(decodeHead(head, o.Encoding)); s.format == Text && kind.name != "" {
		return nil, annotator.Errorf(annotator.Misused, "%s is %s, which is not read as a story", path,
			kind.name).WithReason(annotator.ReasonMarkup, kind.advice(path))
	}
	if s.format == EPUB && s.lookIntoZip() {
		return unpack(s, o, report)
	}
	return []source{s}, nil
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

// opened is a source that is read: a file, or what an archive holds.
type opened interface {
	io.ReadSeekCloser
	io.ReaderAt
}

// inMemory is a file of an archive.
type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

func (s source) open() (opened, error) {
	if s.data != nil {
		return inMemory{bytes.NewReader(s.data)}, nil
	}
	f, err := os.Open(s.path)
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "read the source: %w",
			err).WithAdvice("name a file that is there and that you may read")
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

// headSize is how much of a file is examined to recognise its format.
const headSize = 64 << 10

// detect recognises a format by the head of a file, and by its name only if the head does not show it.
func detect(path string, head []byte, encoding string) Format {
	switch {
	case isDatabase(head):
		return SQLite
	case bytes.HasPrefix(head, []byte(zipMark)):
		return EPUB
	case bytes.HasPrefix(head[min(mobi.MarkAt, len(head)):], []byte(mobi.Mark)):
		return MOBI
	case bytes.HasPrefix(head, []byte(pdf.Mark)):
		return PDF
	case rtfMark.Match(head):
		return RTF
	}
	return detectText(path, decodeHead(head, encoding))
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

func isDatabase(head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) }

// detectText recognises the formats that are text. It is JSON only if the first line is a JSON object, or a beginning
// like JSON mentions posts. A book may begin with a bracket.
func detectText(path, head string) Format {
	head = strings.TrimLeftFunc(head, unicode.IsSpace)
	extension := strings.ToLower(filepath.Ext(path))
	if strings.HasPrefix(head, "{") || strings.HasPrefix(head, "[") {
		line, _, _ := strings.Cut(head, "\n")
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(line), &object) == nil && hasText(object) {
			return JSONL
		}
		if strings.Contains(head, `"posts"`) || extension == ".json" {
			return Board
		}
	}
	if jsonStart.MatchString(head) {
		return Board
	}
	if extension == ".jsonl" || extension == ".ndjson" {
		return JSONL
	}
	lower := strings.ToLower(head[:min(len(head), 1024)])
	if strings.Contains(lower, "<office:document ") {
		return ODT
	}
	if isTEI(head) {
		return TEI
	}
	if strings.Contains(lower, "<fictionbook") {
		return FB2
	}
	if strings.HasPrefix(lower, "<!doctype html") || strings.HasPrefix(lower, "<html") ||
		strings.HasPrefix(lower, "<?xml") && strings.Contains(lower, "<html") {
		return HTML
	}
	return Text
}

// hasText reports whether an object on a line of its own is a post, or some other record, and no thread.
func hasText(object map[string]json.RawMessage) bool {
	for _, field := range object {
		if value := bytes.TrimSpace(field); bytes.Contains(value, []byte(`"op"`)) &&
			bytes.HasPrefix(value, []byte("{")) || isPosts(value) {
			return false
		}
	}
	return object["posts"] == nil && object["threads"] == nil && object["post_stream"] == nil &&
		object["chapters"] == nil && object["op"] == nil
}

// isPosts reports whether a value is a list of objects with text.
func isPosts(value []byte) bool {
	var objects []map[string]json.RawMessage
	return bytes.HasPrefix(value, []byte("[")) && json.Unmarshal(value, &objects) == nil &&
		slices.ContainsFunc(objects, func(o map[string]json.RawMessage) bool {
			return slices.ContainsFunc(bodyFields, func(name string) bool { return o[name] != nil })
		})
}

// meter reports progress, at most once in meterStep bytes.
type meter struct {
	report       func(Progress)
	source       string
	before, last int64 // bytes of the sources before this one, and when last reported
	size, total  int64 // of this source, and of all
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
	at := m.before + min(done, m.size)
	if m.report != nil && (at-m.last >= meterStep || done == 0 || done >= m.size) {
		m.last = at
		m.report(Progress{Source: m.source, Done: at, Total: m.total})
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

package mobi_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"annotator/corpus/ingest/mobi"

	"github.com/google/go-cmp/cmp"
)

// pack makes a file of records.
func pack(records ...string) []byte {
	data := make([]byte, 78+8*len(records))
	copy(data[60:], "BOOKMOBI")
	binary.BigEndian.PutUint16(data[76:], uint16(len(records)))
	for i, r := range records {
		binary.BigEndian.PutUint32(data[78+8*i:], uint32(len(data)))
		data = append(data, r...)
	}
	return data
}

// header makes the first record: version, compression and protection, and numbers by their offsets.
func header(version uint32, compression, protection uint16, text int, longs map[int]uint32) string {
	r := make([]byte, 16+264)
	binary.BigEndian.PutUint16(r, compression)
	binary.BigEndian.PutUint32(r[4:], uint32(text))
	binary.BigEndian.PutUint16(r[8:], 1)
	binary.BigEndian.PutUint16(r[12:], protection)
	copy(r[16:], "MOBI")
	binary.BigEndian.PutUint32(r[20:], 264)
	for _, none := range []int{0xF4, 0xF8, 0xFC, 0xC0} {
		binary.BigEndian.PutUint32(r[none:], 0xFFFFFFFF)
	}
	longs[28], longs[36], longs[84], longs[88] = 65001, version, uint32(len(r)), 5
	for at, value := range longs {
		binary.BigEndian.PutUint32(r[at:], value)
	}
	return string(r) + "Title"
}

// tagged is an entry of an index: its name, then its tags with their values.
type tagged struct {
	name string
	tags [][]int
}

// index makes the records of an index, and one of texts if there are any.
func index(entries []tagged, forms [][2]byte, texts ...string) []string {
	long := func(b []byte, at, value int) { binary.BigEndian.PutUint32(b[at:], uint32(value)) }
	head := make([]byte, 192)
	copy(head, "INDX")
	long(head, 4, 192)
	long(head, 24, 1)
	if len(texts) > 0 {
		long(head, 52, 1)
	}
	table := make([]byte, 12)
	copy(table, "TAGX")
	long(table, 8, 1)
	for i, f := range forms {
		table = append(table, f[0], f[1], 1<<i, 0)
	}
	table = append(table, 0, 0, 0, 1)
	long(table, 4, len(table))
	data := make([]byte, 192)
	copy(data, "INDX")
	places := []byte("IDXT")
	for _, e := range entries {
		places = binary.BigEndian.AppendUint16(places, uint16(len(data)))
		data = append(append(data, byte(len(e.name))), e.name...)
		control := byte(0)
		for i, values := range e.tags {
			if values != nil {
				control |= 1 << i
			}
		}
		data = append(data, control)
		for _, values := range e.tags {
			for _, v := range values {
				data = append(data, byte(v>>14&0x7F), byte(v>>7&0x7F), byte(v&0x7F)|0x80)
			}
		}
	}
	long(data, 20, len(data))
	long(data, 24, len(entries))
	records := []string{string(head) + string(table), string(data) + string(places)}
	var all strings.Builder
	for _, text := range texts {
		all.WriteString(string([]byte{byte(len(text)) | 0x80}) + text)
	}
	if len(texts) > 0 {
		records = append(records, all.String())
	}
	return records
}

const (
	oldStart = "<html><body><h1>One</h1><p>A.</p>"
	oldText  = oldStart + "<mbp:pagebreak/><h1>Two</h1><p>See <a filepos=0000000012>One</a>.</p></body></html>"
)

// guidedText says of its second page that it is notes, and of a place in its first that it is a cover.
func guidedText() string {
	const guide = `<guide><reference type="notes" filepos=%05d /><reference type="cover" filepos=%05d /></guide>`
	at := len(fmt.Sprintf(guide, 0, 0)) + len(oldStart)
	return fmt.Sprintf(guide, at, at-3) + oldText
}

func oldBook() []byte {
	toc := index([]tagged{
		{"0", [][]int{{12}, {0}, {0}}},
		{"1", [][]int{{strings.Index(oldText, "<h1>Two") + 2}, {4}, {0}}},
	},
		[][2]byte{{1, 1}, {3, 1}, {4, 1}}, "One", "Two")
	return pack(append([]string{header(6, 1, 0, len(oldText), map[int]uint32{0xF4: 2}), oldText}, toc...)...)
}

// newBook makes a KF8 whose only page has a skeleton and two fragments.
func newBook() []byte {
	skeleton, first, second := "<html><body></body></html>", "<h1>One</h1>", "<p>A.</p>"
	text := skeleton + first + second
	inside := strings.Index(skeleton, "</body>")
	skeletons := index([]tagged{{"SKEL0", [][]int{{2}, {0, len(skeleton)}}}}, [][2]byte{{1, 1}, {6, 2}})
	fragments := index([]tagged{
		{fmt.Sprintf("%010d", inside), [][]int{{0, len(first)}}},
		{fmt.Sprintf("%010d", inside+len(first)), [][]int{{0, len(second)}}},
	}, [][2]byte{{6, 2}})
	toc := index([]tagged{{"0", [][]int{{0, 0}, {0}, {0}}}}, [][2]byte{{6, 2}, {3, 1}, {4, 1}}, "One")
	return pack(append(append(append([]string{
		header(8, 1, 0, len(text), map[int]uint32{0xFC: 2, 0xF8: 4, 0xF4: 6}), text,
	}, skeletons...), fragments...), toc...)...)
}

func TestRead(t *testing.T) {
	t.Parallel()
	second := strings.Index(oldText, "<h1>Two") - strings.Index(oldText, "<mbp")
	anchor := fmt.Sprintf("contents-%d", second)
	for name, c := range map[string]struct {
		data []byte
		want mobi.Book
	}{
		"MOBI": {oldBook(), mobi.Book{
			Title: "Title",
			Pages: []string{
				`<body><html><body><a id="contents-12"></a><h1>One</h1><p>A.</p></body>`,
				`<body><mbp:pagebreak/><a id="` + anchor + `"></a><h1>Two</h1>` +
					`<p>See <a href="#filepos0000000012">One</a>.</p>` +
					`</body></html></body>`,
			},
			Contents: []mobi.Entry{
				{Label: "One", Fragment: "contents-12", Depth: 1, Leaf: true},
				{Label: "Two", Page: 1, Fragment: anchor, Depth: 1, Leaf: true},
			},
		}},
		"KF8": {newBook(), mobi.Book{
			Title:    "Title",
			Pages:    []string{`<html><body><a id="contents-12"></a><h1>One</h1><p>A.</p></body></html>`},
			Contents: []mobi.Entry{{Label: "One", Fragment: "contents-12", Depth: 1, Leaf: true}},
		}},
		"guide": {
			pack(header(6, 1, 0, len(guidedText()), map[int]uint32{}), guidedText()),
			mobi.Book{
				Title: "Title", Guide: map[int]string{1: "notes"},
				Pages: []string{
					`<body><guide><reference type="notes" href="#filepos00128" />` +
						`<reference type="cover" href="#filepos00125" /></guide>` + oldStart + `</body>`,
					`<body><mbp:pagebreak/><h1>Two</h1><p>See <a href="#filepos0000000012">One</a>.</p></body></html></body>`,
				},
			},
		},
		"compressed": {
			pack(header(6, 2, 0, 9, map[int]uint32{}), "<p>ab\x80\x10\xe1.</p>"),
			mobi.Book{Title: "Title", Pages: []string{"<body><p>ababa a.</p></body>"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			book, err := mobi.Read(c.data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&c.want, book); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSample keeps the book that tests of the importer read.
func TestSample(t *testing.T) {
	t.Parallel()
	got, err := os.ReadFile("../testdata/book.azw3")
	if err != nil || !bytes.Equal(got, newBook()) {
		t.Errorf("testdata/book.azw3 is not what newBook makes (%v)", err)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"copy protection": {pack(header(6, 1, 2, 1, map[int]uint32{}), "x"), mobi.ErrProtected},
		"no records":      {pack(), mobi.ErrDamaged},
		"cut off":         {oldBook()[:100], mobi.ErrDamaged},
		"no dictionary":   {pack(header(6, 17480, 0, 1, map[int]uint32{112: 99}), "x"), mobi.ErrDamaged},
		"text before its beginning": {
			pack(header(6, 2, 0, 1, map[int]uint32{}), "a\xbf\xff"), mobi.ErrDamaged,
		},
	} {
		if _, err := mobi.Read(c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// FuzzRead reads any bytes. Text does not grow without end: each record has a limit.
func FuzzRead(f *testing.F) {
	f.Add(oldBook())
	f.Add(newBook())
	f.Add(pack(header(6, 17480, 0, 1, map[int]uint32{112: 2, 116: 2}), "x", "HUFF", "CDIC"))
	f.Fuzz(func(t *testing.T, data []byte) {
		book, err := mobi.Read(data)
		if err != nil {
			return
		}
		for _, e := range book.Contents {
			if e.Page >= len(book.Pages) || !strings.Contains(book.Pages[e.Page], `id="`+e.Fragment+`"`) {
				t.Errorf("%+v leads to nothing", e)
			}
		}
	})
}

package exporters_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"annotator"
	"annotator/exporters"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"
)

const (
	bookContainer = `<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" ` +
		`version="1.0">` +
		`<rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles>` +
		`</container>`
	bookPackage = `<?xml version="1.0"?><opf:package xmlns:opf="http://www.idpf.org/2007/opf" version="3.0" ` +
		`unique-identifier="i">` +
		`<opf:metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>T</dc:title></opf:metadata>` +
		`<opf:manifest><opf:item id="a" href="text/a.xhtml" media-type="application/xhtml+xml"/></opf:manifest>` +
		`<opf:spine><opf:itemref idref="a"/></opf:spine></opf:package>`
	bookStart = "<?xml version=\"1.0\"?>\r\n<html " +
		"xmlns=\"http://www.w3.org/1999/xhtml\"><head><title>Mik</title></head><body>\r\n"
	bookOne = "<h2>Mik</h2><p>Said <a href=\"b\">Mik</a>, Mikado &amp; <i>Mik</i>; Mik again. Dawn<br/>rose.</p>\r\n"
	bookTwo = "<h2>Two</h2><p>Mik is the King.</p></body></html>"
)

// bookFile writes an EPUB with one document of two chapters, and returns its path and the codex of its story.
func bookFile(t *testing.T) *exporters.Codex {
	t.Helper()
	path := filepath.Join(t.TempDir(), "book.epub")
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	for _, f := range [][2]string{
		{"mimetype", "application/epub+zip"},
		{"META-INF/container.xml", bookContainer},
		{"OEBPS/content.opf", bookPackage},
		{"OEBPS/text/a.xhtml", bookStart + bookOne + bookTwo},
		{"OEBPS/style.css", "p { margin: 0 }"},
	} {
		w, err := archive.Create(f[0])
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), os.WriteFile(path, file.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	at := annotator.PlaceAt
	doc := exporters.Build(exporters.Story{Title: "T", Scenes: 2}, []annotator.Entry{
		{
			ID: 1, Term: "Mik", Status: annotator.Confirmed, First: at(1, 0),
			Aliases: []annotator.Alias{{Name: "Mik", From: at(1, 0)}, {Name: "the King", From: at(2, 0)}},
			Claims: []annotator.Claim{
				{ID: 1, Text: "He is a <cook>.", From: at(1, 0), Until: at(2, 0), Kind: annotator.Narrated},
				{ID: 2, Text: "He is the [[King]].", From: at(2, 0), Kind: annotator.Narrated},
			},
		},
		{ID: 2, Term: "Dawn", Status: annotator.Confirmed, First: at(1, 0)},
	}, position)
	lines := func(s string) int64 { return int64(len(strings.ReplaceAll(s, "\r\n", "\n"))) }
	mention := func(entry int64, start, end int) exporters.Mention {
		return exporters.Mention{Entry: entry, Start: start, End: end}
	}
	post := func(id int64, body string, offset int64) []exporters.Post {
		return []exporters.Post{{
			Post: annotator.Post{ID: id, Thread: id, Body: body}, Place: at(annotator.Order(id), 0), Scene: int(id),
			Document: "OEBPS/text/a.xhtml", Offset: offset,
		}}
	}
	return &exporters.Codex{
		Document: &doc, History: historyOf(&doc), Scenes: someScenes(), Book: path,
		Text: &storyOf{
			threads: []exporters.Thread{{ID: 1, Title: "One & <1>"}, {ID: 2, Title: "Two"}},
			posts: map[int64][]exporters.Post{
				1: post(1, "Said Mik, Mikado & Mik; Mik again. Dawn rose.", lines(bookStart)+4),
				2: post(2, "Mik is the King.", lines(bookStart+bookOne)+4),
			}, mentions: map[annotator.Place][]exporters.Mention{
				at(1, 0): {mention(1, 5, 8), mention(2, 35, 39)},
				at(2, 0): {mention(1, 0, 3), mention(1, 7, 15)},
			},
		},
	}
}

func TestBookWithNotes(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	var names []string
	for _, f := range unzip(t, write(t, "epub", bookFile(t))) {
		files[f.Name] = string(f.Data)
		names = append(names, f.Name)
	}
	want := []string{
		"mimetype", "META-INF/container.xml", "OEBPS/text/a.xhtml", "OEBPS/style.css",
		"OEBPS/codex/notes-0001.xhtml", "OEBPS/codex/notes-0002.xhtml", "OEBPS/content.opf",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	// The first scene of a chapter has the chapter's number.
	link := func(chapter, entry, name string) string {
		return `<a xmlns:epub="http://www.idpf.org/2007/ops" epub:type="noteref" role="doc-noteref" ` +
			`href="../codex/notes-000` + chapter + `.xhtml#e` + entry + `-` + chapter + `">` + name + `</a>`
	}
	text := bookStart + strings.Replace(strings.Replace(bookOne, "<i>Mik</i>", "<i>"+link("1", "1", "Mik")+"</i>", 1),
		"Dawn", link("1", "2", "Dawn"), 1) +
		strings.Replace(bookTwo, "<p>Mik", "<p>"+link("2", "1", "Mik"), 1)
	if diff := cmp.Diff(text, files["OEBPS/text/a.xhtml"]); diff != "" {
		t.Error(diff)
	}
	if notes := files["OEBPS/codex/notes-0001.xhtml"]; !strings.Contains(notes, "<b>Mik</b>") ||
		!strings.Contains(notes, "He is a &lt;cook&gt;.") || strings.Contains(notes, "King") {
		t.Errorf("the notes of the first chapter: %s", notes)
	}
	if notes := files["OEBPS/codex/notes-0002.xhtml"]; !strings.Contains(notes, "<b>Mik</b></p><p>He is the King.") {
		t.Errorf("the notes of the second chapter: %s", notes)
	}
	for _, part := range []string{`<opf:item id="codex-notes-2" href="codex/notes-0002.xhtml" ` +
		`media-type="application/xhtml+xml"/></opf:manifest>`, `<opf:itemref idref="codex-notes-2" linear="no"/>` +
		`</opf:spine>`} {
		if !strings.Contains(files["OEBPS/content.opf"], part) {
			t.Errorf("no %s in %s", part, files["OEBPS/content.opf"])
		}
	}
}

func TestBookThatIsNotTheSource(t *testing.T) {
	t.Parallel()
	codex := bookFile(t)
	posts := codex.Text.(*storyOf).posts
	posts[1][0].Document = "OEBPS/other.xhtml"
	format := named(t, "epub")
	if err := format.WriteOne(t.Context(), &bytes.Buffer{}, codex); !errors.Is(err, annotator.Misused) {
		t.Errorf("another book: %v", err)
	}
	codex.Book += ".gone"
	if err := format.WriteOne(t.Context(), &bytes.Buffer{}, codex); !errors.Is(err, annotator.Misused) {
		t.Errorf("no book: %v", err)
	}
}

// TestNoLinkInACharacterReference: a name within a character reference is not linked.
func TestNoLinkInACharacterReference(t *testing.T) {
	t.Parallel()
	names := map[string]int64{"39": 1, "amp": 2, "x2019": 3, "T": 4}
	for text, want := range map[string]string{
		"Cell &#39;39&#39; &#39":      "Cell &#39;[39]&#39; &#39",
		"A&amp;T &amp amp &#x2019;x":  "A&amp;[T] &amp [amp] &#x2019;x",
		"&39 39 & 39":                 "&39 [39] & 39",
		"T&#x2019;s &x2019; & x2019&": "[T]&#x2019;s &x2019; & [x2019]&",
	} {
		linked := exporters.LinkDocument([]byte("<body><p>"+text+"</p>"), names)
		got := regexp.MustCompile(`<a [^>]*>([^<]*)</a>`).ReplaceAllString(string(linked), "[$1]")
		if got != "<body><p>"+want+"</p>" {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestLinksChangeNoText: without the links, the bytes of any document are unchanged. No link is inside a link.
func TestLinksChangeNoText(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(
		`<a xmlns:epub="[^"]*" epub:type="noteref" role="doc-noteref" href="[^"]*">(Mik|Dawn|39|amp)</a>`)
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{
			"Mik", "Dawn", " ", "<p>", "</p>", "<a href='x'>", "</a>", "<b title=\"Mik\">", "<!-- Mik -->",
			"<![CDATA[Mik]]>", "&amp;", "<h1>", "</h1>", "<script>Mik", "</script>",
			"<body>", "&#39;", "&amp", "39", "é", "\r\n", "<", "<Mik", "\x00", "<br/>", "x",
		})).Draw(t, "parts")
		text := strings.Join(parts, "")
		linked := exporters.LinkDocument([]byte(text), map[string]int64{"Mik": 1, "Dawn": 2, "39": 3, "amp": 4})
		if got := link.ReplaceAllString(string(linked), "$1"); got != text {
			t.Fatalf("%q became %q", text, got)
		}
		for _, a := range elements(t, linked, atom.A) {
			if attribute(a, "role") != "" && len(link.FindAll(linked, -1)) > 4 {
				t.Fatalf("%q has a name twice", linked)
			}
		}
	})
}

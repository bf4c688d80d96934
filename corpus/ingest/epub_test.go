package ingest_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus/ingest"
)

// entry is a file of an archive.
type entry struct{ name, content string }

const container = `<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">
	<rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`

// makeZip packs the entries, those with names that say so without compression.
func makeZip(t testing.TB, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		method := zip.Deflate
		if strings.Contains(e.name, "stored") {
			method = zip.Store
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// makeEPUB makes a book of pages in the order given, below OPS. A page called nav.xhtml is the table of contents,
// toc.ncx that of EPUB 2.
func makeEPUB(t testing.TB, pages ...entry) string {
	t.Helper()
	var manifest, spine strings.Builder
	var toc string
	entries := []entry{{"mimetype", "application/epub+zip"}, {"META-INF/container.xml", container}}
	for i, p := range pages {
		kind, properties := "application/xhtml+xml", ""
		switch p.name {
		case "nav.xhtml":
			properties = ` properties="nav"`
		case "toc.ncx":
			kind, toc = "application/x-dtbncx+xml", fmt.Sprintf(` toc="p%d"`, i)
		default:
			fmt.Fprintf(&spine, `<itemref idref="p%d"/>`, i)
		}
		fmt.Fprintf(&manifest, `<item id="p%d" href="%s" media-type="%s"%s/>`, i, p.name, kind, properties)
		entries = append(entries, entry{"OPS/" + p.name, p.content})
	}
	entries = append(entries, entry{
		"OPS/book.opf",
		`<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
		<metadata><dc:title>The Book</dc:title><dc:creator>A. Writer</dc:creator></metadata>
		<manifest>` + manifest.String() + `</manifest><spine` + toc + `>` + spine.String() + `</spine></package>`,
	})
	return makeZip(t, entries...)
}

func page(body string) string {
	return `<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">` +
		`<head><title/><script src="x"/></head><body>` + body + `</body></html>`
}

func nav(list string) string { return page(`<nav epub:type="toc"><ol>` + list + `</ol></nav>`) }

func TestEPUBText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, want string }{
		"paragraphs": {
			"<p>One <i>two</i>\n three.</p><div>Four<p>Five</p>Six</div>",
			"One two three.\n\nFour\n\nFive\n\nSix",
		},
		"line breaks": {"<p>One<br/>two<br/>\n three<br/><br/>four</p>", "One\ntwo\nthree\n\nfour"},
		"scene breaks": {
			"<p>One</p><hr/><p>Two</p><p>* * *</p><p>Three</p>",
			"One\n\n* * *\n\nTwo\n\n* * *\n\nThree",
		},
		"invisible": {
			"<p>co\u00ADop\u200Ber\u2060ate\u00A0&#8212;\u202Fnow&nbsp;&amp; \u200Athen</p>",
			"cooperate \u2014 now & then",
		},
		"notes": {
			`<p>Word<a href="n.xhtml#n1" epub:type="noteref">1</a>, more<sup><a href="#n2">2</a></sup> and<a href="#n3"><sup>*</sup></a> 3<sup>rd</sup>, see <a href="#c4">4</a>.</p><aside epub:type="footnote"><p>Gone.</p></aside>`, "Word, more and 3rd, see 4.",
		},
		"unclosed":     {"<p>One<p>Two<ul><li>Three<li>Four</ul><i>Five", "One\n\nTwo\n\nThree\n\nFour\n\nFive"},
		"crossing":     {"<p><b>One <i>two</b> three</i></p></div></p><p>Four</p>", "One two three\n\nFour"},
		"preformatted": {"<pre>One\n  two</pre><p>Three</p>", "One\ntwo\n\nThree"},
		"table":        {"<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\n\nc"},
		"ruby":         {"<p><ruby>\u6f22<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>\u5b57</p>", "\u6f22\u5b57"},
		"formulas": {
			`<p>Take <math alttext="half"><semantics><mrow><mi>x</mi><mo>=</mo><mfrac><mn>1</mn><mn>2</mn></mfrac></mrow>` +
				`<annotation encoding="application/x-tex">x=\frac12</annotation></semantics></math> of <math><msubsup>` +
				`<mi>a</mi><mn>1</mn><mn>2</mn></msubsup></math>.</p>`, "Take x=1/2 of a_1^2.",
		},
		"self-closing":    {`<p><a id="x"/>One</p><p/><p>Two</p>`, "One\n\nTwo"},
		"heading within":  {"<h2>Title</h2><p>One</p><h3>Part</h3><p>Two</p>", "One\n\n* * *\n\nPart\n\nTwo"},
		"heading of many": {`<hgroup><h2>I</h2><p epub:type="title">Name</p></hgroup><p>One</p>`, "One"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			book := makeEPUB(t, entry{"nav.xhtml", nav(`<li><a href="c.xhtml"><b>I</b>: Start</a></li>`)},
				entry{"c.xhtml", page(c.body)})
			wantScenes(t, importFile(t, "b.epub", book), "= I: Start", c.want)
		})
	}
}

func TestEPUBChapters(t *testing.T) {
	t.Parallel()
	ncx := `<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>
		<navPoint><navLabel><text>First</text></navLabel><content src="a.xhtml"/></navPoint>
		<navPoint><navLabel><text>Second</text></navLabel><content src="c.xhtml#x"/></navPoint></navMap></ncx>`
	for name, c := range map[string]struct {
		pages []entry
		want  string
	}{
		"a file goes on with the last": {
			[]entry{
				{"toc.ncx", ncx},
				{"a.xhtml", page("<p>A.</p>")},
				{"b.xhtml", page("<p>B.</p>")},
				{"c.xhtml", page("<p>C.</p>")},
			},
			"= First|A.\n\nB.|= Second|C.",
		},
		"several in one file": {
			[]entry{
				{
					"nav.xhtml",
					nav(
						`<li><a href="a.xhtml#one">One</a><ol><li><a href="a.xhtml#deep">Deep</a></li></ol></li><li><a href="a.xhtml#two">Two</a></li>`),
				},
				{
					"a.xhtml",
					page(
						`<h2 id="one">1</h2><p>A.</p><h3 id="deep">D</h3><p>B.</p><div ` +
							`id="two"><h2>2</h2><p>C.</p></div>`),
				},
			},
			"= One|A.\n\n* * *\n\nD\n\nB.|= Two|C.",
		},
		"no table of contents": {
			[]entry{{"a.xhtml", page("<h1>One</h1><p>A.</p><h1>Two</h1><p>B.</p>")}, {"b.xhtml", page("<p>C.</p>")}},
			"= One|A.|= Two|B.\n\nC.",
		},
		"a table of parts alone": {
			append([]entry{{
				"nav.xhtml",
				nav(`<li><a href="1.xhtml">Part 1</a></li><li><a href="2.xhtml">Part 2</a></li><li><a href="3.xhtml">Part 3</a></li>`),
			}},
				entry{"1.xhtml", page("<h1>Part 1</h1><h2>Chapter 1</h2><p>A.</p><h2>Chapter 2</h2><p>B.</p>")},
				entry{"2.xhtml", page("<h1>Part 2</h1><h2>Chapter 3</h2><p>C.</p>")},
				entry{"3.xhtml", page("<h1>Part 3</h1><h2>Chapter 4</h2><p>D.</p>")}),
			"= Part 1, Chapter 1|A.|= Part 1, Chapter 2|B.|= Part 2, Chapter 3|C.|= Part 3, Chapter 4|D.",
		},
		"the title of the table in a paragraph": {
			[]entry{
				{
					"nav.xhtml",
					nav(`<li><a href="a.xhtml#x">The Lamp</a></li><li><a href="a.xhtml#y">The Mill</a></li>`),
				},
				{
					"a.xhtml",
					page(`<div id="x"><p>The Lamp</p><p>A.</p></div><div id="y"><p>THE MILL</p><p>B.</p></div>`),
				},
			},
			"= The Lamp|A.|= The Mill|B.",
		},
		"neither table nor headings": {
			[]entry{{"a.xhtml", page("<p>A.</p>")}, {"b.xhtml", page("<p>B.</p>")}},
			"= The Book|A.|= The Book|B.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := importFile(t, "b.epub", makeEPUB(t, c.pages...))
			wantScenes(t, m, strings.Split(c.want, "|")...)
			if m.report.Title != "The Book" || m.report.Author != "A. Writer" || m.report.Format != ingest.EPUB {
				t.Errorf("%+v", m.report)
			}
		})
	}
}

func TestEPUBLeavesOutWhatIsNoStory(t *testing.T) {
	t.Parallel()
	m := importFile(t, "b.epub", makeEPUB(t,
		entry{"titlepage.xhtml", page("<p>The Book</p>")},
		entry{"x1.xhtml", page(`<section epub:type="imprint"><p>Press</p></section>`)},
		entry{"x2.xhtml", page(`<section epub:type="dedication"><p>To you</p></section>`)},
		entry{"part.xhtml", page("<h1>Part I</h1>")},
		entry{"c.xhtml", page(`<p>Story.</p><ol epub:type="endnotes"><li>Note</li></ol>`)},
		entry{"empty.xhtml", page("<img src='x'/>")},
	))
	wantScenes(t, m, "= Part I", "Story.")
	wantLeftOut(t, m,
		"left out: front and back matter (3): titlepage.xhtml, x1.xhtml, x2.xhtml",
		"left out: pages with nothing but a heading (1): part.xhtml",
		"left out: pages without text (1): empty.xhtml")
}

// TestEPUBStopsAtAFileThatCannotBeRead does not import a book without a part of its text. A byte that is no character
// is left out, and counted.
// TestContentsNameWhatIsNoStory: a file is matter if its one entry in the table of contents calls it so. What is called
// notes also looks like notes, and a long text stays.
func TestContentsNameWhatIsNoStory(t *testing.T) {
	t.Parallel()
	const notes = "<p>1. The ford is now a bridge.</p><p>2. He means the other one.</p>"
	m := importFile(t, "b.epub", makeEPUB(t,
		entry{"nav.xhtml", nav(`<li><a href="a.xhtml">Imprint</a></li><li><a href="b.xhtml">The Ford</a></li>` +
			`<li><a href="c.xhtml">Notes</a></li><li><a href="d.xhtml">Dedication</a></li>` +
			`<li><a href="e.xhtml">Endnotes</a></li><li><a href="f.xhtml">Copyright Page</a></li>` +
			`<li><a href="g.xhtml#x">Colophon</a></li>`)},
		entry{"a.xhtml", page("<h2>Imprint</h2><p>This is what the press says.</p>")},
		entry{"b.xhtml", page("<h2>The Ford</h2><p>They crossed it at night.</p>")},
		entry{"c.xhtml", page("<h2>Notes</h2><p>She sang three of them, and then she left.</p>")},
		entry{"d.xhtml", page("<h2>Dedication</h2><p>" + strings.Repeat("The priest spoke for long. ", 101) + "</p>")},
		entry{"e.xhtml", page("<h2>Endnotes</h2>" + notes)},
		entry{"f.xhtml", page("<h2>Rights</h2><p>" + strings.Repeat("You may copy this. ", 120) + "</p>")},
		entry{"g.xhtml", page("<p>So it ended.</p><h2 id='x'>Colophon</h2><p>It was sewn by hand.</p>")},
	))
	scenes := m.scenes(t)
	if len(scenes) != 8 || scenes[0] != "= The Ford" || scenes[2] != "= Notes" || scenes[4] != "= Dedication" {
		t.Errorf("%q", scenes)
	}
	wantLeftOut(t, m, "left out: front and back matter (3): a.xhtml, e.xhtml, f.xhtml")
}

func TestEPUBStopsAtAFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, damaged := range map[string]string{
		"nested too deep":                      page(strings.Repeat("<b>", 600) + "x"),
		"in an encoding that it does not name": `<?xml version="1.0" encoding="utf-8"?><p>` + "\xff\xfe\xfd</p>",
	} {
		_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{"b.epub": makeEPUB(t,
			entry{"a.xhtml", page("<h1>One</h1><p>A.</p>")}, entry{"epilogue.xhtml", damaged})})})
		wantRefused(t, err, annotator.Misused, "OPS/epilogue.xhtml is in the book's reading order and cannot be read: "+
			"it is "+name)
	}
	m := importFile(t, "b.epub", makeEPUB(t, entry{"a.xhtml", page("<h1>One</h1><p>A\x1a.</p>")},
		entry{"b.xhtml", page("<h1>Two</h1><p>B.</p>")}))
	wantScenes(t, m, "= One", "A.", "= Two", "B.")
	wantLeftOut(t, m, "left out: control characters (1): a.xhtml")
}

// S10: names that lead elsewhere are never read, and neither is the second file of a name. A page that does not say its
// encoding is read in the one that is named; what declares one, in that.
func TestEPUBEncoding(t *testing.T) {
	t.Parallel()
	path := files(t, map[string]string{"b.epub": makeEPUB(t,
		entry{"a.xhtml", "<h1>One</h1><p>Caf\xe9.</p>"},
		entry{"b.xhtml", `<?xml version="1.0" encoding="iso-8859-2"?>` +
			"<html><body><h1>Two</h1><p>\xe8</p></body></html>"})})
	m := mustImport(t, ingest.Options{Sources: path, Encoding: "windows-1252"})
	wantScenes(t, m, "= One", "Caf\u00e9.", "= Two", "\u010d")
}

func TestEPUBNames(t *testing.T) {
	t.Parallel()
	opf := `<package><manifest>` +
		`<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="b" href="../../etc/passwd" media-type="application/xhtml+xml"/>` +
		`<item id="c" href="/etc/passwd" media-type="application/xhtml+xml"/><item id="d" href="file:///etc/passwd" media-type="application/xhtml+xml"/>` +
		`</manifest><spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/><itemref idref="d"/></spine></package>`
	m := importFile(t, "b.epub", makeZip(t,
		entry{"META-INF/container.xml", container}, entry{"OPS/book.opf", opf},
		entry{"OPS/a.xhtml", page("<p>Good.</p>")},
		entry{"OPS/a.xhtml", page("<p>Second.</p>")}, entry{"../evil", "x"}, entry{"/abs", "x"}, entry{`C:\x`, "x"},
		entry{"nul\x00", "x"},
	))
	wantScenes(t, m, "= b", "Good.")
	wantLeftOut(t, m,
		`left out: archive files with the name of an earlier one (1): "OPS/a.xhtml"`,
		`left out: archive files with unsafe names (4): "../evil", "/abs", "C:\\x", "nul\x00"`,
		"left out: a link out of the archive (3): ../../etc/passwd, /etc/passwd, file:///etc/passwd",
		"left out: chapters that the package does not list (3): b, c, d")
}

// S11: what unpacks to far more than it is, is refused, and so is an archive of too many files.
func TestEPUBBombs(t *testing.T) {
	t.Parallel()
	bomb := makeEPUB(t, entry{"a.xhtml", page("<p>" + strings.Repeat("\x20", 40<<20) + "</p>")})
	_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{"b.epub": bomb})})
	wantRefused(t, err, annotator.Misused, "unpacks to more than it may")
	many := make([]entry, 20_001)
	for i := range many {
		many[i].name = strconv.Itoa(i)
	}
	_, err = tryImport(t, ingest.Options{Sources: files(t, map[string]string{"b.epub": makeZip(t, many...)})})
	wantRefused(t, err, annotator.Misused, "20001 files")
}

// TestEPUBRepeats: a file that the reading order names again is read once, under any id. A reading order with more
// files than an archive may have is refused.
func TestEPUBRepeats(t *testing.T) {
	t.Parallel()
	book := func(refs int) string {
		return makeZip(t, entry{"META-INF/container.xml", container},
			entry{"OPS/a.xhtml", page("<h1>I</h1><p>Night fell.</p>")},
			entry{"OPS/b.xhtml", page("<h1>II</h1><p>It was dark.</p>")},
			entry{
				"OPS/book.opf",
				`<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>` +
					`<item id="again" href="./a.xhtml" media-type="application/xhtml+xml"/><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/></manifest>` +
					`<spine><itemref idref="a"/><itemref idref="again"/>` +
					strings.Repeat(`<itemref idref="a"/>`, refs) +
					`<itemref idref="b"/></spine></package>`,
			})
	}
	m := importFile(t, "b.epub", book(50))
	wantScenes(t, m, "= I", "Night fell.", "= II", "It was dark.")
	wantLeftOut(t, m, "left out: files that the reading order names again (51): a.xhtml, a.xhtml, a.xhtml, a.xhtml, "+
		"a.xhtml, ...")
	_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{"b.epub": book(20_000)})})
	wantRefused(t, err, annotator.Misused, "its reading order has 20003 files, more than 20000")
}

// TestMarkdownOfMarks: a document of nothing but marks is refused before a tree is made of it.
func TestMarkdownOfMarks(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{"<b>", "*a*", "[", "`"} {
		text := "# I\n\nNight fell.\n\n" + strings.Repeat(mark, 1<<19+1) + "\n"
		_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{"b.md": text})})
		wantRefused(t, err, annotator.Misused, "marks, more than 524288")
	}
}

// S13: two million levels of nesting are refused, so are many in the package file, and no entity is expanded.
// Were the cost of a level to grow with its depth, the test would not come to its end.
func TestEPUBNesting(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<div>", 2_000_000)
	book := makeEPUB(t, entry{"stored.xhtml", page(deep)}, entry{"b.xhtml", page("<p>Good.</p>")})
	_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{"b.epub": book})})
	wantRefused(t, err, annotator.Misused, "OPS/stored.xhtml is in the book's reading order and cannot be read")
	opf := makeZip(t, entry{"META-INF/container.xml", container}, entry{"OPS/book.opf", strings.Repeat("<a>", 50_000)})
	_, err = tryImport(t, ingest.Options{Sources: files(t, map[string]string{"b.epub": opf})})
	wantRefused(t, err, annotator.Misused, "nested too deep")
	lol := makeZip(t,
		entry{"META-INF/container.xml", `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>`})
	_, err = tryImport(t, ingest.Options{Sources: files(t, map[string]string{"b.epub": lol})})
	wantRefused(t, err, annotator.Misused, "entity")
}

func TestEPUBEncryption(t *testing.T) {
	t.Parallel()
	book := []entry{
		{"META-INF/container.xml", container},
		{
			"OPS/book.opf",
			`<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>`,
		},
		{"OPS/a.xhtml", page("<p>Good.</p>")},
	}
	encryption := func(name string) entry {
		return entry{"META-INF/encryption.xml", `<encryption><EncryptedData><CipherData><CipherReference URI="` + name +
			`"/></CipherData></EncryptedData></encryption>`}
	}
	wantScenes(t, importFile(t, "b.epub", makeZip(t, append(slices.Clone(book), encryption("OPS/font.otf"))...)), "= b",
		"Good.")
	locked := makeZip(t, append(slices.Clone(book), encryption("OPS/a.xhtml"))...)
	_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{"b.epub": locked})})
	wantRefused(t, err, annotator.Misused, "DRM")
}

func FuzzEPUB(f *testing.F) {
	f.Add([]byte(makeEPUB(f, entry{"nav.xhtml", nav(`<li><a href="a.xhtml#x">One</a></li>`)},
		entry{"a.xhtml", page("<p id='x'>A.<br/>b<sup>1</sup></p>")})))
	f.Add([]byte(makeZip(f, entry{"META-INF/container.xml", container}, entry{"../x", ""})))
	f.Fuzz(func(t *testing.T, data []byte) {
		wantClean(t, ingest.BookScenes(t.Context(), data))
	})
}

func FuzzPage(f *testing.F) {
	f.Add(page("<h1>T</h1><p>One<br/>two<a href='#1'><sup>1</sup></a></p><hr/><table><tr><td>a<td>b</table>"))
	f.Add("<p>a<p/><title/>b<pre>\n\n</pre></i></body>")
	f.Fuzz(func(t *testing.T, document string) {
		wantClean(t, ingest.PageTexts(document))
	})
}

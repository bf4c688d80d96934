package ingest_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus/ingest"
)

const wordRelations = `<Relationships>` +
	`<Relationship Type="x/officeDocument" Target="/word/document.xml"/></Relationships>`

// makeDOCX makes a Word document of a body, with its styles and other parts.
func makeDOCX(t testing.TB, body string, others ...entry) string {
	t.Helper()
	var list strings.Builder
	for _, e := range others {
		name := strings.TrimSuffix(e.name, ".xml")
		list.WriteString(`<Relationship Type="x/` + name + `" Target="` + e.name + `"/>`)
	}
	all := []entry{
		{"[Content_Types].xml", "<Types/>"},
		{"_rels/.rels", wordRelations},
		{"word/_rels/document.xml.rels", "<Relationships>" + list.String() + "</Relationships>"},
		{"word/document.xml", `<w:document xmlns:w="w"><w:body>` + body + `</w:body></w:document>`},
		{"docProps/core.xml", `<p xmlns:dc="dc"><dc:title>The Book</dc:title><dc:creator>A. Writer</dc:creator></p>`},
	}
	for _, e := range others {
		all = append(all, entry{"word/" + e.name, `<w:x xmlns:w="w">` + e.content + `</w:x>`})
	}
	return makeZip(t, all...)
}

// par is a paragraph of Word, perhaps with a style.
func par(style, text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

const wordStyles = `<w:style w:styleId="U1"><w:name w:val="heading 1"/></w:style>` +
	`<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="U1"/></w:style>` +
	`<w:style w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style>` +
	`<w:style w:styleId="V1"><w:name w:val="toc 1"/></w:style>`

func TestDOCX(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body   string
		others []entry
		want   string
		parts  string
	}{
		"styles": {
			par("V1", "One 1") + par("U1", "One") + par("Loop", "A.") + par("Mine", "Two") + par("", "B."), nil,
			"= One|A.|= Two|B.", "contents: 2 words, One 1",
		},
		"a drop cap, lines, a text box": {
			`<w:p><w:pPr><w:framePr w:dropCap="drop"/></w:pPr><w:r><w:t>I</w:t></w:r></w:p>` +
				`<w:p><w:r><w:t xml:space="preserve">t is. </w:t><w:br/><w:t>So.</w:t></w:r></w:p>` +
				`<w:p><w:r><w:t>Outer</w:t>` +
				`<w:pict><w:txbxContent>` + par("", "Inner") + `</w:txbxContent></w:pict></w:r></w:p>`,
			nil, "= The Book|It is.\nSo.\n\nInner\n\nOuter", "",
		},
		"changes": {
			`<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>A</w:t></w:r></w:p>` +
				`<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>b.</w:t></w:r></w:ins></w:p>` +
				`<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r><w:r><w:t>C.</w:t></w:r></w:p>`,
			nil, "= The Book|Ab.\n\nC.", "deletions: 1 words, gone|hidden: 1 words, unseen",
		},
		"notes, comments, running heads": {
			`<w:p><w:r><w:t>A</w:t><w:footnoteReference w:id="2"/><w:t>b.</w:t></w:r></w:p>`,
			[]entry{
				{
					"footnotes.xml",
					`<w:footnote w:id="2">` + par("", "Note.") + `</w:footnote>` +
						`<w:footnote w:id="3">` + par("", "Lost.") + `</w:footnote>`,
				},
				{"header.xml", par("", "Head")},
				{"comments.xml", `<w:comment>` + par("", "Why?") + `</w:comment>`},
			},
			"= The Book|Ab.",
			"notes: 2 words, Note.|running-heads: 1 words, Head|comments: 1 words, Why?",
		},
		"blank paragraphs part scenes where they are few": {
			strings.Repeat(par("", "A."), 5) + "<w:p/>" + strings.Repeat(par("", "B."), 5), nil,
			"= The Book|A.\n\nA.\n\nA.\n\nA.\n\nA.\n\n* * *\n\nB.\n\nB.\n\nB.\n\nB.\n\nB.", "",
		},
		"and are space where they are many": {
			par("", "A.") + "<w:p/>" + par("", "B.") + "<w:p/>" + par("", "C."), nil, "= The Book|A.\n\nB.\n\nC.", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := importFile(t, "b.docx", makeDOCX(t, c.body, append(c.others, entry{"styles.xml", wordStyles})...))
			wantScenes(t, m, strings.Split(c.want, "|")...)
			if m.report.Format != ingest.DOCX || m.report.Title != "The Book" || m.report.Author != "A. Writer" {
				t.Errorf("%+v", m.report)
			}
			if got := strings.Join(m.parts(), "|"); got != c.parts {
				t.Errorf("left out %q, want %q", got, c.parts)
			}
		})
	}
}

const flatHead = `<office:document xmlns:office="o" xmlns:text="t" xmlns:style="s" xmlns:fo="f" xmlns:table="b" xmlns:dc="d">`

// odtBody is an OpenDocument text with what is left out of one.
const odtBody = `<office:meta><dc:title>The Book</dc:title></office:meta>` +
	`<office:automatic-styles><style:style style:name="P1"><style:text-properties fo:font-weight="bold"/></style:style>` +
	`<style:style style:name="H"><style:text-properties text:display="none"/></style:style></office:automatic-styles>` +
	`<office:body><office:text><text:tracked-changes><text:p>gone</text:p></text:tracked-changes>` +
	`<text:table-of-content><text:p>One 1</text:p></text:table-of-content>` +
	"<text:h text:outline-level=\"1\">One</text:h><text:p>A  <text:s/>b\n c.<text:note>" +
	"<text:note-citation>1</text:note-citation>" +
	`<text:note-body><text:p>Note.</text:p></text:note-body></text:note> D<text:line-break/>E</text:p>` +
	`<text:h text:outline-level="1">Two</text:h><text:p>F<office:annotation><dc:creator>X</dc:creator>` +
	`<text:p>Why?</text:p></office:annotation>g<text:span text:style-name="H">unseen</text:span></text:p>` +
	`<table:table><table:table-row><table:table-cell><text:p>Cell</text:p></table:table-cell></table:table-row></table:table>` +
	`</office:text></office:body>`

func TestODT(t *testing.T) {
	t.Parallel()
	packed := makeZip(t, entry{"mimetype", "application/vnd.oasis.opendocument.text"},
		entry{"META-INF/manifest.xml", "<manifest/>"},
		entry{"meta.xml", flatHead + `<dc:title>The Book</dc:title></office:document>`},
		entry{"styles.xml", flatHead + `<style:header><text:p>Head</text:p></style:header></office:document>`},
		entry{"content.xml", flatHead + odtBody + "</office:document>"})
	for name, source := range map[string]string{
		"b.odt":  packed,
		"b.fodt": `<?xml version="1.0"?>` + flatHead + odtBody + "</office:document>",
	} {
		m := importFile(t, name, source)
		wantScenes(t, m, "= One", "A b c. D\nE", "= Two", "Fg\n\nCell")
		if m.report.Format != ingest.ODT || m.report.Title != "The Book" {
			t.Errorf("%+v", m.report)
		}
		want := "deletions: 1 words, gone|contents: 2 words, One 1|notes: 1 words, Note.|hidden: 1 words, unseen|" +
			"comments: 1 words, Why?"
		if name == "b.odt" {
			want = "running-heads: 1 words, Head|" + want
		}
		if got := strings.Join(m.parts(), "|"); got != want {
			t.Errorf("%s: left out %q, want %q", name, got, want)
		}
	}
}

// TestODTPictures does not take the description of a picture for text of the heading that it stands in, unless the
// heading has no other.
func TestODTPictures(t *testing.T) {
	t.Parallel()
	picture := func(what string) string {
		return `<draw:frame xmlns:draw="d" xmlns:svg="urn:svg-compatible"><svg:title>A drawing</svg:title>` +
			`<svg:desc>` + what + `</svg:desc></draw:frame>`
	}
	heading := func(content string) string { return `<text:h text:outline-level="1">` + content + `</text:h>` }
	m := importFile(t, "b.fodt", flatHead+`<office:body><office:text>`+picture("A page")+
		heading(picture("A vine")+"One")+`<text:p>A.`+picture("A boat")+`</text:p>`+
		heading(picture("Two &amp; more"))+`<text:p>B.</text:p></office:text></office:body></office:document>`)
	wantScenes(t, m, "= One", "A.", "= Two & more", "B.")
}

const rtfHead = `{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}{\f1\fcharset204 Times;}}` +
	`{\stylesheet{\s1\outlinelevel0 Any;}{\s2 heading 1;}{\s3 toc 1;}}{\info{\title The Book}{\author A. Writer}}`

func TestRTF(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, want, parts string }{
		"styles": {
			`\pard\s3 One 1\par\pard\s1 One\par\pard A.\par\pard\s2 Two\par\pard B.\par`,
			"= One|A.|= Two|B.", "contents: 2 words, One 1",
		},
		"characters": {
			`\pard caf\'e9 \u8212?\u8220\'93x\ldblquote\f1\'cf\f0 \{\u-10179?\u-8704?\line z\par`,
			"= The Book|café —“x“П{\U0001F600\nz", "",
		},
		"what is left out": {
			`{\header Head\par}\pard A{\footnote Note.}b{\deleted gone}{\v unseen}{\*\annotation Why?}.\par{\*\unknown x}`,
			"= The Book|Ab.",
			"running-heads: 1 words, Head|deletions: 1 words, gone|hidden: 1 words, unseen|" +
				"notes: 1 words, Note.|comments: 1 words, Why?",
		},
		"bytes of a picture": {
			`\pard A{\pict\jpegblip\bin5 {{{\x}}.\par B.\par`, "= The Book|A.\n\nB.", "",
		},
		"a field and a text box": {
			`\pard See {\field{\*\fldinst HYPERLINK}{\fldrslt here}}.\par{\shp{\*\shpinst{\sp{\sn a}}{\shptxt Box\par}}}`,
			"= The Book|See here.\n\nBox", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := importFile(t, "b.rtf", rtfHead+c.body+"}")
			wantScenes(t, m, strings.Split(c.want, "|")...)
			if m.report.Format != ingest.RTF || m.report.Title != "The Book" || m.report.Author != "A. Writer" {
				t.Errorf("%+v", m.report)
			}
			if got := strings.Join(m.parts(), "|"); got != c.parts {
				t.Errorf("left out %q, want %q", got, c.parts)
			}
		})
	}
}

// TestPartOfRTF reads what has no beginning of a document but begins as a paragraph of one.
func TestPartOfRTF(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`{\pard \ql {\b Caf\'e9} One\par}` + "\n" + `{\pard Two\par}`, "\n" + `\pard {\b Caf\u233?} One\par Two\par`,
	} {
		m := importFile(t, "b.rtf", source)
		wantScenes(t, m, "= b", "Café One\n\nTwo")
		if m.report.Format != ingest.RTF {
			t.Error(m.report.Format)
		}
	}
}

func FuzzRTF(f *testing.F) {
	f.Add(rtfHead + `\pard\s1 One\par A{\footnote N}\u8220?\'e9{\*\x{\shptxt b\par}}\par}`)
	f.Fuzz(func(t *testing.T, source string) { wantFuzzedPage(t, ingest.RTF, source) })
}

const teiText = `<?xml version="1.0"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>` +
	`<title>The Book</title><author>A. Writer</author></titleStmt></fileDesc></teiHeader><text>` +
	`<front><titlePage><titlePart>The Book</titlePart></titlePage></front><body><div type="chapter"><head>One</head>` +
	"<p>A<note>Note.</note>\n b.<pb n=\"2\"/></p><lg><l>C</l><l>d.</l></lg></div>" +
	`<div type="chapter"><head>Two</head><p>E <choice><sic>fg</sic><corr>f</corr></choice>.<fw>Head</fw></p>` +
	`<milestone unit="section"/><sp><speaker>G</speaker><p>H.</p></sp></div></body></text></TEI>`

func TestTEI(t *testing.T) {
	t.Parallel()
	m := importFile(t, "b.xml", teiText)
	wantScenes(t, m, "= One", "A b.\n\nC\nd.", "= Two", "E f.\n\n* * *\n\nG\n\nH.")
	wantParts(t, m, "title-page: 2 words, The Book", "notes: 1 words, Note.", "hidden: 1 words, fg",
		"running-heads: 1 words, Head")
	if m.report.Format != ingest.TEI || m.report.Title != "The Book" || m.report.Author != "A. Writer" {
		t.Errorf("%+v", m.report)
	}
}

func FuzzTEI(f *testing.F) {
	f.Add(teiText)
	f.Fuzz(func(t *testing.T, source string) { wantFuzzedPage(t, ingest.TEI, source) })
}

func TestChat(t *testing.T) {
	t.Parallel()
	m := importFile(t, "Ada - 1.jsonl", `{"user_name":"You","character_name":"Ada","create_date":"x","chat_metadata":{}}
{"name":"Ada","is_user":false,"is_system":false,"send_date":"July 1, 2024 8:00pm","mes":"It begins."}
{"name":"System","is_system":true,"mes":"Connected."}
{"name":"You","is_user":true,"is_system":true,"send_date":"2024-07-01T20:00:00Z","mes":"It goes on."}
{"name":"Bo","is_user":false,"mes":"It ends.","swipes":["Other.","It ends."],"swipe_id":1}
`)
	wantScenes(t, m, "= Ada - 1", "It begins.", "It goes on.", "It ends.")
	if m.report.StoryPosts != 3 || m.report.Posts != 4 || len(m.report.LeftOut) > 0 {
		t.Errorf("%+v", m.report)
	}
}

// tarOf packs files.
func tarOf(t testing.TB, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if err := w.WriteHeader(&tar.Header{Name: e.name, Size: int64(len(e.content)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// oldTar makes headers of a tar archive as those of the seventh edition of Unix, which have no name of their format.
func oldTar(archive string) string {
	b := []byte(archive)
	for at := 0; at+512 <= len(b); at += 512 {
		header := b[at : at+512]
		if string(header[257:262]) != "ustar" {
			continue
		}
		clear(header[257:])
		copy(header[148:], "        ")
		sum := 0
		for _, c := range header {
			sum += int(c)
		}
		copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
	}
	return string(b)
}

func gzipOf(t testing.TB, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestArchives(t *testing.T) {
	t.Parallel()
	chapters := []entry{{"s/ch10.txt", "Ten.\n"}, {"s/ch2.md", "# Two\n\nIt is.\n"}, {"s/x.png", "\x89PNG"}}
	word := entry{"s/ch11.docx", makeDOCX(t, par("", "Eleven."))}
	for name, c := range map[string]struct {
		source string
		want   []string
	}{
		"a.zip": {
			makeZip(t, append(chapters, word)...),
			[]string{"= Two", "It is.", "= ch10", "Ten.", "= The Book", "Eleven."},
		},
		"a.tar":    {tarOf(t, chapters...), []string{"= Two", "It is.", "= ch10", "Ten."}},
		"a.tar.gz": {gzipOf(t, tarOf(t, chapters...)), []string{"= Two", "It is.", "= ch10", "Ten."}},
		"o.zip": {
			makeZip(t, entry{"s/a.txt", "One.\n"}, entry{"s/b.odt", makeZip(t,
				entry{"META-INF/manifest.xml", "<manifest/>"},
				entry{"content.xml", flatHead + odtBody + "</office:document>"})}),
			[]string{"= a", "One.", "= One", "A b c. D\nE\n\n* * *\n\nTwo\n\nFg\n\nCell"},
		},
		"v7.tar":    {oldTar(tarOf(t, chapters...)), []string{"= Two", "It is.", "= ch10", "Ten."}},
		"v7.tgz":    {gzipOf(t, oldTar(tarOf(t, chapters...))), []string{"= Two", "It is.", "= ch10", "Ten."}},
		"b.txt.gz":  {gzipOf(t, twoChapters), []string{"= CHAPTER I", "It begins.", "= CHAPTER II", "It ends."}},
		"b.epub.gz": {gzipOf(t, makeEPUB(t, entry{"c.xhtml", page("<h1>One</h1><p>A.</p>")})), []string{"= One", "A."}},
		"b.tgz":     {gzipOf(t, tarOf(t, entry{"p.jsonl", `{"body":"A."}`})), []string{"= ", "A."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantScenes(t, importFile(t, name, c.source), c.want...)
		})
	}
	for name, c := range map[string]struct{ source, says string }{
		"a.gz":  {gzipOf(t, strings.Repeat("a", 3<<20)), "unpacks to more"},
		"b.gz":  {gzipOf(t, twoChapters)[:30], "damaged archive"},
		"c.tar": {tarOf(t, entry{"../x.txt", "A."}), "no files to import"},
		"d.zip": {makeZip(t, entry{"a.png", "\x89PNG"}), "no files to import"},
	} {
		_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{name: c.source})})
		wantRefused(t, err, annotator.Misused, c.says)
	}
}

// TestArchiveWithFilesThatCannotBeRead reads the other stories. A chapter that would be missed ends the import.
func TestArchiveWithFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	damaged := func(archive string) string { // the text of the file that is stored, not packed
		return strings.Replace(archive, "The lamp was out.", "The lamp was on!!", 1)
	}
	locked := entry{"b.odt", makeZip(t, entry{"META-INF/manifest.xml", "<manifest><encryption-data/></manifest>"},
		entry{"content.xml", "x"})}
	m := importFile(t, "a.zip", damaged(makeZip(t, entry{"a.txt", "One.\n"}, locked, entry{"c.rtf", `{\rtf1 Two\par}`},
		entry{"d/stored.txt", "The lamp was out."}, entry{"no 9.epub", "PK\x03\x04"})))
	wantScenes(t, m, "= a", "One.", "= c", "Two")
	wantLeftOut(t, m, "left out: files that cannot be read (3): d/stored.txt (damaged in the archive), b.odt (it is "+
		"protected by a password), no 9.epub (it is a damaged zip archive: zip: not a valid zip file)")
	if a := m.report.Account; m.report.Unread != 3 || a.Source != a.Kept {
		t.Errorf("%+v", m.report)
	}
	for says, archive := range map[string]string{
		"ch2.odt: it is protected": makeZip(t, entry{"ch1.txt", "One.\n"}, entry{"ch2.odt", locked.content},
			entry{"ch3.odt", locked.content}),
		"stored2.txt is one of the story's files and cannot be read: it is damaged": damaged(makeZip(t,
			entry{"stored1.txt", "One.\n"}, entry{"stored2.txt", "The lamp was out."})),
		"one.odt: it is protected": makeZip(t, entry{"one.odt", locked.content}),
		"found no story in":        makeZip(t, entry{"a.odt", locked.content}, entry{"b.odt", locked.content}),
	} {
		_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{"a.zip": archive})})
		wantRefused(t, err, annotator.Misused, says)
	}
}

func FuzzArchive(f *testing.F) {
	f.Add([]byte(gzipOf(f, tarOf(f, entry{"a.txt", "A."}))))
	f.Add([]byte(tarOf(f, entry{"a.txt", "A."}, entry{"../b.txt", "B."})))
	f.Add([]byte(makeZip(f, entry{"a.txt", "A."})))
	f.Fuzz(func(t *testing.T, data []byte) {
		names, size := ingest.Members(data)
		if size > 1<<20+1100*len(data) {
			t.Errorf("%d bytes became %d", len(data), size)
		}
		for _, name := range names {
			if strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") {
				t.Errorf("%q leads out of the archive", name)
			}
		}
	})
}

// TestWikiPage has what is around the text on a page of Wikisource, and TestReaderPage on one of Wattpad.
func TestWikiPage(t *testing.T) {
	t.Parallel()
	m := importFile(t, "b.html", `<!DOCTYPE html><html><head><title>One - Wikisource</title></head><body><h1>Uno</h1>`+
		`<div id="siteSub">From Wikisource</div><div class="mw-content-ltr mw-parser-output">`+
		`<div class="ws-header wst-header ws-noexport noprint">Back <a href="x">Two</a></div>`+
		`<div class="mw-heading mw-heading2"><h2>Chapter 1</h2><span class="mw-editsection">[edit]</span></div>`+
		`<p>`+strings.Repeat("It is told. ", 20)+`A<sup class="reference"><a href="#cite_note-1">[1]</a></sup> b.</p>`+
		`<p><span class="pagenum ws-pagenum"><span class="pagenum-inner ws-noexport">7</span></span>C.</p>`+
		`<ol class="references"><li>Note.</li></ol><div class="licenseContainer">Public domain.</div></div>`+
		`<div id="catlinks">Category: Stories</div></body></html>`)
	wantScenes(t, m, "= Chapter 1", strings.Repeat("It is told. ", 20)+"A b.\n\nC.")
	wantParts(t, m, "around-story: 4 words, From Wikisource", "hidden: 3 words, Back", "note-marks: 1 words, [1]",
		"page-marks: 1 words, 7",
		"notes: 1 words, Note.", "licence: 2 words, Public domain.", "headings: 1 words, Uno")
}

func TestReaderPage(t *testing.T) {
	t.Parallel()
	m := importFile(t, "b.html", `<!DOCTYPE html><html><body><nav>Home</nav>`+
		`<div class="part-restricted"><h1>Chapter 1</h1>`+
		`<div class="panel panel-reading"><pre><p data-p-id="1">A long one.</p><p data-p-id="2">B.</p></pre></div>`+
		`<div class="comments">Nice!</div></div></body></html>`)
	wantScenes(t, m, "= Chapter 1", "A long one.\n\nB.")
	wantParts(t, m, "navigation: 1 words, Home", "around-story: 1 words, Nice!")
}

func TestKindle(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/book.azw3")
	if err != nil {
		t.Fatal(err)
	}
	m := importFile(t, "b.azw3", string(data))
	wantScenes(t, m, "= One", "A.")
	if m.report.Format != ingest.MOBI || m.report.Title != "Title" {
		t.Errorf("%+v", m.report)
	}
}

func TestDamagedDocuments(t *testing.T) {
	t.Parallel()
	locked := makeZip(t, entry{"META-INF/manifest.xml", "<m><file-entry><encryption-data/></file-entry></m>"},
		entry{"content.xml", "x"})
	protected := "The Book" + strings.Repeat("\x00", 52) + "BOOKMOBI" + strings.Repeat("\x00", 8) + "\x00\x01" +
		"\x00\x00\x00\x56\x00\x00\x00\x00" + strings.Repeat("\x00", 12) + "\x00\x02" + strings.Repeat("\x00", 20)
	for name, c := range map[string]struct{ source, says string }{
		"a.docx": {makeDOCX(t, "<w:p>"), "open it in a word processor"},
		"b.odt":  {locked, "without the password"},
		"c.mobi": {protected, "DRM"},
		"d.mobi": {protected[:70], "ebook-convert"},
		"e.kfx":  {"\xeaDRMION\xee", "DRM"},
		"f.docx": {makeDOCX(t, strings.Repeat("<w:p>", 2000)), "nested"},
	} {
		_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{name: c.source})})
		wantRefused(t, err, annotator.Misused, c.says)
	}
}

func FuzzDOCX(f *testing.F) {
	f.Add(par("U1", "One")+`<w:p><w:r><w:t>A</w:t><w:footnoteReference w:id="1"/></w:r></w:p><w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>`,
		`<w:footnote w:id="1">`+par("", "N")+`</w:footnote>`)
	f.Fuzz(func(t *testing.T, body, notes string) {
		wantFuzzedPage(t, ingest.DOCX, makeDOCX(t, body, entry{"styles.xml", wordStyles},
			entry{"footnotes.xml", notes}))
	})
}

func FuzzODT(f *testing.F) {
	f.Add(odtBody)
	f.Fuzz(func(t *testing.T, body string) {
		wantFuzzedPage(t, ingest.ODT, makeZip(t, entry{"content.xml", flatHead + body + "</office:document>"}))
	})
}

// wantFuzzedPage makes a page of a document, and checks what holds of any page.
func wantFuzzedPage(t *testing.T, format ingest.Format, source string) {
	t.Helper()
	if document, err := ingest.PageOf(format, []byte(source)); err == nil {
		wantFuzzed(t, "html", document)
	}
}

func FuzzKindle(f *testing.F) {
	data, err := os.ReadFile("testdata/book.azw3")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, scene := range ingest.KindleScenes(t.Context(), data) {
			wantClean(t, []string{scene})
		}
	})
}

// makePDF makes a PDF document of the contents of pages. Each has bookmarks to the first two pages.
func makePDF(pages ...string) string {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n1 0 obj<</Pages 2 0 R/Outlines 4 0 R>>endobj\n3 0 obj<</Subtype/Type1>>endobj\n" +
		"4 0 obj<</First 5 0 R>>endobj 5 0 obj<</Title(First)/Dest[10 0 R]/Next 6 0 R>>endobj\n" +
		"6 0 obj<</Title(Second)/Dest[12 0 R]>>endobj\n7 0 obj<</Title(The Book)/Author(A. Writer)>>endobj\n")
	kids := ""
	for i, text := range pages {
		content := "BT /F 10 Tf 50 800 Td (RUNNING HEAD) Tj 0 -30 Td 12 TL (" +
			strings.ReplaceAll(text, "\n", ") Tj T* (") + ") Tj ET " +
			"BT /F 10 Tf 50 20 Td (" + strconv.Itoa(i+1) + ") Tj ET"
		fmt.Fprintf(&b, "%d 0 obj<</Contents %d 0 R>>endobj\n%d 0 obj<</Length %d>>stream\n%s\nendstream endobj\n",
			10+2*i, 11+2*i, 11+2*i, len(content), content)
		kids += strconv.Itoa(10+2*i) + " 0 R "
	}
	return b.String() + "2 0 obj<</Kids[" + kids + "]/Resources<</Font<</F 3 0 R>>>>>>endobj\n" +
		"trailer<</Root 1 0 R/Info 7 0 R>>\n"
}

func TestPDF(t *testing.T) {
	t.Parallel()
	m := importFile(t, "b.pdf", makePDF("It begins", "It goes on, and", "so it ends."))
	wantScenes(t, m, "= First", "It begins", "= Second", "It goes on, and so it ends.")
	wantParts(t, m, "running-heads: 6 words, RUNNING HEAD", "page-marks: 3 words, 1")
	if m.report.Format != ingest.PDF || m.report.Title != "The Book" || m.report.Author != "A. Writer" {
		t.Errorf("%+v", m.report)
	}
}

func TestRefusedPDF(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, says string }{
		{makePDF("A") + "trailer<</Encrypt 9 0 R>>", "qpdf --decrypt"},
		{strings.ReplaceAll(makePDF("A"), "Tj", ""), "ocrmypdf"},
		{"%PDF-1.7", "ebook-convert"},
	} {
		_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{"a.pdf": c.source})})
		wantRefused(t, err, annotator.Misused, c.says)
	}
}

func FuzzPDF(f *testing.F) {
	f.Add([]byte(makePDF("It begins", "It goes on, and\nso it ends.")))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, scene := range ingest.PDFScenes(t.Context(), data) {
			wantClean(t, []string{scene})
		}
	})
}

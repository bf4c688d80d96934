package pdf_test

import (
	"bytes"
	"compress/lzw"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator/corpus/ingest/pdf"

	"github.com/google/go-cmp/cmp"
)

// fontOf is a font in which each sign is half as wide as it is high.
const fontOf = `<</Type/Font/Subtype/Type1/BaseFont/Any/FirstChar 32/Widths[` + `500 500 500 500 500 500 500 500]` +
	`/Encoding<</BaseEncoding/WinAnsiEncoding/Differences[1/fi/eacute/uni4E2D/macron/dotlessi]>>>>`

// file makes a document of pages, each with its content, and of further objects. There is no table of references.
func file(pages []string, others ...string) []byte {
	var b strings.Builder
	b.WriteString("%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>endobj\n3 0 obj" + fontOf + "endobj\n")
	var kids string
	for i, content := range pages {
		fmt.Fprintf(&b, "%d 0 obj<</Type/Page/Contents %d 0 R>>endobj\n", 100+2*i, 101+2*i)
		if !strings.HasPrefix(content, "<<") {
			content = stream("", content)
		}
		fmt.Fprintf(&b, "%d 0 obj%s\nendobj\n", 101+2*i, content)
		kids += fmt.Sprintf("%d 0 R ", 100+2*i)
	}
	b.WriteString("2 0 obj<</Kids[" + kids + "]/Resources<</Font<</F 3 0 R>>/XObject<</X 8 0 R>>>>>>endobj\n")
	return []byte(b.String() + strings.Join(others, "\n") + "\ntrailer<</Root 1 0 R/Info 9 0 R>>\n")
}

func stream(values, content string) string {
	return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", values, len(content), content)
}

// lines shows lines from the top of a page, each at its place from the left edge.
func lines(texts ...string) string {
	var b strings.Builder
	b.WriteString("BT /F 10 Tf 12 TL 50 700 Td ")
	for _, t := range texts {
		rest := strings.TrimLeft(t, " ")
		fmt.Fprintf(&b, "%d 0 Td (%s) Tj %d 0 Td T* ", 10*(len(t)-len(rest)), rest, -10*(len(t)-len(rest)))
	}
	return b.String() + "ET"
}

func packed(t testing.TB, filter, text string) string {
	t.Helper()
	var b bytes.Buffer
	switch filter {
	case "FlateDecode":
		w := zlib.NewWriter(&b)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
	case "LZWDecode":
		w := lzw.NewWriter(&b, lzw.MSB, 8)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return stream("/Filter/LZWDecode/DecodeParms<</EarlyChange 0>>", b.String())
	case "ASCIIHexDecode":
		b.WriteString(hex.EncodeToString([]byte(text)) + ">")
	case "ASCII85Decode":
		w := ascii85.NewEncoder(&b)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		b.WriteString("~>")
	}
	return stream("/Filter/"+filter, b.String())
}

func texts(t *testing.T, data []byte) []string {
	t.Helper()
	b, err := pdf.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range b.Paragraphs {
		all = append(all, strings.Repeat("#", int(p.Kind))+p.Text)
	}
	return all
}

func TestText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content string
		want    []string
	}{
		"indents": {lines("  One goes", "on here.", "  Two."), []string{"One goes on here.", "Two."}},
		"gaps":    {lines("One goes", "on here.", "and on", "", "Two."), []string{"One goes on here. and on", "Two."}},
		"hyphens": {
			lines("A captain and a cap-", "tain, a well-", "known man."),
			[]string{"A captain and a captain, a well-known man."},
		},
		"encoding": {lines("caf\x02 \x01n \x03 \\(a\\) \\101"), []string{"café fin 中 (a) A"}},
		"kerned":   {"BT /F 10 Tf [(A) 20 (B) -600 (C)] TJ ET", []string{"AB C"}},
		"narrow": {
			"BT /F 10 Tf [(The) -100 (long) -110 (way) -100 (h) 20 (ome)] TJ ET", []string{"The long way home"},
		},
		"spaced type": {"BT /F 10 Tf [(H) -100 (O) -100 (M) -100 (E)] TJ ET", []string{"HOME"}},
		"accents": {
			"BT /F 10 Tf 50 500 Td (Th) Tj 11 0 Td (\x04) Tj -1 0 Td (urn) Tj 20 0 Td (\x04) Tj -0.5 0 Td (\x05l) Tj " +
				"ET",
			[]string{"Thūrn īl"},
		},
		"order":   {"BT /F 10 Tf 50 500 Td (B.) Tj 0 12 Td (A) Tj ET", []string{"A B."}},
		"form":    {"/X Do", []string{"In a form"}},
		"picture": {"BI /W 1 ID \x00(EIx) Tj EI\n" + lines("Text"), []string{"Text"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			form := "8 0 obj" + stream("/Subtype/Form", lines("In a form")+" /X Do") + " endobj"
			if diff := cmp.Diff(c.want, texts(t, file([]string{c.content}, form))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	content := lines("The same words, the same words, and the same words again", "and again the words.")
	want := texts(t, file([]string{content}))
	for _, filter := range []string{"FlateDecode", "LZWDecode", "ASCIIHexDecode", "ASCII85Decode"} {
		if diff := cmp.Diff(want, texts(t, file([]string{packed(t, filter, content)}))); diff != "" {
			t.Errorf("%s: %s", filter, diff)
		}
	}
}

// TestObjectsInStreams has the font's table in a packed stream of objects, and a later object that replaces it.
func TestObjectsInStreams(t *testing.T) {
	t.Parallel()
	table := stream("", "1 beginbfchar <41> <0416> endbfchar 1 beginbfrange <42> <43> <0430> endbfrange")
	font := "3 0 <</Subtype/TrueType/ToUnicode 7 0 R>>"
	inner := "/Type/ObjStm/N 1/First 4"
	data := file([]string{lines("ABC")}, "7 0 obj"+table+"endobj", "6 0 obj"+stream(inner, font)+"endobj")
	if diff := cmp.Diff([]string{"Жаб"}, texts(t, data)); diff != "" {
		t.Error(diff)
	}
}

func TestEdgesAndOutline(t *testing.T) {
	t.Parallel()
	var pages []string
	for i := range 5 {
		pages = append(pages, lines("THE BOOK", "", "  It is text", fmt.Sprintf("of page %c, and", 'A'+i),
			"it goes on", "", fmt.Sprint(i+7)))
	}
	b, err := pdf.Read(file(pages, `4 0 obj<</First 5 0 R>>endobj`,
		`5 0 obj<</Title(One)/Dest[100 0 R/Fit]/Next 6 0 R>>endobj`,
		`6 0 obj<</Title<FEFF005400770F6F>/A<</D[104 0 R/XYZ 0 690 0]>>/Next 5 0 R>>endobj`,
		`9 0 obj<</Title(The Book)/Author(A. Writer)>>endobj`))
	if err != nil {
		t.Fatal(err)
	}
	var kinds [3]int
	for _, p := range b.Paragraphs {
		kinds[p.Kind]++
	}
	if kinds != [3]int{5, 5, 5} {
		t.Errorf("%v: %+v", kinds, b.Paragraphs)
	}
	if b.Title != "The Book" || b.Author != "A. Writer" || len(b.Contents) != 2 {
		t.Fatalf("%+v", b)
	}
	if p := b.Paragraphs[b.Contents[1].Paragraph]; !strings.Contains(p.Text, "page C") {
		t.Errorf("the second entry leads to %q", p.Text)
	}
}

// TestHeadsOfShortChapters: most of them come once or twice. Their numbers count the pages, or most come again.
func TestHeadsOfShortChapters(t *testing.T) {
	t.Parallel()
	for name, heads := range map[string][]string{
		"numbers before":  {"7 CHAPTER 1. QUAYS", "8 CHAPTER 1. QUAYS", "9 CHAPTER 2. ROADS", "10 CHAPTER 3. HILLS"},
		"numbers behind":  {"CHAPTER 1. QUAYS 7", "THE BOOK 8", "CHAPTER 2. ROADS 9", "CHAPTER 3. HILLS 10"},
		"without numbers": {"CHAPTER 1. QUAYS", "CHAPTER 1. QUAYS", "CHAPTER 2. ROADS", "CHAPTER 1. QUAYS"},
	} {
		var pages []string
		for i, head := range heads {
			pages = append(pages, lines(head, "", "  It is text", fmt.Sprintf("of page %c.", 'A'+i)))
		}
		for i, text := range texts(t, file(pages)) {
			if want := i%2 == 0; strings.HasPrefix(text, "#") != want {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
	// The headings of chapters on one height are none.
	var pages []string
	for i := range 4 {
		head := fmt.Sprintf("Chapter %c", 'A'+i)
		pages = append(pages, lines(head, "", "  It is text", fmt.Sprintf("of page %c.", 'A'+i)))
	}
	all := texts(t, file(pages))
	if slices.ContainsFunc(all, func(text string) bool { return strings.HasPrefix(text, "#") }) {
		t.Errorf("%q", all)
	}
}

// TestHeadingOfTwoLines joins lines of large type that are in the middle, and not those far below.
func TestHeadingOfTwoLines(t *testing.T) {
	t.Parallel()
	heading := "BT /F 20 Tf 80 700 Td (The Long Way) Tj 40 -26 Td (to the Quay) Tj -40 -60 Td (Part One) Tj ET "
	text := strings.ReplaceAll(lines("A text that is longer", "than all of its headings"), " 700 ", " 500 ")
	b, err := pdf.Read(file([]string{heading + text}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range b.Paragraphs {
		got = append(got, fmt.Sprintf("%d %s", p.Level, p.Text))
	}
	want := []string{"1 The Long Way to the Quay", "1 Part One", "0 A text that is longer than all of its headings"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// compactFont is a font in the compact form with an encoding of its own: "A" is fi, "C" ff, "D" an old digit. "B" is a
// letter whose name is in the font.
func compactFont() string {
	const encoding, charset, shapes = 47, 56, 66
	where := func(at, operator byte) string { return "\x1d\x00\x00\x00" + string([]byte{at, operator}) }
	return "\x01\x00\x04\x01" + "\x00\x01\x01\x01\x02A" +
		"\x00\x01\x01\x01\x13" + where(charset, 15) + where(encoding, 16) + where(shapes, 17) +
		"\x00\x01\x01\x01\x08uni0436" + "\x00\x00" +
		"\x80\x03ABC" + "\x01D\x00\xef" +
		"\x01\x00\x6d\x00\x01\x87\x00\x01\x0a\x00" +
		"\x00\x04"
}

// TestBuiltInEncodings reads what fonts say of their codes where the document does not.
func TestBuiltInEncodings(t *testing.T) {
	t.Parallel()
	const font = `3 0 obj<</Subtype/Type1/FontDescriptor 20 0 R>>endobj 20 0 obj`
	program := "/Encoding 256 array dup 65 /quotedblleft put\ndup 66/eacute put currentfile eexec dup 67 /x put"
	for want, others := range map[string]string{
		"fiжff0E": font + `<</FontFile3 21 0 R>>endobj 21 0 obj` + stream("/Subtype/Type1C", compactFont()) + "endobj",
		"“éCDE":   font + `<</FontFile 21 0 R>>endobj 21 0 obj` + stream("", program) + "endobj",
		"ABCDE":   font + `<</FontFile3 21 0 R>>endobj 21 0 obj` + stream("/Subtype/Type1C", "\x01\x00\x04") + "endobj",
	} {
		if diff := cmp.Diff([]string{want}, texts(t, file([]string{lines("ABCDE")}, others))); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	var bomb []string // each part has the next one ten times
	for i := range 12 {
		bomb = append(bomb, fmt.Sprintf("%d 0 obj%s endobj", 8+1000*i, stream(fmt.Sprintf(
			"/Subtype/Form/Resources<</XObject<</X %d 0 R>>>>", 8+1000*(i+1)), strings.Repeat("/X Do ", 10))))
	}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"no PDF":    {[]byte("text"), pdf.ErrDamaged},
		"no pages":  {[]byte("%PDF-1.7"), pdf.ErrDamaged},
		"encrypted": {file([]string{lines("A")}, "trailer<</Encrypt 5 0 R>>"), pdf.ErrEncrypted},
		"scanned":   {file([]string{"q Q"}), pdf.ErrNoText},
		"unknown":   {file([]string{lines("\x05\x06\x07A")}), pdf.ErrNoText},
		"bomb":      {file([]string{"/X Do"}, bomb...), pdf.ErrTooLong},
		"deep":      {file([]string{strings.Repeat("[", 1<<20)}), pdf.ErrNoText},
	} {
		if _, err := pdf.Read(c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRead: whatever the bytes are, reading ends, and entries lead to paragraphs.
func FuzzRead(f *testing.F) {
	f.Add(file([]string{lines("  One", "two-", "three")},
		"4 0 obj<</First 5 0 R>>endobj 5 0 obj<</Title(T)/Dest[100 0 R]>>endobj"))
	for _, filter := range []string{"FlateDecode", "LZWDecode", "ASCIIHexDecode", "ASCII85Decode"} {
		f.Add(file([]string{packed(f, filter, lines("Text"))}))
	}
	f.Add(file([]string{lines("ABCDE")}, "3 0 obj<</FontDescriptor<</FontFile3 21 0 R>>>>endobj 21 0 obj"+
		stream("/Subtype/Type1C", compactFont())+"endobj"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := pdf.Read(data)
		if err != nil {
			return
		}
		for _, e := range b.Contents {
			if e.Paragraph < 0 || e.Paragraph >= len(b.Paragraphs) {
				t.Errorf("%+v leads to none of %d paragraphs", e, len(b.Paragraphs))
			}
		}
	})
}

package ingest_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus/ingest"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	_ "modernc.org/sqlite"
	"pgregory.net/rapid"
)

const (
	chinese     = "这个人说他是从中国来的，在那里他们都不知道我们要去什么地方。他还有一个大的想法。\n"
	traditional = "這個人說他是從中國來的，在那裡他們都不知道我們要去什麼地方。他還有一個大的想法。\n"
	japaneseRu  = "親譲りの無鉄砲で小供の時から損ばかりしている。小学校に居る時分学校の二階から飛び降りた。\n"
	koreanText  = "비가 오는 날이었다. 그는 우산을 들고 길을 걸었다. 사람들은 모두 어디로 가고 있는지 알 수 없었다.\n"
	russian     = "В начале июля, в чрезвычайно жаркое время, под вечер, один молодой человек вышел из своей каморки.\n"
	french      = "En 1815, M. Myriel était évêque de Digne. C’était un vieillard d’environ soixante-quinze ans; où " +
		"était-il né?\n"
)

// TestEncodingsByTrial: a text that does not say its encoding is read in the one in which it reads as a language.
func TestEncodingsByTrial(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		e    encoding.Encoding
		text string
	}{
		{"gb18030", simplifiedchinese.GB18030, chinese},
		{"big5", traditionalchinese.Big5, traditional},
		{"shift_jis", japanese.ShiftJIS, japaneseRu},
		{"euc-jp", japanese.EUCJP, japaneseRu},
		{"euc-kr", korean.EUCKR, koreanText},
		{"windows-1251", charmap.Windows1251, russian},
		{"koi8-r", charmap.KOI8R, russian},
		{"windows-1252", charmap.Windows1252, french},
	} {
		text, name, err := ingest.Guess([]byte(encode(t, c.e, strings.Repeat(c.text, 3))))
		if text != strings.Repeat(c.text, 3) || name != c.name || err != nil {
			t.Errorf("%s is read as %q: %.80q, %v", c.name, name, text, err)
		}
	}
	header := "Title: X\nCharacter set encoding: ISO-8859-1\n\ncaf\xe9 \xe1\xff\n"
	if text, name, err := ingest.Guess([]byte(header)); !strings.Contains(text, "café") || name != "" || err != nil {
		t.Errorf("the header is not followed: %q, %q, %v", text, name, err)
	}
	_, _, err := ingest.Guess([]byte("\xe9\xe1\xff \xe8\n"))
	wantRefused(t, err, annotator.Misused, "neither UTF-8")
	//nolint:errorlint // the outermost has the advice
	if told, ok := err.(*annotator.Error); !ok || told.Reason != annotator.ReasonAmbiguousEncoding ||
		!strings.Contains(fmt.Sprint(told.Args), `windows-1252: "éáÿ è"`) {
		t.Errorf("the advice does not show the first line: %v", err)
	}
}

func TestFolderOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"by name": {
			map[string]string{
				"epilogue.md": "# E\n\nE.", "chapter-10.md": "# Ten\n\nT.",
				"chapter-9.md": "# Nine\n\nN.", "prologue.md": "# P\n\nP.", "README.md": "# R\n\nBuild it.",
				"LICENSE": "Free.", "outline.md": "Plan.",
			},
			"= P|P.|= Nine|N.|= Ten|T.|= E|E.",
		},
		"by SUMMARY.md": {
			map[string]string{
				"SUMMARY.md": "# Summary\n\n- [Last](a.md)\n  - [First](b.md#x)\n", "a.md": "# A\n\nA.",
				"b.md": "# B\n\nB.", "c.md": "# C\n\nC.",
			},
			"= A|A.|= B|B.",
		},
		"by Book.txt": {
			map[string]string{"Book.txt": "b.md\na.md\n", "a.md": "# A\n\nA.", "b.md": "# B\n\nB."},
			"= B|B.|= A|A.",
		},
		"by weight": {
			map[string]string{
				"a.md": "---\ntitle: A\nweight: 20\n---\nA.",
				"b.md": "---\ntitle: B\nweight: 3\n---\nB.",
			},
			"= B|B.|= A|A.",
		},
		"one file one thread": {
			map[string]string{"1.md": "# One\n\n## Morning\n\nM.\n\n## Evening\n\nE.", "2.md": "# Two\n\nT."},
			"= One|Morning\n\nM.\n\n* * *\n\nEvening\n\nE.|= Two|T.",
		},
		"a file with chapters": {
			map[string]string{"1.md": "# Chapter 1\n\nA.\n\n# Chapter 2\n\nB.", "2.md": "# Chapter 3\n\nC."},
			"= Chapter 1|A.|= Chapter 2|B.|= Chapter 3|C.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Dir(files(t, c.files)[0])
			wantScenes(t, mustImport(t, ingest.Options{Sources: []string{folder}}), strings.Split(c.want, "|")...)
		})
	}
}

// TestJSONOfBoardsIsRead reads the JSON of several boards and forums.
func TestJSONOfBoardsIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, want string }{
		"FoolFuuka": {
			`{"5":{"op":{"num":"5","thread_num":"5","op":"1","timestamp":10,"name":"QM","trip":"!a","title":"T","comment":"x","comment_processed":"One.<br />\nTwo."},"posts":{"6":{"num":"6","thread_num":"5","timestamp":11,"name":"Anonymous","comment_processed":"<a href=\"https://x/5/#5\" class=\"backlink\">&gt;&gt;5</a> Go."},"7":{"num":"7","thread_num":"5","timestamp":12,"name":"QM","trip":"!a","comment_processed":"Three."}}}}`,
			"= T|5/5@10 QM!!a [qm_post] One.\n\nTwo.|5/6@11 Anonymous! [] >>5 Go.|5/7@12 QM!!a [qm_post] Three.",
		},
		"2ch": {
			`{"title":"T","threads":[{"posts":[{"num":5,"parent":0,"op":1,"timestamp":10,"name":"ОП","trip":"!a","subject":"S","comment":"Раз.<br>Два."},{"num":6,"parent":5,"timestamp":11,"name":"Аноним","comment":"<a href=\"#5\">>>5</a> Да."}]}]}`,
			"= T|5/5@10 ОП!!a [qm_post] Раз.\nДва.|5/6@11 Аноним! [] >>5 Да.",
		},
		"Discourse": {
			`{"post_stream":{"posts":[{"id":50,"post_number":1,"topic_id":7,"topic_slug":"the-quay","username":"teller","user_id":3,"created_at":"2020-01-01T00:00:00Z","cooked":"<p>One.</p><p>Two.</p>","actions_summary":[{"id":2,"count":1}]},{"id":51,"post_number":2,"topic_id":7,"topic_slug":"the-quay","username":"reader","user_id":4,"created_at":"2020-01-01T00:01:00Z","reply_to_post_number":1,"cooked":"<p>Nice.</p>"}]},"title":"The Quay"}`,
			"= The Quay|7/50@1577836800 teller!ID:3 [qm_post] One.\nTwo.|7/51@1577836860 reader!ID:4 [] Nice.",
		},
		"a list of chapters": {
			`[{"title":"One","text":"A."},{"title":"Two","text":"B."}]`,
			"= One|1/1@1 ! [qm_post] A.|= Two|2/2@2 ! [qm_post] B.",
		},
		"a book with chapters": {
			`{"title":"T","author":"A","chapters":[{"number":1,"title":"One","content":"A."},{"number":2,"title":"Two","content":"B."}]}`,
			"= One|1/1@1 ! [qm_post] A.|= Two|2/2@2 ! [qm_post] B.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantPosts(t, importFile(t, "x.json", c.source), strings.Split(c.want, "|")...)
		})
	}
}

func TestJSONLinesOfChapters(t *testing.T) {
	t.Parallel()
	m := importFile(t, "x.jsonl", `{"chapter":1,"title":"One","text":"A."}`+"\n"+
		`{"chapter":2,"title":"Two","text":"B."}`)
	wantPosts(t, m, "= One", "1/1@1 ! [qm_post] A.", "= Two", "2/2@2 ! [qm_post] B.")
	if len(m.report.Notes) != 1 || !strings.HasPrefix(m.report.Notes[0],
		"no post says who wrote it, so all are the story") {
		t.Errorf("%q", m.report.Notes)
	}
}

// TestStoryAuthorIsNotASharedName: a name that many posters share identifies nobody, and a named author is taken
// whoever opened the thread.
func TestStoryAuthorIsNotASharedName(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, `{"thread":1,"id":%d,"name":"Wanderer","body":"p%d"}`+"\n", i+1, i)
	}
	b.WriteString(`{"thread":1,"id":20,"name":"Ferryman","body":"story"}`)
	m := importFile(t, "x.jsonl", b.String())
	if m.report.StoryPosts != 1 || !strings.Contains(strings.Join(m.report.Notes, "\n"),
		"nearly all posters share identifies nobody: Wanderer") {
		t.Errorf("%d posts, %q", m.report.StoryPosts, m.report.Notes)
	}
	m = mustImport(t, ingest.Options{
		Sources:      files(t, map[string]string{"x.jsonl": b.String()}),
		StoryAuthors: []string{"Ferryman"},
	})
	if m.report.StoryPosts != 1 || !strings.Contains(m.report.Notes[0],
		"who is named as its author: 1 post of 13 (7 %)") {
		t.Errorf("%d posts, %q", m.report.StoryPosts, m.report.Notes)
	}
}

func TestZippedText(t *testing.T) {
	t.Parallel()
	fb2 := `<?xml version="1.0" encoding="windows-1251"?><FictionBook><body><section><title><p>` +
		encode(t, charmap.Windows1251, "Глава 1") + `</p></title><p>A.</p></section></body></FictionBook>`
	wantScenes(t, importFile(t, "b.fb2.zip", makeZip(t, entry{"b.fb2", fb2}, entry{"cover.jpg", "\xff\xd8"})),
		"= Глава 1", "A.")
	wantScenes(t, importFile(t, "b.zip", makeZip(t, entry{"b.txt", twoChapters})), "= CHAPTER I", "It begins.",
		"= CHAPTER II", "It ends.")
}

// TestStoryAuthorOfSeveralSignatures joins the posts of an author whose name, trip code or id changes.
func TestStoryAuthorOfSeveralSignatures(t *testing.T) {
	t.Parallel()
	m := mustImport(t, ingest.Options{
		Sources: files(t, map[string]string{"x.jsonl": `{"thread":1,"id":1,"name":"QM","trip":"!a","body":"one"}
{"thread":1,"id":2,"name":"Reader","body":"no"}
{"thread":1,"id":3,"name":"QM, the second","body":"two"}
{"thread":1,"id":4,"name":"Anonymous","trip":"ID:x7","body":"three"}
`}),
		StoryAuthors: []string{"!a", "QM, the second", "x7"},
	})
	if m.report.StoryPosts != 3 {
		t.Errorf("%d posts, %q", m.report.StoryPosts, m.report.Notes)
	}
}

// TestOtherFormatsAreRefused names the command that makes an EPUB.
func TestOtherFormatsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, command string }{
		"a.tex":   {"text", "pandoc "},
		"b.txt":   {"\\documentclass{book}\n\\begin{document}\nHello\n", "pandoc "},
		"c.adoc":  {"= Title\n\nText", "asciidoctor "},
		"d.txt":   {"= Title\n:toc: left\n\n== Chapter\n\nText\n", "asciidoctor "},
		"g.pdb":   {strings.Repeat("x", 60) + "TEXtREAd", "ebook-convert "},
		"j.azw3":  {"TPZ", "ebook-convert "},
		"k.org":   {"* Title", "pandoc "},
		"l.latex": {"x", "pandoc "},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := tryImport(t, ingest.Options{Sources: []string{path}})
		wantRefused(t, err, annotator.Misused, "cannot be imported")
		//nolint:errorlint // the outermost has the advice
		told, ok := err.(*annotator.Error)
		if !ok || !strings.Contains(told.Advice+fmt.Sprint(told.Args...), c.command) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPostsKnowTheirPlace: the source has the first words of each post at the offset that the post records.
func TestPostsKnowTheirPlace(t *testing.T) {
	t.Parallel()
	page1 := page("<h1>One</h1><p>" + words(40) + " first</p><p>Second.</p><hr/><p>" + words(60) + "</p>")
	book := makeEPUB(t, entry{"a.xhtml", page1})
	target := filepath.Join(t.TempDir(), "c.db")
	text := "CHAPTER I\n\nAlpha begins.\n\n* * *\n\nBeta ends.\n\nCHAPTER II\n\nGamma.\n"
	for name, source := range map[string]string{"b.epub": book, "b.txt": text} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ingest.Import(t.Context(),
			ingest.Options{Sources: []string{path}, Corpus: target + name, SceneTokens: 3}, nil); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", target+name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		rows, err := db.QueryContext(t.Context(), `SELECT body, source_document, source_offset FROM post ORDER BY id`)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var body, document string
			var offset int
			if err := rows.Scan(&body, &document, &offset); err != nil {
				t.Fatal(err)
			}
			origin := source
			if document == "OPS/a.xhtml" {
				origin = page1
			}
			if first := strings.Fields(body)[0]; !strings.HasPrefix(origin[offset:], first) {
				t.Errorf("%s: %q is not at %d of %q: %.20q", name, first, offset, document, origin[offset:])
			}
		}
		if rows.Err() != nil {
			t.Fatal(rows.Err())
		}
	}
}

// TestAccountOfEPUBsAddsUp: the account of a book of several pages adds up, whatever its table of contents says.
func TestAccountOfEPUBsAddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var pages []entry
		var list strings.Builder
		for i := range rapid.IntRange(1, 5).Draw(rt, "pages") {
			var b strings.Builder
			for range rapid.IntRange(0, 6).Draw(rt, "blocks") {
				b.WriteString(dress(rt, "html", lineOf(rt, "")))
			}
			name := rapid.SampledFrom([]string{"p%d.xhtml", "p%d.xhtml", "title%d.xhtml", "copyright%d.xhtml"}).Draw(rt,
				"name")
			name = fmt.Sprintf(name, i)
			pages = append(pages, entry{name, page(b.String())})
			if rapid.Bool().Draw(rt, "listed") {
				fmt.Fprintf(&list, `<li><a href="%s">%s</a></li>`, name,
					rapid.SampledFrom([]string{"One", "Chapter 2", "Start", "The Lamp"}).Draw(rt, "label"))
			}
		}
		if rapid.Bool().Draw(rt, "table") {
			pages = append([]entry{{"nav.xhtml", nav(list.String())}}, pages...)
		}
		account := ingest.BookAccount(t.Context(), []byte(makeEPUB(t, pages...)))
		left := 0
		for _, p := range account.Parts {
			left += p.Characters
		}
		if account.Kept+left != account.Source {
			rt.Fatalf("%d kept and %d left out are not %d: %+v", account.Kept, left, account.Source, account.Parts)
		}
	})
}

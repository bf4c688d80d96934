package ingest_test

import (
	"strings"
	"testing"

	"annotator"
	"annotator/corpus/ingest"

	"golang.org/x/text/encoding/japanese"
)

// foreignTexts are stories in markups that are not read, by a name of the file, with what the refusal says.
var foreignTexts = map[string]struct{ content, kind string }{
	"docbook.txt": {
		"<book><chapter><title>One</title><para>It begins.</para><para>It ends.</para></chapter></book>",
		"XML that is no format",
	},
	"feed.xml": {`<?xml version="1.0"?><rss><item><title>One</title><text>It begins.</text></item></rss>`, "XML that"},
	"page.mhtml": {
		"From: <Saved by a browser>\nSubject: A Tale\nMIME-Version: 1.0\nContent-Type: multipart/related;\n" +
			"\tboundary=\"x\"\n\n--x\nContent-Type: text/html\n\n<html><p>It begins.</p></html>\n", "MHTML",
	},
	"wiki.txt": {
		"{{header\n | title = A Tale\n | author = Nobody\n}}\n== Chapter 1 ==\nIt begins.\n\n'''She''' came.\n\n" +
			"== Chapter 2 ==\nIt ends.\n[[Category:Tales]]\n", "wikitext",
	},
	"post.txt": {
		strings.Repeat("[b]She[/b] came to the [url=x]quay[/url].\n\nIt rained.\n\n", 5), "BBCode",
	},
	"tale.textile": {
		"h1. A Tale\n\nh2. One\n\np. It begins.\n\nh2(#two). Two\n\nbq. It ends.\n", "Textile",
	},
	"tale.ink": {
		"VAR seen = 0\n-> quay\n\n=== quay ===\nShe came to the quay.\n* [Wait] -> wait\n+ [Go]\n  -> END\n\n" +
			"=== wait ===\nShe waited.\n-> quay\n", "ink",
	},
	"film.srt": {
		strings.Repeat("12\n00:01:02,500 --> 00:01:04,000\nShe came to the quay.\n\n", 6), "subtitles",
	},
	"film.vtt": {
		"WEBVTT\n\n" + strings.Repeat("01:02.500 --> 01:04.000\nShe came to the quay.\n\n", 6), "subtitles",
	},
	"film.ass": {
		"[Events]\n" + strings.Repeat("Dialogue: 0,0:01:02.50,0:01:04.00,Default,,0,0,0,,She came.\n", 6), "subtitles",
	},
	"code.txt": {
		strings.Repeat("if (she.came == true) { quay[i] = rain(she); }\n", 40), "a program",
	},
}

// TestUnknownMarkupIsRefused: the markup is never taken for the story, in a file or in a folder. The message says what
// to do.
func TestUnknownMarkupIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range foreignTexts {
		sources := files(t, map[string]string{name: c.content})
		_, err := tryImport(t, ingest.Options{Sources: sources})
		wantRefused(t, err, annotator.Misused, c.kind)
		_, err = tryImport(t, ingest.Options{Sources: []string{strings.TrimSuffix(sources[0], name)}})
		wantRefused(t, err, annotator.Misused, "has no files to import")
		mustImport(t, ingest.Options{Sources: sources, Format: ingest.Text})
	}
}

// TestProseWithMarksIsRead: brackets, colons, arrows, times and a few tags make no markup.
func TestProseWithMarksIsRead(t *testing.T) {
	t.Parallel()
	prose := strings.Repeat("She came to the quay at 12:30, as the letter said: wait there.\n\n", 20)
	for _, marks := range []string{
		"[She laughed.] The note [sic] said: \"p. 12, see <below>\".\n\n[1] A footnote.\n",
		"Subject: the quay\nFrom: a friend\n\nMIME is a word that she did not know.\n",
		"MIME-Version: it was on the wall.\n",
		"'''She''' wrote == between {{two}} words, and [/i] by mistake.\n",
		"A -> B, she drew; h2. was the name of the road.\n\nh1. was another.\n",
		"<b>Loud</b> and <i>soft</i>, <oh>so</oh> she said.\n",
		"# One\n\n* [a link](x.md)\n* [another](y.md)\n\n| a | b |\n|---|---|\n| [x] | {y} |\n",
		"{ \"a\" } [\"Come,\" she said.]\n",
		"00:01:02,500 --> 00:01:04,000 was on the film.\n",
	} {
		importFile(t, "tale.md", prose+marks+prose)
		if !strings.HasPrefix(marks, "MIME-Version") {
			importFile(t, "tale.txt", marks+"\n"+prose)
		}
	}
}

// TestMarkupOfAnotherEncoding: signs that are halves of letters in an encoding found by trial make no program.
func TestMarkupOfAnotherEncoding(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("彼女は表へ出て、ソファの能力を十分に予想した。\n", 200)
	if m := importFile(t, "a.txt", encode(t, japanese.ShiftJIS, text)); m.report.Scenes == 0 {
		t.Errorf("%s", m.report)
	}
}

// TestBoardWithOtherFields: posts are known by a user's id; a list of replies that is not known is no list of chapters.
func TestBoardWithOtherFields(t *testing.T) {
	t.Parallel()
	m := importFile(t, "flat.txt", "[\n {\"id\":1,\"userid\":\"aa\",\"content\":\"story\"},\n"+
		" {\"id\":2,\"userid\":\"bb\",\"content\":\"comment\"},\n"+
		" {\"id\":3,\"userid\":\"aa\",\"content\":\"more\"}\n]\n")
	if m.report.StoryPosts != 2 {
		t.Errorf("%s", m.report)
	}
	_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{
		"raw.json": `{"id":1,"userid":"aa","content":"story","replys":[{"id":2,"userid":"bb","content":"comment"}]}`,
	})})
	wantRefused(t, err, annotator.Misused, `further posts in a list "replys"`)
}

// FuzzMarkup: whatever a text holds, it is recognised in the same way again, and its share of prose is one.
func FuzzMarkup(f *testing.F) {
	for _, c := range foreignTexts {
		f.Add(c.content)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if first, again := ingest.MarkupOf(text), ingest.MarkupOf(text); first != again {
			t.Errorf("%q, then %q", first, again)
		}
		if share := ingest.ProseShare(text); share < 0 || share > 1 {
			t.Errorf("a share of %g", share)
		}
	})
}

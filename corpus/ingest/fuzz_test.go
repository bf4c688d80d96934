package ingest_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"annotator/corpus/ingest"
)

// wantFuzzed checks what holds of a source of any content: it is read or refused, its account adds up, its text is
// clean.
func wantFuzzed(t *testing.T, format, source string) {
	t.Helper()
	source = ingest.CleanPage(source)
	chapters, account, err := ingest.Read(format, source)
	if err != nil {
		return
	}
	left := 0
	for _, p := range account.Parts {
		left += p.Characters
	}
	if account.Kept+left != account.Source {
		t.Errorf("%d kept and %d left out are not %d: %q", account.Kept, left, account.Source, source)
	}
	for _, c := range chapters {
		wantClean(t, append([]string{c.Title}, c.Paragraphs...))
	}
}

func FuzzFB2(f *testing.F) {
	f.Add(`<FictionBook><description><title-info><book-title>T</book-title></title-info></description><body><title><p>T</p></title>` +
		`<section><title><p>1</p><p>One</p></title><p>A<a type="note">[1]</a>.</p><empty-line/><poem><stanza><v>B</v></stanza></poem></section></body>` +
		`<body name="notes"><section id="n1"><p>N</p></section></body><binary>/9j/</binary></FictionBook>`)
	f.Fuzz(func(t *testing.T, source string) { wantFuzzed(t, "fb2", source) })
}

func FuzzHTML(f *testing.F) {
	f.Add(`<style>.x{display:none}</style><body><h2>I<br>One</h2><p>A<span class="x">gone</span><span class=pagenum>{8}</span></p><h2>II</h2><p>B</p></body>`)
	f.Add(`<div id="preface"><dl class="tags"><dd>x</dd></dl></div><div id="chapters"><div class="meta"><h2>1</h2><p>n</p></div><p>A</p></div>`)
	f.Fuzz(func(t *testing.T, source string) { wantFuzzed(t, "html", source) })
}

func FuzzMarkdown(f *testing.F) {
	f.Add("---\ntitle: x\n---\n# A\n\n> b *c* [d](e) \\*\n\n- f\n\n{{< g >}}\n::: h\n\n| i | j |\n|---|---|\n| k | " +
		"l |\n\n```\nm\n")
	f.Add("Title<br><br>{{< a >}}One\n\nText.\n")
	f.Fuzz(func(t *testing.T, source string) { wantFuzzed(t, "markdown", source) })
}

func FuzzAozora(f *testing.F) {
	f.Add("題\n名\n\n［＃５字下げ］一［＃「一」は中見出し］\n　親譲《おやゆず》りの｜無鉄砲《むてっぽう》\n\n底本：「全集」\n")
	f.Fuzz(func(t *testing.T, source string) { wantFuzzed(t, "aozora", source) })
}

func FuzzOutline(f *testing.F) {
	f.Add("CONTENTS\n\nI. HERE .... 1\nII. THERE .... 9\n\n\nI. HERE\n\nText.\n\nII. THERE\n\nMore.\n\nTHE " +
		"END\n\nPrinted by X.\n")
	f.Add("BOOK ONE\n\nTHE SEA\n\nI.\n\nA b c.\n\nII.\n\nD.\n\nBOOK TWO\n\nI.\n\nE.")
	f.Add("The House\n[Pg 8]\nOne\n\nText.\n\nCHAPTER 2\n\n[Pg 9]\nTHE MILL\n\nText.")
	f.Fuzz(func(t *testing.T, source string) { wantFuzzed(t, "text", source) })
}

func FuzzBoard(f *testing.F) {
	f.Add([]byte(boardThread))
	f.Add([]byte(`{"5":{"op":{"num":"5","comment_processed":"a<br />b"},"posts":{"6":{"num":"6","comment_processed":"c"}}}}`))
	f.Add([]byte(`{"post_stream":{"posts":[{"id":1,"post_number":1,"topic_id":3,"cooked":"<p>a</p>"}]},"title":"T"}`))
	f.Add([]byte(`[{"title":"One","text":"a"},{"title":"Two","text":"b"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if posts, chapters := ingest.BoardFields(data); posts+chapters > strings.Count(string(data), "{") {
			t.Errorf("%d posts and %d chapters in %q", posts, chapters, data)
		}
	})
}

func FuzzGuess(f *testing.F) {
	f.Add([]byte("caf\xe9\n"))
	f.Add([]byte("\xcf\xf0\xe8\xe2\xe5\xf2"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if text, _, err := ingest.Guess(data); err == nil && !utf8.ValidString(text) {
			t.Errorf("%q became %q", data, text)
		}
	})
}

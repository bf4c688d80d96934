package ingest_test

import (
	"strconv"
	"strings"
	"testing"

	"annotator/corpus/ingest"

	"github.com/google/go-cmp/cmp"
)

// lines renders chapters: "= title", then the paragraphs.
func lines(chapters []ingest.Chapter) string {
	var all []string
	for _, c := range chapters {
		all = append(append(all, "= "+c.Title), c.Paragraphs...)
	}
	return strings.Join(all, "|")
}

// partNames are the parts that were left out.
func partNames(a ingest.Account) string {
	var all []string
	for _, p := range a.Parts {
		all = append(all, p.Name)
	}
	return strings.Join(all, " ")
}

type readCase struct{ source, want, parts string }

func checkReads(t *testing.T, format string, cases map[string]readCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chapters, account, err := ingest.Read(format, c.source)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(c.want, "|"), strings.Split(lines(chapters), "|")); diff != "" {
				t.Error(diff)
			}
			if got := partNames(account); got != c.parts {
				t.Errorf("left out: %q, want %q", got, c.parts)
			}
		})
	}
}

const (
	proseA = "The lamp leaned to the east although every shutter was closed."
	proseB = "Nobody in the house knew why it did so, and nobody asked."
)

// TestPagesOfSites: what a site puts around a story is left out and named.
func TestPagesOfSites(t *testing.T) {
	t.Parallel()
	checkReads(t, "html", map[string]readCase{
		"archive download": {
			`<body><div id="preface"><p class="message"><b>T</b> Posted originally on the <a href="http://x">A</a>.</p><div class="meta"><dl class="tags"><dt>Rating:</dt><dd>Gen</dd></dl><h1>T</h1></div></div>` +
				`<div id="chapters" class="userstuff"><div class="meta group"><h2 class="heading">Chapter 1: One</h2><p>Chapter Notes</p><blockquote class="userstuff"><p>My week.</p></blockquote></div><div class="userstuff"><p>` + proseA + `</p></div>` +
				`<div class="meta group"><h2 class="heading">Chapter 2: Two</h2></div><div class="userstuff"><p>` +
				proseB + `</p></div><div class="meta" id="endnotes2"><p>Chapter End Notes</p></div></div>` +
				`<div id="afterword"><div class="meta"><p>Please comment!</p></div></div></body>`,
			"= Chapter 1: One|" + proseA + "|= Chapter 2: Two|" + proseB, "tags author-notes",
		},
		"archive page": {
			`<body><div id="header"><ul><li><a href="/">Home</a></li></ul></div><dl class="work meta group"><dt>Rating:</dt><dd>Gen</dd></dl><div id="workskin"><div class="preface group"><h2 class="title heading">T</h2><h3 class="byline heading">A</h3></div>` +
				`<div id="chapters"><div class="chapter" id="chapter-1"><div class="chapter preface group"><h3 class="title"><a href="/c/1">Chapter 1</a>: One</h3><div id="notes" class="notes module"><p>My week.</p></div></div><div class="userstuff module"><h3 class="landmark heading" id="work">Chapter Text</h3><p>` + proseA + `</p></div></div>` +
				`<div class="chapter" id="chapter-2"><div class="chapter preface group"><h3 class="title"><a href="/c/2">Chapter 2</a>: Two</h3></div><div class="userstuff module"><p>` + proseB + `</p></div></div></div></div><div id="feedback"><p>Kudos by many people.</p></div></body>`,
			"= Chapter 1: One|" + proseA + "|= Chapter 2: Two|" + proseB,
			"around-story tags author-notes navigation headings title-page",
		},
		"downloader's page": {
			`<body><h1><a href="http://x">T</a> by <a class="authorlink" href="http://y">A</a></h1><table><tr><td><b>Category:</b> X</td></tr></table><h2>Table of Contents</h2><p><a href="#section0001">1. One</a><br/><a href="#section0002">2. Two</a><br/></p>` +
				`<a name="section0001"></a><h2>1. One</h2><div><p>` + proseA +
				`</p></div><a name="section0002"></a><h2>2. Two</h2><div><p>` + proseB + `</p></div></body>`,
			"= 1. One|" + proseA + "|= 2. Two|" + proseB, "title-page contents",
		},
		"serial's chapter": {
			`<style>.cnABC{ display: none; speak: never }</style><body><nav><a href="/x">Fictions</a></nav><h2>The Serial</h2><h1 class="font-white">Chapter 3 - Down</h1><div class="author-note-portlet"><p>Vote!</p></div><div class="chapter-inner chapter-content"><p>` + proseA +
				`</p><span class="cnABC"><br>Stolen content.<br></span><p>` + proseB +
				`</p></div><div class="comments"><p>First!</p></div></body>`,
			"= Chapter 3 - Down|" + proseA + "|" + proseB, "navigation author-notes hidden around-story title-page",
		},
		"forum with threadmarks": {
			`<body><div class="p-nav"><a href="/">Forums</a></div><article class="message message--post hasThreadmark js-post" data-author="QM"><span class="threadmarkLabel">1.1 Arrival</span><div class="message-userDetails"><h4>QM</h4></div><div class="bbWrapper">` + proseA + `<br><br>` + proseB + `</div></article>` +
				`<article class="message message--post js-post" data-author="Reader"><div class="bbWrapper">Nice chapter!</div></article>` +
				`<article class="message message--post hasThreadmark js-post" data-author="QM"><span class="threadmarkLabel">1.2 Departure</span><div class="bbWrapper">` + proseB + `</div></article></body>`,
			"= 1.1 Arrival|" + proseA + "|" + proseB + "|= 1.2 Departure|" + proseB, "around-story other-posts",
		},
	})
}

// TestPageNumbersAndNotesAreLeftOut: numbers of pages, marks of notes and hidden text are out, initials that are
// pictures are in.
func TestPageNumbersAndNotesAreLeftOut(t *testing.T) {
	t.Parallel()
	checkReads(t, "html", map[string]readCase{
		"page marks in sentences": {
			"<body><h2>I</h2><p>from place<span class=\"pagenum\"><a " +
				"id=\"p8\">{8}</a></span> to place[Pg 9] in quest</p><h2>II</h2><p>" + proseB + "</p>",
			"= I|from place to place in quest|= II|" + proseB, "page-marks",
		},
		"an initial that is a picture": {
			`<body><p><span class="letra"><img alt="M" src="m.png"></span>R. BENNET was among the earliest.</p>`,
			"= |MR. BENNET was among the earliest.", "",
		},
		"a heading that is a picture": {
			`<body><h2><img alt="PREFACE." src="p.jpg"></h2><p>` + proseA +
				`</p><h2>Chapter I</h2><p>` + proseB + `</p><h2>Chapter II</h2><p>` + proseA + `</p>`,
			"= PREFACE.|" + proseA + "|= Chapter I|" + proseB + "|= Chapter II|" + proseA, "",
		},
		"a heading with line breaks": {
			`<body><h2><img src="a.png" alt=""><br>CHAPTER 1<br><br>The Lamp</h2><p>` +
				proseA + `</p><h2>CHAPTER 2<br>Pell</h2><p>` + proseB + `</p>`,
			"= CHAPTER 1: The Lamp|" + proseA + "|= CHAPTER 2: Pell|" + proseB, "",
		},
		"a caption in a heading": {
			`<body><h2>CHAPTER 1</h2><p>` + proseA +
				`</p><h2><span class="caption">On the stairs.</span><br><br>CHAPTER 2</h2><p>` + proseB + `</p>`,
			"= CHAPTER 1|" + proseA + "|On the stairs.|= CHAPTER 2|" + proseB, "",
		},
		"hidden": {
			`<body><p>` + proseA +
				`</p><p hidden>x</p><p style="display: none">y</p><div style="visibility:hidden">z</div>`,
			"= |" + proseA,
			"hidden",
		},
		"tables are read": {
			`<body><p>` + proseA +
				`</p><table><tr><td>bread</td><td>2 pence</td></tr></table><div class="footnote"><p>[1] A note.</p></div>`,
			"= |" + proseA + "|bread 2 pence|[1] A note.", "",
		},
		"number and title at two levels": {
			`<body><h1>T</h1><h2>Contents</h2><p>Chapter 1: One<br>Chapter 2: Two</p><h2>T</h2><h3>Chapter 1</h3><h4>One</h4><p>` + proseA + `</p><h3>Chapter 2</h3><h4>Two</h4><p>` + proseB + `</p>`,
			"= Chapter 1: One|" + proseA + "|= Chapter 2: Two|" + proseB, "headings contents",
		},
		"verse": {"<body><div><p>One line,<br>another line.</p></div>", "= |One line,\nanother line.", ""},
	})
}

// TestLinksToChapters: a list of links to the pages of chapters is no chapter, wherever its labels are. Links within a
// chapter are text.
func TestLinksToChapters(t *testing.T) {
	t.Parallel()
	list := func(entry string) string {
		var b strings.Builder
		for n := 1; n <= 4; n++ {
			b.WriteString(strings.ReplaceAll(entry, "#", strconv.Itoa(n)))
		}
		return "<body><h1>The Ford</h1><p>" + proseA + "</p>" + b.String() + "<p>" + proseB + "</p>"
	}
	cases := map[string]readCase{}
	for name, entry := range map[string]string{
		"in the links":     `<li><a href="https://example.org/#">Chapter #: The bend</a></li>`,
		"dates":            `<h3><a href="/ford/#">Chapter #</a></h3><p>12 May</p>`,
		"before the links": `<div>Chapter #</div><a href="/ford/#"><p>The bend</p></a>`,
		"headings":         `<h2>Chapter #</h2><p><a href="/ford/#">The bend of the river</a></p>`,
	} {
		cases[name] = readCase{list(entry), "= The Ford|" + proseA + "|" + proseB, "contents"}
	}
	dates := cases["dates"]
	dates.want = "= The Ford|" + proseA + "|12 May|" + proseB // the last one is not before a link
	cases["dates"] = dates
	cases["chapters"] = readCase{
		"<body><h2>Chapter 1</h2><p><a href='/0'>Back</a> <a href='/'>List</a> <a href='/2'>Next</a></p><p>" + proseA +
			"</p><h2>Chapter 2</h2><p>" + proseB + "</p>",
		"= Chapter 1|Back List Next|" + proseA + "|= Chapter 2|" + proseB, "",
	}
	checkReads(t, "html", cases)
}

func TestFictionBook(t *testing.T) {
	t.Parallel()
	checkReads(t, "fb2", map[string]readCase{
		"sections": {
			`<FictionBook><description><title-info><book-title>T</book-title></title-info></description><body><title><p>T</p></title><section><title><p>Part One</p></title><section><title><p>1</p><p>One</p></title><epigraph><p>Motto.</p></epigraph><p>` + proseA + `<a type="note" l:href="#n1">[1]</a></p></section>` +
				`<section><title><p>2</p><p>Two</p></title><poem><stanza><v>A line,</v><v>a line.</v></stanza></poem><p>` + proseB + `</p></section></section><section><title><p>Part Two</p></title><section><title><p>3</p></title><p>` + proseA + `</p></section></section></body><body name="notes"><title><p>Notes</p></title><section id="n1"><title><p>1</p></title><p>A note.</p></section></body><binary id="c">/9j/4AAQ</binary></FictionBook>`,
			"= Part One, 1: One|Motto.|" + proseA + "|= Part One, 2: Two|A line,\na line.|" + proseB +
				"|= Part Two, 3|" + proseA + "|= Notes|1|A note.", "note-marks title-page",
		},
		"notes with titles": {
			"<FictionBook><body><section><title><p>Chapter 1</p></title><p>" + proseA + "</p></section>" +
				"<section><title><p>Chapter 2</p></title><p>" + proseB + "</p></section></body>" +
				`<body name="notes"><title><p>Remarks</p></title>` +
				"<section><title><p>Note 1</p></title><p>" + proseA + "</p></section>" +
				"<section><title><p>Note 2</p></title><section><p>" + proseB + "</p></section></section>" +
				"</body></FictionBook>",
			"= Chapter 1|" + proseA + "|= Chapter 2|" + proseB +
				"|= Remarks|Note 1|" + proseA + "|Note 2|" + proseB, "",
		},
	})
}

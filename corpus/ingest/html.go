package ingest

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// readHTML reads a book that is a single page.
func (b *book) readHTML(_, text string) error {
	page, err := b.readWholePage(text)
	if err != nil {
		return err
	}
	b.nodes = page.nodes
	title, author := splitPageTitle(oneLine(page.head))
	b.title, b.author = cmp.Or(page.title, title), cmp.Or(page.author, author, authorOf(text))
	return nil
}

// readWholePage reads a page. If more text is outside of the elements that seem to contain the story than inside, they
// do not contain it.
func (b *book) readWholePage(text string) (*page, error) {
	o := pageOptions{keep: b.keep, doc: b.doc}
	page, err := readPage(text, o)
	if err != nil {
		return nil, err
	}
	around := page.account.of(partNavigation) + page.account.of(partAround)
	if around > page.account.Source-page.account.leftOut() {
		o.whole = true
		page, err = readPage(text, o)
	}
	if err != nil {
		return nil, err
	}
	b.account.add(&page.account)
	return page, nil
}

var (
	archivePage = regexp.MustCompile(`(?i)^The Project Gutenberg (?:e-?book|e-?text) of `)
	titleBy     = regexp.MustCompile(`(?i)^(.+?),? by ([^,|]+?)\.?$`)
	titleOnSite = regexp.MustCompile(`^(.+?) - (\S+) - .*\[[^\]]+\]$`)
	siteBehind  = regexp.MustCompile(` [|] [^|]+$`)
	authorLink  = regexp.MustCompile(`(?is)<a\b[^>]*\brel\s*=\s*["']author["'][^>]*>([^<]{1,80})</a>`)
)

// splitPageTitle takes "X, by Y" apart, and the name of a site off.
func splitPageTitle(title string) (book, author string) {
	title = archivePage.ReplaceAllString(title, "")
	title = siteBehind.ReplaceAllString(title, "")
	for _, form := range []*regexp.Regexp{titleOnSite, titleBy} {
		if match := form.FindStringSubmatch(title); match != nil {
			return strings.TrimSpace(match[1]), strings.TrimSpace(match[2])
		}
	}
	return title, ""
}

// authorOf takes the author from the link that a site makes of the name.
func authorOf(document string) string {
	if match := authorLink.FindStringSubmatch(document); match != nil {
		return strings.TrimSpace(html.UnescapeString(match[1]))
	}
	return ""
}

// decodeMarkup turns a file of an archive into UTF-8, by its mark or its declaration. The encoding is that of files
// that have neither and are no UTF-8; "" if there is none.
func decodeMarkup(data []byte, name, encoding string) (string, error) {
	for _, encoding := range []string{"", encoding} {
		data, err := io.ReadAll(decodeReader(bytes.NewReader(data), name, encoding, true))
		if err == nil {
			return string(data), nil
		}
	}
	return "", errNoText
}

package exporters

import (
	"bufio"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"annotator/codex"
)

//go:embed page
var page embed.FS

// htmlPage is what the template of the page shows.
type htmlPage struct {
	*Document
	Last                  int // the number of the last scene that the page tells of
	Style                 template.CSS
	Script                template.JS
	StyleHash, ScriptHash string // for the Content Security Policy
}

// writeHTML writes a document as one page that needs no other file: entries with their facts and quotations, a search,
// and a limit by scene that works within that of the document. Without JavaScript all entries are shown.
func writeHTML(ctx context.Context, w io.Writer, c *Codex) error {
	doc := c.Document
	style, script := pageFile("page.css"), pageFile("page.js")
	p := htmlPage{
		Document: doc, Last: max(1, doc.Story.Scenes), Style: template.CSS(style), Script: template.JS(script),
		StyleHash: hashOf(style), ScriptHash: hashOf(script),
	}
	if doc.AsOf != nil {
		p.Last = max(1, doc.AsOf.Scene)
	}
	byName := entriesByName(doc.Entries)
	parsed, err := template.New("page.html").Funcs(template.FuncMap{
		"title": func(e Entry) string { return nameOf(&e) }, "names": func(e Entry) string { return string(encodeJSON(datedNames(&e), "")) }, "origin": originOf, "aliases": otherNames,
		"scene":  func(post int64) (int, error) { return c.SceneOf(ctx, post) },
		"linked": func(text string) template.HTML { return linkedHTML(text, byName) },
	}).ParseFS(page, "page/page.html")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if err := parsed.Execute(out, p); err != nil {
		return err
	}
	return out.Flush()
}

// pageFile returns a file of the page, which is embedded.
func pageFile(name string) string {
	text, err := page.ReadFile("page/" + name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// otherNames returns the aliases that are not the term.
func otherNames(e Entry) []Alias {
	return slices.DeleteFunc(slices.Clone(e.Aliases), func(a Alias) bool { return codex.Normalize(a.Name) == codex.Normalize(e.Term) })
}

// entriesByName returns the ids of entries by their normalised names.
func entriesByName(entries []Entry) map[string]int64 {
	byName := map[string]int64{}
	for i := range entries {
		e := &entries[i]
		for _, name := range append([]string{nameOf(e), e.Term}, each(e.Aliases, func(a Alias) string { return a.Name })...) {
			if key := codex.Normalize(name); byName[key] == 0 {
				byName[key] = e.ID
			}
		}
	}
	return byName
}

// linkedHTML returns a text of the codex with its links to entries as links of the page.
func linkedHTML(text string, byName map[string]int64) template.HTML {
	var b strings.Builder
	codex.ReplaceLinks(text, func(plain string) { template.HTMLEscape(&b, []byte(plain)) }, func(name, shown string) {
		id := byName[codex.Normalize(name)]
		if id == 0 {
			template.HTMLEscape(&b, []byte(shown))
			return
		}
		b.WriteString(`<a href="#e` + strconv.FormatInt(id, 10) + `">` + template.HTMLEscapeString(shown) + `</a>`)
	})
	return template.HTML(b.String())
}

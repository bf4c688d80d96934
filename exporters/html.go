package exporters

import (
	"bufio"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
)

//go:embed page
var page embed.FS

// htmlPage is what the template of the page shows.
type htmlPage struct {
	*Document
	Past                  []*pageEntry // in the order of their last names
	Shown                 int          // how many are in force at the end
	Last                  int          // the number of the last scene that the page tells of
	Style                 template.CSS
	Script                template.JS
	StyleHash, ScriptHash string // for the Content Security Policy

	ranks   map[nameKey]int
	targets []pageTarget   // of the links in texts, which name them by their numbers
	numbers map[string]int // of targets, by the normalised name
	named   map[string][]pageLead
}

// pageTarget is where links of one name lead: the first that is in force.
type pageTarget []pageLead

// pageLead is an entry that a name stands for.
type pageLead struct {
	entry int64
	title nameKey
	in    bounds
}

// writeHTML writes a codex as one page that needs no other file: entries with their facts and quotations, a search, and a
// limit by scene that works within that of the codex. All that the page shows has the scenes from which and until which it
// is in force. Without JavaScript it shows the last of them.
func writeHTML(ctx context.Context, w io.Writer, c *Codex) error {
	p, err := c.newPage(ctx)
	if err != nil {
		return err
	}
	parsed, err := template.New("page.html").Funcs(template.FuncMap{
		"in": p.attributes, "rank": func(t pageTitle) int { return p.ranks[t.key] }, "linked": p.linked, "targets": p.leads,
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

// newPage follows the entries over the story.
func (c *Codex) newPage(ctx context.Context) (*htmlPage, error) {
	style, script := pageFile("page.css"), pageFile("page.js")
	p := &htmlPage{
		Document: c.Document, Last: max(1, c.Story.Scenes), Style: template.CSS(style), Script: template.JS(script),
		StyleHash: hashOf(style), ScriptHash: hashOf(script), numbers: map[string]int{}, named: map[string][]pageLead{},
	}
	if c.AsOf != nil {
		p.Last = max(1, c.AsOf.Scene)
	}
	for l, err := range c.lives(ctx) {
		if err != nil {
			return nil, err
		}
		p.Last = max(p.Last, l.next[len(l.next)-1].Seen) // a scene may have been read late
		e, err := c.newPageEntry(l)
		if err != nil {
			return nil, err
		}
		if len(e.In) > 0 {
			p.Past = append(p.Past, e)
		}
	}
	p.sort()
	return p, nil
}

// sort ranks all names, sorts the entries by their last ones, and notes which names stand for which entry.
func (p *htmlPage) sort() {
	last := map[*pageEntry]nameKey{}
	p.ranks = map[nameKey]int{}
	for _, e := range p.Past {
		for _, title := range e.Titles {
			p.ranks[title.Value.key] = 0
			if last[e] == (nameKey{}) || title.In.in(p.Last) {
				last[e] = title.Value.key
			}
		}
		for _, name := range e.names {
			p.named[name.Value.name] = append(p.named[name.Value.name], pageLead{e.ID, name.Value.title, name.In})
		}
		if e.In.in(p.Last) {
			p.Shown++
		}
	}
	for i, key := range slices.SortedFunc(maps.Keys(p.ranks), nameKey.compare) {
		p.ranks[key] = i + 1
	}
	slices.SortFunc(p.Past, func(a, b *pageEntry) int { return last[a].compare(last[b]) })
	for _, leads := range p.named {
		slices.SortFunc(leads, func(a, b pageLead) int { return a.title.compare(b.title) })
	}
}

// attributes returns the attributes of what is in force at times.
func (p *htmlPage) attributes(in bounds) template.HTMLAttr {
	text := `data-in="` + in.String() + `"`
	if !in.in(p.Last) {
		text += ` hidden`
	}
	return template.HTMLAttr(text)
}

// linked returns a text of the codex with links of the page. A link has the number of its target.
func (p *htmlPage) linked(text string) template.HTML {
	var b strings.Builder
	codex.ReplaceLinks(text, func(plain string) { template.HTMLEscape(&b, []byte(plain)) }, func(name, shown string) {
		target := p.target(codex.Normalize(name))
		if target < 0 {
			template.HTMLEscape(&b, []byte(shown))
			return
		}
		fmt.Fprintf(&b, `<a data-to="%d"`, target)
		for _, lead := range p.targets[target] {
			if lead.in.in(p.Last) {
				fmt.Fprintf(&b, ` href="#e%d"`, lead.entry)
				break
			}
		}
		b.WriteString(`>` + template.HTMLEscapeString(shown) + `</a>`)
	})
	return template.HTML(b.String())
}

// target returns the number of the target of a name; -1 if the name never stood for an entry.
func (p *htmlPage) target(name string) int {
	number, known := p.numbers[name]
	if !known {
		number = -1
		if leads := p.named[name]; len(leads) > 0 {
			number = len(p.targets)
			p.targets = append(p.targets, leads)
		}
		p.numbers[name] = number
	}
	return number
}

// leads returns the targets for the script: of each its entries, first to last, and when the name stands for them.
func (p *htmlPage) leads() string {
	type lead struct {
		Entry int64  `json:"entry"`
		In    bounds `json:"in"`
	}
	list := each(p.targets, func(t pageTarget) []lead {
		return each(t, func(l pageLead) lead { return lead{l.entry, l.in} })
	})
	return annotator.EncodeJSON(list)
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

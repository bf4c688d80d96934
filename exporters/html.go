package exporters

import (
	"bufio"
	"cmp"
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
	All                   []*pageEntry      // that ever existed, in the order of their last names
	Shown                 int               // how many are in force at the end
	Last                  int               // the last scene of the page
	Told                  timeline[Summary] // the story so far
	Parts                 []*pageChapter
	Style                 template.CSS
	Script                template.JS
	StyleHash, ScriptHash string // for the Content Security Policy

	threads map[int64]string // their titles
	ranks   map[nameKey]int
	targets []pageTarget          // of the links in texts, which have their numbers
	numbers map[string]int        // of targets, by the normalised name
	named   map[string]pageTarget // by the normalised name
}

// pageTarget is the target of the links by one name: the first of these entries that is in force.
type pageTarget []namedEntry

// namedEntry is an entry that had a name.
type namedEntry struct {
	entry int64
	title nameKey
	in    intervals
}

// writeHTML writes a codex as one page that needs no other file. It shows entries with their facts and quotations, a
// front page, chapters, a search, and a limit by chapters. The page counts the scenes in story order. Each value on the
// page has the scenes in which it is in force. Without JavaScript the page shows the codex at its last scene.
func writeHTML(ctx context.Context, w io.Writer, c *Codex) error {
	p, err := c.newPage(ctx)
	if err != nil {
		return err
	}
	parsed, err := template.New("page.html").Funcs(template.FuncMap{
		"in": p.attributes, "rank": func(t pageTitle) int { return p.ranks[t.key] }, "linked": p.linked,
		"link": p.link, "ties": ties,
		"targets": p.encodeTargets, "opening": p.opening, "others": p.others,
		"note": func(v Evidence) string { return v.note() },
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

// newPage collects the versions of all entries over the story.
func (c *Codex) newPage(ctx context.Context) (*htmlPage, error) {
	style, script := pageFile("page.css"), pageFile("page.js")
	p := &htmlPage{
		Document: c.Document, Last: max(1, c.Story.Scenes), Style: template.CSS(style), Script: template.JS(script),
		StyleHash: hashOf(style), ScriptHash: hashOf(script), threads: c.titles(), numbers: map[string]int{},
		named: map[string]pageTarget{},
	}
	if c.AsOf != nil {
		isLast := func(s annotator.SceneOrder) bool { return s.N == c.AsOf.Scene }
		p.Last = 1 + max(0, slices.IndexFunc(c.Scenes, isLast))
	}
	for l, err := range c.histories(ctx) {
		if err != nil {
			return nil, err
		}
		p.Last = max(p.Last, c.count(l.next[len(l.next)-1].Seen)) // a scene may have been read late
		e, err := c.newPageEntry(l)
		if err != nil {
			return nil, err
		}
		if len(e.In) > 0 {
			p.All = append(p.All, e)
		}
	}
	p.sort()
	return p, c.fillChapters(ctx, p)
}

// pageChapter is a chapter with its summaries.
type pageChapter struct {
	Chapter
	From, To int // scenes
	Told     timeline[string]
}

// fillChapters sets the chapters and all summaries.
func (c *Codex) fillChapters(ctx context.Context, p *htmlPage) error {
	counts, parts := map[int]int{}, map[int64]*pageChapter{}
	for i, s := range c.Scenes {
		counts[s.N] = i + 1
	}
	for _, chapter := range c.Chapters {
		part := &pageChapter{Chapter: chapter, From: counts[chapter.FromScene], To: counts[chapter.ToScene]}
		p.Parts, parts[chapter.Thread] = append(p.Parts, part), part
	}
	episodes, known, err := c.History.Episodes(ctx)
	for i := range episodes {
		e, scene := &episodes[i], c.count(known[i])
		if part := parts[e.Thread]; e.Kind == annotator.EpisodeCumulative {
			p.Told.set(scene, NewSummary(e))
		} else if part != nil {
			part.Told.set(scene, e.Summary)
		}
	}
	return err
}

// opening returns the claims that open an entry at the last scene.
func (p *htmlPage) opening(claims []*pageClaim) []*pageClaim {
	open := slices.DeleteFunc(slices.Clone(claims), func(c *pageClaim) bool { return c.Opens.at(p.Last) == 0 })
	slices.SortFunc(open, func(a, b *pageClaim) int { return cmp.Compare(a.Opens.at(p.Last), b.Opens.at(p.Last)) })
	return open
}

// toldClaim is a claim with the heading above it at the last scene; "" if it has none.
type toldClaim struct {
	Claim   *pageClaim
	Heading string
}

// others returns the other claims of an entry as they are told.
func (p *htmlPage) others(e *pageEntry) (others []toldClaim) {
	known, told, at := Entry{}, []Claim{}, []int{}
	for _, title := range e.Titles {
		if title.In.in(p.Last) {
			known.Term = title.Value.Name
		}
	}
	for _, c := range e.Claims {
		shown := Claim{As: c.As, From: annotator.Position{Thread: c.Thread, Scene: c.From}}
		if c.In.in(p.Last) {
			known.Claims = append(known.Claims, shown)
		}
		if c.Opens.at(p.Last) != 0 {
			continue
		}
		if c.In.in(p.Last) {
			told, at = append(told, shown), append(at, len(others))
		}
		others = append(others, toldClaim{Claim: c})
	}
	for _, passage := range known.passages(told, p.threads) {
		others[at[0]].Heading = passage.Heading()
		at = at[len(passage.Claims):]
	}
	return others
}

// sort ranks all titles, sorts the entries by their last titles, and collects the entries of each name.
func (p *htmlPage) sort() {
	last := map[*pageEntry]nameKey{}
	p.ranks = map[nameKey]int{}
	for _, e := range p.All {
		for _, title := range e.Titles {
			p.ranks[title.Value.key] = 0
			if last[e] == (nameKey{}) || title.In.in(p.Last) {
				last[e] = title.Value.key
			}
		}
		for _, name := range e.names {
			p.named[name.Value.name] = append(p.named[name.Value.name], namedEntry{e.ID, name.Value.title, name.In})
		}
		if e.In.in(p.Last) {
			p.Shown++
		}
	}
	for i, key := range slices.SortedFunc(maps.Keys(p.ranks), nameKey.compare) {
		p.ranks[key] = i + 1
	}
	slices.SortFunc(p.All, func(a, b *pageEntry) int { return last[a].compare(last[b]) })
	for _, entries := range p.named {
		slices.SortFunc(entries, func(a, b namedEntry) int { return a.title.compare(b.title) })
	}
}

// attributes returns the attributes of an element that is in force at times.
func (p *htmlPage) attributes(in intervals) template.HTMLAttr {
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
		b.WriteString(string(p.link(name, shown)))
	})
	return template.HTML(b.String())
}

// link returns some words as a link to what a name names at each scene, or without one if nothing ever had the name.
func (p *htmlPage) link(name, shown string) template.HTML {
	target, href := p.target(codex.Normalize(name)), ""
	if target < 0 {
		return template.HTML(template.HTMLEscapeString(shown))
	}
	for _, named := range p.targets[target] {
		if named.in.in(p.Last) {
			href = fmt.Sprintf(` href="#e%d"`, named.entry)
			break
		}
	}
	return template.HTML(fmt.Sprintf(`<a data-to="%d"%s>%s</a>`, target, href, template.HTMLEscapeString(shown)))
}

// ties returns the claims that have a relation at some time.
func ties(claims []*pageClaim) []*pageClaim {
	return slices.DeleteFunc(slices.Clone(claims), func(c *pageClaim) bool { return len(c.Tie) == 0 })
}

// target returns the number of the target of a name; -1 if no entry ever had it.
func (p *htmlPage) target(name string) int {
	number, known := p.numbers[name]
	if !known {
		number = -1
		if entries := p.named[name]; len(entries) > 0 {
			number = len(p.targets)
			p.targets = append(p.targets, entries)
		}
		p.numbers[name] = number
	}
	return number
}

// encodeTargets returns the targets as JSON for the script: the entries of each in order, and when they have the name.
func (p *htmlPage) encodeTargets() string {
	type named struct {
		Entry int64     `json:"entry"`
		In    intervals `json:"in"`
	}
	return annotator.EncodeJSON(each(p.targets, func(t pageTarget) []named {
		return each(t, func(e namedEntry) named { return named{e.entry, e.in} })
	}))
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

// entriesByName returns the ids of entries by their normalised names.
func entriesByName(entries []Entry) map[string]int64 {
	byName := map[string]int64{}
	for i := range entries {
		e := &entries[i]
		for _, name := range append([]string{nameOf(e), e.Term},
			each(e.Aliases, func(a Alias) string { return a.Name })...) {
			if key := codex.Normalize(name); byName[key] == 0 {
				byName[key] = e.ID
			}
		}
	}
	return byName
}

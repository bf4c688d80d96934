package web

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"annotator"
	"annotator/codex"
)

// page is the data of a template.
type page struct {
	*request
	template string
	layout   string // the part that is sent; empty: the whole page
	status   int    // 0: 200
	Title    string
	Section  string // of the navigation
	Data     any
	JSON     string // the URL of the same as JSON; empty: there is none
}

// pageTemplate is a template within the layout of all pages.
type pageTemplate struct{ t *template.Template }

func (t *pageTemplate) execute(w io.Writer, p *page) error {
	if t == nil {
		return fmt.Errorf("there is no template %q", p.template)
	}
	return t.t.ExecuteTemplate(w, cmp.Or(p.layout, "layout"), p)
}

// parseTemplates reads the templates: each page with the layout and the other parts.
func (s *Server) parseTemplates() (map[string]*pageTemplate, error) {
	functions := template.FuncMap{
		"plural": plural, "number": groupDigits, "tokens": shortNumber, "short": shorten, "plain": codex.WithoutLinks,
		"time": localTime, "percent": annotator.Percent, "add": func(a, b int) int { return a + b },
		"asset": s.asset, "words": words, "field": fieldName, "minus": func(a, b int) int { return a - b },
		"scene": sceneLabel, "gist": gist, "brief": brief, "sections": sectionsOf,
		"status": statusName,
	}
	common, err := template.New("").Funcs(functions).ParseFS(files, "templates/parts/*.html")
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	pages := map[string]*pageTemplate{}
	for _, name := range names {
		t, err := common.Clone()
		if err == nil {
			t, err = t.ParseFS(files, name)
		}
		if err != nil {
			return nil, err
		}
		pages[strings.TrimSuffix(path.Base(name), ".html")] = &pageTemplate{t}
	}
	return pages, nil
}

// InDatabase reports whether the page is one of a database.
func (p *page) InDatabase() bool { return p.db != nil }

// HasHeader reports whether the page has a header, which leads to other pages.
func (p *page) HasHeader() bool { return p.db != nil && p.view != nil }

// IsServersLimit reports whether the server's limit is that of the page.
func (p *page) IsServersLimit() bool {
	return p.db.bounded() && (p.limit.point == "" || p.limit.point == noLimit)
}

// StoryTitle returns the title of the story, or the name of the database where it has none.
func (p *page) StoryTitle() (string, error) {
	pulse, err := p.db.DB.Run.Pulse(p.Context())
	return cmp.Or(pulse.Title, p.db.Name), err
}

// HasList reports whether the server has a list of databases.
func (p *page) HasList() bool {
	s := p.db.server
	return len(s.served)+len(s.Unreadable) > 1
}

// AsOf returns the limit in the form of links; empty if they have none.
func (p *page) AsOf() string { return p.limit.inLinks() }

// Limited reports whether there is a limit.
func (p *page) Limited() bool { return p.limit.Limited() }

// choice is a link to the same page with another setting.
type choice struct{ Name, Label, URL string }

// At returns the URL of the first page under another limit.
func (p *page) At(point string) string {
	r := *p.request
	r.limit.point = point
	return r.Link("entries")
}

// Of returns the page with other data, for a part that is also sent alone.
func (p *page) Of(data any) *page {
	part := *p
	part.Data = data
	return &part
}

// With returns the data of a part of a template: the page and named values.
func (p *page) With(pairs ...any) map[string]any {
	values := map[string]any{"Page": p}
	for i := 0; i+1 < len(pairs); i += 2 {
		values[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return values
}

// tab is a link of the navigation.
type tab struct {
	URL, Label string
	Current    bool
}

// Tab returns the link to a section of the pages.
func (p *page) Tab(section, label string, path ...any) tab {
	return tab{p.Link(path...), label, p.Section == section}
}

// RunTab returns the link to the pages of the run, which have sections of their own.
func (p *page) RunTab() tab {
	run := p.Tab("run", "Run", "run")
	run.Current = run.Current || slices.Contains([]string{"plots", "snapshots", "audit"}, p.Section) ||
		p.Section == "review" && !p.MayEdit()
	return run
}

// CastTab returns the link to the pages of people and events, which have sections of their own.
func (p *page) CastTab() tab {
	cast := p.Tab("cast", "Cast", "cast")
	cast.Current = slices.Contains([]string{"cast", "timeline", "standing"}, p.Section)
	return cast
}

// plural counts things: "1 scene", "2 entries".
func plural(n int, noun string) string { return groupDigits(n) + " " + annotator.Plural(n, noun) }

// groupDigits writes a number with a thin space between groups of three digits.
func groupDigits(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

// shorten cuts a text to a maximum number of characters, after a word if one ends in the second half.
func shorten(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	cut := strings.TrimSpace(string(runes[:limit-1]))
	if space := strings.LastIndexByte(cut, ' '); runes[limit-1] != ' ' && space > len(cut)/2 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " -–—,;:(") + "…"
}

// gist says in short who or what an entry is.
func gist(e *annotator.Entry) string { return codex.WithoutLinks(codex.Gist(e)) }

// brief cuts a text to a maximum number of characters: after a sentence, or else within the first one.
func brief(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	for at := limit; at > 0; at-- {
		if endsSentence(runes, at) {
			return strings.TrimSpace(string(runes[:at]))
		}
	}
	return shorten(text, limit)
}

// words formats a code as words.
func words(code any) string { return strings.ReplaceAll(fmt.Sprint(code), "_", " ") }

// fieldName returns the name of a field of an entry on pages.
func fieldName(f annotator.Field) string {
	switch f {
	case annotator.FieldAlias:
		return "name"
	case annotator.FieldClaim:
		return "fact"
	case annotator.FieldEvidence:
		return "quotation"
	case annotator.FieldPresent:
		return "what it is now"
	case annotator.FieldCuratorDecision:
		return "decision"
	}
	return words(f)
}

// statusName says to a reader how sure an entry is.
func statusName(s annotator.Status) string {
	switch s {
	case annotator.Tentative:
		return "not certain yet"
	case annotator.Confirmed:
		return "certain"
	case annotator.Retired:
		return "taken out"
	case annotator.Merged:
		return "now part of another"
	}
	return words(s)
}

// localTime writes a time in unix milliseconds.
func localTime(millis int64) string {
	if millis == 0 {
		return ""
	}
	return time.UnixMilli(millis).Format("2006-01-02 15:04:05")
}

// shortNumber writes a number with a unit: 12k, 3.4M.
func shortNumber(n int) string {
	for _, unit := range []struct {
		size int
		name string
	}{{1_000_000, "M"}, {1_000, "k"}} {
		if n >= unit.size {
			return strings.TrimSuffix(strconv.FormatFloat(float64(n)/float64(unit.size), 'f', 1, 64), ".0") + unit.name
		}
	}
	return strconv.Itoa(n)
}

package web

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"annotator"
	"annotator/codex"
	"annotator/view"
)

// page is the data of a template.
type page struct {
	*request
	template string
	status   int // 0: 200
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
	return t.t.ExecuteTemplate(w, "layout", p)
}

// parseTemplates reads the templates: each page with the layout and the other parts.
func (s *Server) parseTemplates() (map[string]*pageTemplate, error) {
	functions := template.FuncMap{
		"plural": plural, "number": groupDigits, "tokens": shortNumber, "short": shorten, "plain": codex.WithoutLinks,
		"time": localTime, "percent": percent, "add": func(a, b int) int { return a + b },
		"asset": s.asset, "words": words, "field": fieldName, "minus": func(a, b int) int { return a - b },
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

// Name returns the name of the database in URLs.
func (p *page) Name() string { return p.db.Name }

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
func (p *page) AsOf() string { return p.limit.point }

// Limited reports whether there is a limit.
func (p *page) Limited() bool { return p.limit.Limited() }

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

// choice is a link to the same page with another setting.
type choice struct{ Name, Label, URL string }

// Densities returns the choices of which names are links.
func (p *page) Densities() []choice {
	scene, quote := p.PathValue("id"), p.URL.Query().Get("quote")
	choices := []choice{{namesAll, "all", ""}, {namesFirst, "the first in a scene", ""}, {namesNone, "none", ""}}
	for i := range choices {
		choices[i].URL = p.Link("scene", scene, "?", "names", choices[i].Name, "quote", quote)
	}
	return choices
}

// limitBar is the bar with the limit, on every page.
type limitBar struct {
	Limited bool
	AtScene bool   // the limit is the end of a scene
	Point   string // of the limit
	Scene   int    // of the limit; without one, the last scene of the story
	Thread  string // the title of the limit's thread
	Last    int    // the last scene that can be a limit; 0: none
	Chosen  bool   // the reader has set the limit
	Bounded bool   // the server has a limit
	Back    string // the page to which the form returns
	Action  string // of the form
}

// Bar returns the bar with the limit.
func (p *page) Bar() (limitBar, error) {
	bar := limitBar{Limited: p.limit.Limited(), Bounded: p.db.bounded(), Point: p.limit.point, Back: p.URL.RequestURI()}
	pulse, err := p.db.DB.Run.Pulse(p.Context())
	if err == nil {
		bar.Last, err = p.db.lastChoice(p.Context(), pulse.Scenes)
	}
	bar.Scene = bar.Last
	bar.Chosen = bar.Limited && bar.Point != "" && bar.Point != noLimit
	if bar.Limited && !bar.Chosen {
		bar.Point = p.db.Point.String()
	}
	if p.Method != http.MethodGet {
		bar.Back = p.URL.Path
	}
	bar.Action = p.Link("limit")
	if bar.Limited {
		bar.AtScene = strings.HasPrefix(bar.Point, string(view.PointScene)+":")
		bar.Scene = p.limit.moment.Scene
	}
	if err != nil || p.view == nil || !bar.Limited || bar.Scene == 0 {
		return bar, err
	}
	scene, err := p.view.Scene(p.Context(), bar.Scene)
	if isNotFound(err) { // the limit is inside its scene
		return bar, nil
	}
	if err == nil {
		bar.Thread = scene.Thread.Title
	}
	return bar, err
}

// limitForm is the form that sets the limit to the current page.
type limitForm struct{ Action, Back, Point, Label string }

// LimitForm returns that form; nil if the limit is already there.
func (p *page) LimitForm(kind string, id any, label string) *limitForm {
	point := fmt.Sprintf("%s:%v", kind, id)
	if p.limit.point == point {
		return nil
	}
	if _, _, err := p.moment(point); err != nil { // after the server's limit
		return nil
	}
	return &limitForm{p.Link("limit"), p.URL.RequestURI(), point, label}
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
	return cut + "…"
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

func percent(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return part * 100 / whole
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

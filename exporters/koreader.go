package exporters

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"annotator"

	"annotator/codex"
)

// maxCheckpoints is the number of earlier states in a sidecar, and the maximum of KOAssistant.
const maxCheckpoints = 20

// xray is the X-Ray of KOAssistant (koassistant_xray_parser.lua).
type xray struct {
	Characters []xrayCharacter `json:"characters"`
	Locations  []xrayLocation  `json:"locations"`
	Themes     []any           `json:"themes"`
	Lexicon    []xrayTerm      `json:"lexicon"`
	Timeline   []xrayEvent     `json:"timeline"`
	State      xrayState       `json:"current_state"`
}

type xrayCharacter struct {
	Name        string   `json:"name"`
	Aliases     []string `json:"aliases"`
	Role        string   `json:"role"`
	Description string   `json:"description"`
	Connections []string `json:"connections"`
}

type xrayLocation struct {
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	Significance string   `json:"significance"`
	References   []string `json:"references"`
}

type xrayTerm struct {
	Term       string `json:"term"`
	Definition string `json:"definition"`
}

type xrayEvent struct {
	Event        string   `json:"event"`
	Chapter      string   `json:"chapter"`
	Significance string   `json:"significance"`
	Characters   []string `json:"characters"`
}

type xrayState struct {
	Summary   string   `json:"summary"`
	Conflicts []string `json:"conflicts"`
	Questions []string `json:"questions"`
}

// state is the codex at a time.
type state struct {
	lore      []lore // without claims, sorted by name
	summaries *Summaries
	titles    map[int64]string // of the threads
}

// events returns the summaries of threads.
func (s *state) events() []Summary {
	if s.summaries == nil {
		return nil
	}
	return s.summaries.Threads
}

// writeKOReader writes the sidecars of two plugins of KOReader, in the folder that KOReader has for a book. One is the
// X-Ray of KOAssistant, with checkpoints at earlier places. The other is the cache of xray.koplugin.
func writeKOReader(ctx context.Context, files Files, c *Codex) error {
	threads, err := c.Text.Threads(ctx)
	if err != nil {
		return err
	}
	titles := c.titles()
	marks, err := c.marks(ctx, threads)
	if err != nil {
		return err
	}
	last := marks[len(marks)-1]
	newest := &state{c.lore(), c.Summaries, titles}
	folder := noteName(c.Name) + ".sdr/"
	cache := luaTable{"_xray_cache": c.checkpoint(newest, last)}
	if err := writeLua(files, folder+"koassistant_cache.lua", "", cache); err != nil {
		return err
	}
	states, err := c.states(ctx, marks[:len(marks)-1])
	if err != nil {
		return err
	}
	var checkpoints []any // newest first
	for i := len(states) - 1; i >= 0; i-- {
		states[i].titles = titles
		checkpoints = append(checkpoints, c.checkpoint(&states[i], marks[i]))
	}
	count := fmt.Sprintf("-- count: %d\n", len(checkpoints))
	if err := writeLua(files, folder+"koassistant_xray_checkpoints.lua", count, checkpoints); err != nil {
		return err
	}
	return writeLua(files, folder+"xray_cache.lua", "", c.pluginCache(newest))
}

// lore returns the lore of all entries.
func (c *Codex) lore() []lore {
	titles := c.titles()
	return each(c.Entries, func(e Entry) lore { return loreOf(&e, titles) })
}

// states returns the codex as of the ends of scenes, which are in ascending order.
func (c *Codex) states(ctx context.Context, marks []mark) ([]state, error) {
	titles := c.titles()
	states, keys := make([]state, len(marks)), make([]map[*Entry]nameKey, len(marks))
	episodes, known, err := c.History.Episodes(ctx)
	if err != nil {
		return nil, err
	}
	for i, at := range marks {
		states[i].summaries, keys[i] = summariesAt(at.scene.Order, episodes, known), map[*Entry]nameKey{}
	}
	for l, err := range c.histories(ctx) {
		if err != nil {
			return nil, err
		}
		var former lore
		for i, at := range marks {
			e, since, err := l.at(at.scene.Order)
			if err != nil {
				return nil, err
			}
			if !c.has(e) {
				continue
			}
			if former.Entry == nil || len(since) > 0 {
				exported := NewEntry(e, c.sceneOf)
				former = loreOf(&exported, titles)
				exported.Claims = nil
			}
			states[i].lore = append(states[i].lore, former)
			keys[i][former.Entry] = keyOf(e)
		}
	}
	for i := range states {
		slices.SortFunc(states[i].lore, func(a, b lore) int { return keys[i][a.Entry].compare(keys[i][b.Entry]) })
	}
	return states, nil
}

// mark is a place of the story with the share of the text up to its end.
type mark struct {
	scene annotator.SceneOrder
	share float64
}

// marks returns up to maxCheckpoints+1 ends of scenes at equal distances in the text; the last is the end. Shares are
// of the whole text, even if the codex ends earlier.
func (c *Codex) marks(ctx context.Context, threads []Thread) ([]mark, error) {
	var ends []mark
	length := 0
	for _, thread := range threads {
		for post, err := range c.Text.Posts(ctx, thread.ID) {
			if err != nil {
				return nil, err
			}
			length += len(post.Body)
			if n := len(ends); n == 0 || ends[n-1].scene.N != post.Scene {
				ends = append(ends, mark{scene: annotator.SceneOrder{N: post.Scene, Order: post.Place.Order()}})
			}
			ends[len(ends)-1].share = float64(length)
		}
	}
	if len(ends) == 0 {
		return []mark{{}}, nil
	}
	// A codex that ends after n of m scenes has read about n/m of the book.
	whole := float64(length) * max(1, float64(len(c.Scenes))/float64(c.count(ends[len(ends)-1].scene.Order)))
	var chosen []mark
	for i, end := range ends {
		step := float64(length) / (maxCheckpoints + 1) * float64(len(chosen)+1)
		if end.share >= step || i == len(ends)-1 {
			chosen = append(chosen, mark{end.scene, end.share / whole})
		}
	}
	return chosen, nil
}

// checkpoint returns an entry of KOAssistant's cache.
func (c *Codex) checkpoint(s *state, at mark) luaTable {
	people, places, things := byKind(s.lore)
	x := xray{
		Characters: each(people, func(l lore) xrayCharacter {
			return xrayCharacter{
				Name: l.Title, Aliases: aliasNames(l.Entry), Role: strings.Join(l.Tags, ", "), Description: l.Content,
				Connections: []string{},
			}
		}),
		Locations: each(places, func(l lore) xrayLocation {
			return xrayLocation{Name: l.Title, Description: l.Content, References: []string{}}
		}),
		Themes:  []any{},
		Lexicon: each(things, func(l lore) xrayTerm { return xrayTerm{l.Title, l.Content} }),
		Timeline: each(s.events(), func(e Summary) xrayEvent {
			return xrayEvent{Event: e.Text, Chapter: s.titles[*e.Thread], Characters: []string{}}
		}),
		State: xrayState{Conflicts: []string{}, Questions: []string{}},
	}
	if s.summaries != nil && s.summaries.Story != nil {
		story := s.summaries.Story
		x.State.Summary = codex.Dated(story.Text, story.ToScene, story.ToScene < at.scene.N)
	}
	return luaTable{
		"progress_decimal": at.share, "timestamp": c.Updated.Unix(), "archived_at": c.Updated.Unix(),
		"model": "annotator", "version": 2,
		"used_book_text": true, "chapter_label": fmt.Sprintf("scene %d", at.scene.N),
		"result": string(encodeJSON(x, "")),
	}
}

// pluginCache returns the cache of xray.koplugin, version 6.0.
func (c *Codex) pluginCache(s *state) luaTable {
	people, places, things := byKind(s.lore)
	return luaTable{
		"cache_version": "6.0", "cached_at": c.Updated.Unix(), "book_title": c.Story.Title,
		"historical_figures": []any{},
		"characters": each(people, func(l lore) any {
			return luaTable{
				"name": l.Title, "aliases": luaList(aliasNames(l.Entry)),
				"role": strings.Join(l.Tags, ", "), "description": l.Content,
			}
		}),
		"locations": each(places, func(l lore) any { return luaTable{"name": l.Title, "description": l.Content} }),
		"terms": each(things, func(l lore) any {
			return luaTable{"name": l.Title, "aliases": luaList(aliasNames(l.Entry)), "definition": l.Content}
		}),
		"timeline": each(s.events(),
			func(e Summary) any { return luaTable{"chapter": s.titles[*e.Thread], "event": e.Text} }),
	}
}

// byKind divides entries by the first tag that denotes a person, a creature or a place.
func byKind(entries []lore) (people, places, things []lore) {
	for _, l := range entries {
		kind := slices.IndexFunc(l.Tags, func(tag string) bool {
			return slices.Contains([]string{"People", "Creatures", "Places"}, vaultFolders[tag])
		})
		switch {
		case kind < 0:
			things = append(things, l)
		case vaultFolders[l.Tags[kind]] == "Places":
			places = append(places, l)
		default:
			people = append(people, l)
		}
	}
	return people, places, things
}

// aliasNames returns the aliases that are not the term.
func aliasNames(e *Entry) []string {
	return codex.OtherNames(each(e.Aliases, func(a Alias) string { return a.Name }), e.Term)
}

// luaList returns texts as a list.
func luaList(texts []string) []any { return each(texts, func(text string) any { return text }) }

// luaTable is a table with names as keys.
type luaTable map[string]any

// writeLua writes a file that returns a value.
func writeLua(files Files, name, head string, value any) error {
	var b strings.Builder
	luaValue(&b, value, "")
	return writeText(files, name, head+"return "+b.String()+"\n")
}

// luaValue writes a value as an expression of Lua.
func luaValue(b *strings.Builder, value any, indent string) {
	deeper := indent + "  "
	switch value := value.(type) {
	case luaTable:
		b.WriteString("{\n")
		for _, key := range slices.Sorted(maps.Keys(value)) {
			fmt.Fprintf(b, "%s[%s] = ", deeper, luaString(key))
			luaValue(b, value[key], deeper)
			b.WriteString(",\n")
		}
		b.WriteString(indent + "}")
	case []any:
		b.WriteString("{\n")
		for _, item := range value {
			b.WriteString(deeper)
			luaValue(b, item, deeper)
			b.WriteString(",\n")
		}
		b.WriteString(indent + "}")
	case string:
		b.WriteString(luaString(value))
	default:
		fmt.Fprint(b, value) // numbers and booleans read as in Go
	}
}

// luaString returns a text as a string of Lua 5.1.
func luaString(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, "\\%03d", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

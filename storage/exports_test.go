package storage_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
	"annotator/storage"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
	lua "github.com/yuin/gopher-lua"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"
)

// storyText is the text of a story within the limit of a view.
type storyText struct {
	*view.View
	scenes []*annotator.Scene
}

func (t storyText) Threads(ctx context.Context) ([]exporters.Thread, error) {
	spans, err := t.View.Threads(ctx)
	var threads []exporters.Thread
	for i := range spans {
		threads = append(threads, exporters.Thread{ID: spans[i].ID, Title: spans[i].Title})
	}
	return threads, err
}

func (t storyText) Posts(ctx context.Context, thread int64) iter.Seq2[*exporters.Post, error] {
	return func(yield func(*exporters.Post, error) bool) {
		rows, err := t.Scenes(ctx, thread)
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range rows {
			for rank := range rows[i].Posts {
				place := annotator.PlaceAt(rows[i].Order, rank)
				p := exporters.Post{
					Post: t.scenes[rows[i].N-1].Posts[rank], Place: place, Scene: rows[i].N, Document: "text.xhtml",
					Offset: offsetOf(t.scenes, place),
				}
				if !yield(&p, nil) {
					return
				}
			}
		}
	}
}

func (t storyText) Mentions(ctx context.Context, thread int64) (map[annotator.Place][]exporters.Mention, error) {
	return t.mentions(ctx, thread, t.MentionsIn)
}

func (t storyText) MentionsThen(ctx context.Context, thread int64) (map[annotator.Place][]exporters.Mention, error) {
	return t.mentions(ctx, thread, t.View.MentionsThen)
}

func (t storyText) mentions(ctx context.Context, thread int64,
	in func(context.Context, annotator.Order, annotator.Order) ([]storage.Mention, error),
) (map[annotator.Place][]exporters.Mention, error) {
	span, err := t.Thread(ctx, thread)
	if err != nil {
		return nil, err
	}
	found, err := in(ctx, span.Order, orderOf(span.Last))
	byPost := map[annotator.Place][]exporters.Mention{}
	for _, m := range found {
		byPost[m.Place] = append(byPost[m.Place], exporters.Mention{Entry: m.Entry, Start: m.Start, End: m.End})
	}
	return byPost, err
}

// bookText returns the only document of the book of a story: a paragraph for each post.
func bookText(scenes []*annotator.Scene) string {
	var b strings.Builder
	b.WriteString("<html><body>")
	for _, s := range scenes {
		for _, p := range s.Posts {
			fmt.Fprintf(&b, `<p id="p%d">%s</p>`, p.ID, p.Body)
		}
	}
	return b.String() + "</body></html>"
}

// offsetOf returns where a post begins in the book.
func offsetOf(scenes []*annotator.Scene, place annotator.Place) int64 {
	id := scenes[place.Order()/annotator.OrderStep-1].Posts[place.Rank()].ID
	return int64(strings.Index(bookText(scenes), fmt.Sprintf(`<p id="p%d">`, id)))
}

// writeBook writes the book of a story and returns its path.
func writeBook(t tester, dir string, scenes []*annotator.Scene) string {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for name, text := range map[string]string{
		"META-INF/container.xml": `<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>`,
		"book.opf":               `<package version="3.0"><manifest></manifest><spine></spine></package>`,
		"text.xhtml":             bookText(scenes),
	} {
		w, err := archive.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "book.epub")
	if err := errors.Join(archive.Close(), os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// exported is the codex of a story within a limit, in all formats with states and one without.
type exported struct {
	*exporters.Document
	page     *html.Node
	lore     map[int64]string // the text of each entry
	notes    map[string]string
	sidecars map[int]string // the X-Ray of each checkpoint, by its scene
	xray     string         // that of the limit
}

func (s *story) export(m view.Moment, book string) *exported {
	s.Helper()
	view := view.At(s.db, m)
	var entries []annotator.Entry
	for e, err := range view.All(s.ctx) {
		s.ok(err)
		entries = append(entries, *e)
	}
	document := exporters.Build(exporters.Story{Title: "A story", Scenes: len(s.scenes)},
		exporters.Select(entries, nil, nil), func(p annotator.Place) annotator.Position {
			return annotator.Position{Scene: int(p.Order() / annotator.OrderStep)}
		})
	if !m.IsZero() {
		document.AsOf = &annotator.Position{Scene: m.Scene}
	}
	told, err := view.Story(s.ctx)
	s.ok(err)
	threads, err := view.Summaries(s.ctx)
	s.ok(err)
	document.Summaries = exporters.NewSummaries(told, threads)
	c := &exporters.Codex{Document: &document, History: view, Name: "book", Text: storyText{view, s.scenes}, Book: book}
	c.Scenes, err = s.db.Scenes.Orders(s.ctx)
	s.ok(err)
	write := func(name string) []byte {
		format, err := exporters.ByName(name)
		s.ok(err)
		var out bytes.Buffer
		s.ok(format.WriteOne(s.ctx, &out, c))
		return out.Bytes()
	}
	x := &exported{
		Document: &document, lore: map[int64]string{}, notes: map[string]string{},
		sidecars: map[int]string{},
	}
	x.page, err = html.Parse(bytes.NewReader(write("html")))
	s.ok(err)
	var lorebook struct {
		Entries map[string]struct {
			UID              int64
			Comment, Content string
		}
	}
	s.ok(json.Unmarshal(write("world-info"), &lorebook))
	for _, e := range lorebook.Entries {
		x.lore[e.UID] = strings.Join(strings.Fields(e.Comment+" "+e.Content), " ")
	}
	x.readBook(s, write("epub"))
	x.readSidecars(s, write("koreader"))
	return x
}

// readBook reads the notes of a book by the post and the name of their links. A text is that of the entry's id, name
// and paragraphs.
func (x *exported) readBook(s *story, book []byte) {
	files := map[string]string{}
	archive, err := zip.NewReader(bytes.NewReader(book), int64(len(book)))
	s.ok(err)
	for _, f := range archive.File {
		r, err := f.Open()
		s.ok(err)
		text, err := io.ReadAll(r)
		s.ok(err)
		files[f.Name] = string(text)
	}
	for _, p := range regexp.MustCompile(`<p id="p(\d+)">(.*?)</p>`).FindAllStringSubmatch(files["text.xhtml"], -1) {
		for _, a := range regexp.MustCompile(`<a [^>]*href="([^"#]+)#e((\d+)-\d+)">([^<]*)</a>`).
			FindAllStringSubmatch(p[2], -1) {
			note := regexp.MustCompile(`(?s)<aside id="e` + a[2] +
				`"[^>]*>(.*?)</aside>`).FindStringSubmatch(files[a[1]])
			if note == nil {
				s.Fatalf("%s has no note on entry %s", a[1], a[2])
			}
			text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(
				strings.ReplaceAll(note[1], "</p><p>", " "), ""))
			x.notes[p[1]+" "+a[4]] = a[3] + " " + text
		}
	}
}

// readSidecars reads the X-Rays of KOAssistant.
func (x *exported) readSidecars(s *story, archive []byte) {
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	s.ok(err)
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	read := func(name string) *lua.LTable {
		f, err := files.Open("book.sdr/" + name)
		s.ok(err)
		text, err := io.ReadAll(f)
		s.ok(errors.Join(err, state.DoString(string(text))))
		defer state.Pop(1)
		return state.Get(-1).(*lua.LTable)
	}
	read("koassistant_xray_checkpoints.lua").ForEach(func(_, value lua.LValue) {
		var scene int
		_, err := fmt.Sscanf(value.(*lua.LTable).RawGetString("chapter_label").String(), "scene %d", &scene)
		s.ok(err)
		x.sidecars[scene] = value.(*lua.LTable).RawGetString("result").String()
	})
	x.xray = read("koassistant_cache.lua").RawGetString("_xray_cache").(*lua.LTable).RawGetString("result").String()
}

// shown returns what the page shows at a scene, as its script has it.
func (x *exported) shown(scene int) []string {
	inForce := func(scenes []int) bool {
		return len(slices.DeleteFunc(slices.Clone(scenes), func(n int) bool { return n > scene }))%2 == 1
	}
	hidden := func(n *html.Node) bool {
		return attribute(n, "data-in") != "" && !inForce(numbersOf(n, "data-in"))
	}
	var targets [][]struct {
		Entry int64
		In    []int
	}
	var articles []*html.Node
	for n := range x.page.Descendants() {
		switch {
		case attribute(n, "id") == "targets":
			_ = json.Unmarshal([]byte(attribute(n, "data-targets")), &targets)
		case n.DataAtom == atom.Article && !hidden(n):
			articles = append(articles, n)
		}
	}
	order := func(n *html.Node) []int {
		opens := 0
		for set := range slices.Chunk(numbersOf(n, "data-opens"), 2) {
			if set[0] <= scene {
				opens = set[1]
			}
		}
		switch {
		case opens != 0:
			return []int{0, opens}
		case attribute(n, "class") == "present":
			return []int{1}
		}
		return append([]int{2}, numbersOf(n, "data-n")...)
	}
	var text func(n *html.Node) string
	text = func(n *html.Node) string {
		var b strings.Builder
		children := slices.Collect(n.ChildNodes())
		slices.SortStableFunc(children, func(a, b *html.Node) int { return slices.Compare(order(a), order(b)) })
		for _, child := range children {
			switch {
			case child.Type == html.TextNode:
				b.WriteString(child.Data)
			case hidden(child), attribute(child, "class") == "heading": // the script writes headings anew
			case child.DataAtom == atom.Dl:
				var ties []string
				for tie := range child.ChildNodes() {
					if !hidden(tie) {
						ties = append(ties, strings.Join(strings.Fields(text(tie)), " "))
					}
				}
				b.WriteString(" " + inAnyOrder(ties) + " ")
			case attribute(child, "data-to") != "":
				number, _ := strconv.Atoi(attribute(child, "data-to"))
				b.WriteString(text(child))
				for _, target := range targets[number] {
					if inForce(target.In) {
						fmt.Fprintf(&b, "→%d", target.Entry)
						break
					}
				}
			case child.DataAtom == atom.Li:
				b.WriteString(" " + text(child) + " ")
			default:
				b.WriteString(text(child))
			}
		}
		return b.String()
	}
	rank := func(article *html.Node) int {
		for n := range article.Descendants() {
			if number := attribute(n, "data-rank"); number != "" && !hidden(n) {
				rank, _ := strconv.Atoi(number)
				return rank
			}
		}
		return 0
	}
	slices.SortStableFunc(articles, func(a, b *html.Node) int { return rank(a) - rank(b) })
	var lines []string
	for _, a := range articles {
		lines = append(lines, strings.Join(strings.Fields(attribute(a, "id")+" "+text(a)), " "))
	}
	return lines
}

// numbersOf returns the numbers in an attribute.
func numbersOf(n *html.Node, name string) (numbers []int) {
	for field := range strings.FieldsSeq(attribute(n, name)) {
		number, _ := strconv.Atoi(field)
		numbers = append(numbers, number)
	}
	return numbers
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// wanted returns what the page should show of the document, at its end.
func (x *exported) wanted() []string {
	names := map[string]int64{}
	for _, e := range x.Entries {
		named := annotator.Entry{Term: e.Term, Disambiguator: e.Disambiguator}
		for _, name := range append([]string{named.Name(), e.Term}, aliases(e)...) {
			if key := codex.Normalize(name); names[key] == 0 {
				names[key] = e.ID
			}
		}
	}
	var lines []string
	linked := func(text string) string {
		var b strings.Builder
		codex.ReplaceLinks(text, func(plain string) { b.WriteString(plain) }, func(name, shown string) {
			if b.WriteString(shown); names[codex.Normalize(name)] != 0 {
				fmt.Fprintf(&b, "→%d", names[codex.Normalize(name)])
			}
		})
		return b.String()
	}
	for _, e := range x.Entries {
		named := annotator.Entry{Term: e.Term, Disambiguator: e.Disambiguator}
		parts := []string{fmt.Sprintf("e%d", e.ID), named.Name(), strings.Join(e.Tags, " "), string(e.Status)}
		for _, alias := range aliases(e) {
			if codex.Normalize(alias) != codex.Normalize(e.Term) {
				parts = append(parts, alias)
			}
		}
		var ties []string
		for _, c := range e.Claims {
			if c.Relation == "" || c.Until != nil || !c.Shown() {
				continue
			}
			tie := fmt.Sprintf("%s %s scene %d", c.Relation, linked("[["+c.Object+"]]"), c.From.Scene)
			for _, v := range c.Evidence {
				tie += fmt.Sprintf("post %d%s", v.Post, v.Quote)
			}
			ties = append(ties, strings.Join(strings.Fields(tie), " "))
		}
		parts = append(parts, inAnyOrder(ties))
		reading := e.Reading(nil)
		for i, c := range reading.Claims() {
			if i == len(reading.Opening) {
				parts = append(parts, present(&e, linked))
			}
			parts = append(parts, c.Thought()+linked(c.Text))
			switch {
			case c.Kind == annotator.Inferred:
				parts = append(parts, "(inferred)")
			case c.Speaker != "":
				parts = append(parts, "(according to "+c.Speaker+")")
			case c.Kind == annotator.Claimed:
				parts = append(parts, "(somebody says so)")
			}
			parts = append(parts, fmt.Sprintf("scene %d", c.From.Scene))
			if c.End() != "" {
				parts[len(parts)-1] += ", " + c.End()
			}
			for _, v := range c.Evidence {
				parts = append(parts, fmt.Sprintf("post %d%s", v.Post, v.Quote))
			}
		}
		if len(reading.Passages) == 0 {
			parts = append(parts, present(&e, linked))
		}
		lines = append(lines, strings.Join(strings.Fields(strings.Join(parts, " ")), " "))
	}
	return lines
}

// inAnyOrder joins the relations of an entry, sorted: the page has them in the order in which they came.
func inAnyOrder(ties []string) string { return strings.Join(slices.Sorted(slices.Values(ties)), " ") }

func present(e *exporters.Entry, linked func(string) string) string {
	if e.Present == nil {
		return ""
	}
	return linked(codex.Dated(e.Present.Text, e.Present.AsOf.Scene, e.Present.Outdated))
}

func aliases(e exporters.Entry) (names []string) {
	for _, a := range e.Aliases {
		names = append(names, a.Name)
	}
	return names
}

// exportsAgree compares the state of each scene with an export as of its end, in all formats with states. It returns
// the export, and the state of the page at each scene.
func (s *story) exportsAgree() (whole *exported, pages [][]string) {
	s.Helper()
	book := writeBook(s.tester, filepath.Dir(s.path), s.scenes)
	whole = s.export(view.Moment{}, book)
	for n := 1; n <= len(s.scenes); n++ {
		m, err := view.MomentAt(s.ctx, s.db, view.Point{Kind: view.PointScene, ID: int64(n)})
		if errors.Is(err, annotator.NotFound) {
			break
		}
		s.ok(err)
		then := s.export(m, book)
		want := then.wanted()
		pages = append(pages, want)
		for name, got := range map[string][]string{
			"the page":                       whole.shown(n),
			"the page of an export as of it": then.shown(n),
		} {
			if diff := cmp.Diff(want, got); diff != "" {
				s.Errorf("%s at scene %d (-entries +page):\n%s", name, n, diff)
			}
		}
		if checkpoint, has := whole.sidecars[n]; has && checkpoint != then.xray {
			s.Errorf("the checkpoint of scene %d (-as of +checkpoint):\n%s", n, cmp.Diff(then.xray, checkpoint))
		}
		for _, p := range s.scenes[n-1].Posts {
			for link, note := range whole.notes {
				if !strings.HasPrefix(link, fmt.Sprintf("%d ", p.ID)) {
					continue
				}
				id, text, _ := strings.Cut(note, " ")
				entry, _ := strconv.ParseInt(id, 10, 64)
				if text != then.lore[entry] || then.notes[link] != note {
					s.Errorf("the note on %s in scene %d: %s; as of it %s, and the entry is %s", link, n, note,
						then.notes[link], then.lore[entry])
				}
			}
		}
	}
	if diff := cmp.Diff(whole.wanted(), whole.shown(len(s.scenes)+1)); diff != "" {
		s.Errorf("the page now (-entries +page):\n%s", diff)
	}
	return whole, pages
}

// merges is a tool that merges an entry into another.
func merges(source, target int64) edit {
	return func(ctx context.Context, g *storage.Glossary) error {
		from, err := g.Entry(ctx, source)
		if err != nil {
			return err
		}
		into, err := g.Entry(ctx, target)
		if err != nil {
			return err
		}
		revisions, err := codex.Merge(from, into, annotator.ActorModel, placeOf(ctx))
		if err != nil {
			return err
		}
		last := len(revisions) - 1
		if _, err = g.Revise(ctx, revisions[last:]); err == nil && last > 0 {
			_, err = g.Revise(ctx, revisions[:last])
		}
		return err
	}
}

func (s *story) someMerge(t *rapid.T) edit {
	live, err := view.Glossary{Glossary: s.db.Glossary}.Search(s.ctx, annotator.Query{})
	s.ok(err)
	if len(live) == 0 {
		return reads
	}
	entry := rapid.Custom(func(t *rapid.T) int64 { return live[rapid.IntRange(0, len(live)-1).Draw(t, "entry")].ID })
	return merges(entry.Draw(t, "source"), entry.Draw(t, "target"))
}

// TestStatesOfExports: in the formats with states, an export has at each scene what an export as of that scene has. The
// story has a rename, a merge, a retirement, late tags, a state that ends, statements and summaries.
func TestStatesOfExports(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(3, 4))
	state := true
	s.read(creates("Dawn", "Dawn is a ship, as [[the port]] knows.", "ship"), creates("the port", "It is old."),
		creates("left port", "A hooded man."))
	s.read(revises(1, codex.Edit{Facts: []codex.Fact{{Text: "She lies in [[left port]].", State: state}}}),
		restates(1, "She lies still."))
	s.read(revises(3, codex.Edit{
		Name: new("Boran"), Tags: []string{"person"},
		Facts: []codex.Fact{{Text: "He sails on [[Dawn]].", Speaker: "Mik"}},
	}))
	s.summary(annotator.EpisodeThread, 1000, 1, 3, "They meet.")
	s.read(merges(2, 1), revises(1, codex.Edit{Close: []codex.Closing{{Fact: 2}}, Tags: []string{"ship", "wreck"}}))
	s.read(retires(3))
	s.summary(annotator.EpisodeCumulative, 0, 1, 3, "All of it.")
	s.read(revises(1, codex.Edit{Name: new("Dusk (ship)"), DropAliases: []string{"the port"}}),
		restates(1, "She is sunk."))
	s.read(creates("the ship", "It is another one."))
	s.clean()
	whole, pages := s.exportsAgree()
	if len(whole.notes) < 4 || len(whole.sidecars) < 5 {
		t.Errorf("only the notes %v and %d checkpoints", whole.notes, len(whole.sidecars))
	}
	for scene, parts := range map[int][2]string{ // what is shown, and what is not
		1: {"e3 left port tentative", "Boran"},
		2: {"She lies in left port→3. scene 2", "until scene 4"},
		3: {"e3 Boran person tentative left port", "e4"},
		4: {"e1 Dawn ship wreck tentative the port Dawn is", "e2 the port"},
		5: {"e1 Dawn", "e3"},
		6: {"e1 Dusk (ship) ship wreck tentative Dawn Dawn is a ship, as the port knows. scene 1 post 10Dawn " +
			"– the ship She is sunk.", "e4"},
		7: {"e4 the ship", "e3"},
	} {
		page := strings.Join(pages[scene-1], "\n")
		if !strings.Contains(page, parts[0]) || strings.Contains(page, parts[1]) {
			t.Errorf("scene %d has not %q, or %q:\n%s", scene, parts[0], parts[1], page)
		}
	}
}

// summary records a summary between two scenes.
func (s *story) summary(kind annotator.EpisodeKind, thread int64, from, to int, text string) {
	s.Helper()
	s.compact(s.through, annotator.Episode{
		Kind: kind, Thread: thread, FromScene: from, ToScene: to,
		FromTurn: int64(from), ToTurn: int64(to), Summary: text, By: annotator.AuthorModel,
	})
}

// TestStatesOfRandomStories is TestStatesOfExports for stories with any edits and merges, in which scenes are refused
// and read late.
func TestStatesOfRandomStories(t *testing.T) {
	t.Parallel()
	checkInside(t, func(t *rapid.T, inside string) {
		s := newStory(t, inside, scenesOf(rapid.SliceOfN(rapid.IntRange(1, 3), 2, 3).Draw(t, "threads")...))
		for range rapid.IntRange(3, 12).Draw(t, "steps") {
			if s.next() == 0 {
				s.retry()
			}
			switch what := rapid.SampledFrom([]string{"read", "read", "read", "refuse", "retry", "sum up"}).Draw(t,
				"what"); {
			case what == "retry":
				s.retry()
			case what == "sum up" && s.scene > 0:
				if rapid.Bool().Draw(t, "of a thread") {
					s.summary(annotator.EpisodeThread, 1000, 1, s.scene, text(t)+".")
				} else {
					s.summary(annotator.EpisodeCumulative, 0, 1, s.scene, text(t)+".")
				}
			case s.next() == 0:
			case what == "refuse":
				s.record(annotator.SceneQuarantined)
				s.checkpoint()
			default:
				s.begin("scene")
				s.reply("Let me see.", slices.Repeat([]string{"glossary_create"},
					rapid.IntRange(1, 5).Draw(t, "edits"))...)
				for len(s.calls) > 0 {
					if rapid.IntRange(0, 4).Draw(t, "merge") == 0 {
						s.tool(s.someMerge(t))
					} else {
						s.tool(s.someEdit(t))
					}
				}
				s.record(annotator.SceneRecorded)
				s.checkpoint()
			}
		}
		s.exportsAgree()
	})
}

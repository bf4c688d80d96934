package exporters_test

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"iter"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"annotator"
	"annotator/exporters"

	"github.com/yuin/goldmark"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// storyOf is a story in memory.
type storyOf struct {
	threads  []exporters.Thread
	posts    map[int64][]exporters.Post
	mentions map[annotator.Place][]exporters.Mention
}

func (s *storyOf) Threads(context.Context) ([]exporters.Thread, error) { return s.threads, nil }

func (s *storyOf) Posts(_ context.Context, thread int64) iter.Seq2[*exporters.Post, error] {
	return func(yield func(*exporters.Post, error) bool) {
		for _, p := range s.posts[thread] {
			if !yield(&p, nil) {
				return
			}
		}
	}
}

func (s *storyOf) Mentions(context.Context, int64) (map[annotator.Place][]exporters.Mention, error) {
	return s.mentions, nil
}

func (s *storyOf) MentionsThen(context.Context, int64) (map[annotator.Place][]exporters.Mention, error) {
	return s.mentions, nil
}

// withStory returns a codex with a story that contains its quotations.
func withStory(t *rapid.T) *exporters.Codex {
	doc := document(t)
	story := &storyOf{posts: map[int64][]exporters.Post{}, mentions: map[annotator.Place][]exporters.Mention{}}
	var post int64
	for n := range rapid.IntRange(1, 3).Draw(t, "threads") {
		thread := exporters.Thread{ID: int64(n + 1), Title: text().Draw(t, "thread")}
		story.threads = append(story.threads, thread)
		for range rapid.IntRange(1, 3).Draw(t, "posts") {
			post++
			body := strings.Join(rapid.SliceOfN(text(), 1, 4).Draw(t, "paragraphs"), "\n\n")
			story.posts[thread.ID] = append(story.posts[thread.ID], exporters.Post{
				Post:  annotator.Post{ID: post, Thread: thread.ID, Body: body},
				Place: annotator.PlaceAt(annotator.Order(post), 0), Scene: int(post),
			})
		}
	}
	for i := range doc.Entries {
		e := &doc.Entries[i]
		e.ID = int64(i + 1)
		for c := range e.Claims {
			e.Claims[c].ID = int64(c + 1)
			e.Claims[c].Text += " [[" + rapid.OneOf(rapid.Just(e.Term), text()).Draw(t, "link") + "]]"
			for q := range e.Claims[c].Evidence {
				cite(t, story, &e.Claims[c].Evidence[q])
			}
		}
	}
	return &exporters.Codex{Document: &doc, History: historyOf(&doc), Text: story, Scenes: someScenes()}
}

// cite sets evidence to a passage of the story, or to the whole of an empty post.
func cite(t *rapid.T, story *storyOf, q *exporters.Evidence) {
	thread := rapid.SampledFrom(story.threads).Draw(t, "quoted thread")
	p := rapid.SampledFrom(story.posts[thread.ID]).Draw(t, "quoted post")
	runes := []rune(p.Body)
	start := rapid.IntRange(0, len(runes)).Draw(t, "start")
	end := rapid.IntRange(start, len(runes)).Draw(t, "end")
	*q = exporters.Evidence{Post: p.ID, Start: start, End: end, Quote: string(runes[start:end])}
}

var (
	wikiLink = regexp.MustCompile(`\[\[([^\[\]|]+)\|([^\[\]|]*)\]\]`)
	blockID  = regexp.MustCompile(`(?m) \^([A-Za-z0-9-]+)$`)
)

// TestVaultHasNoDanglingLink reads a vault as Obsidian does. Properties are YAML, and each link leads to a note and a
// block of the vault. Names of files are valid on all systems, and unique regardless of case.
func TestVaultHasNoDanglingLink(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		format := named(t, "obsidian")
		if err := format.WriteOne(context.Background(), &out, withStory(t)); err != nil {
			t.Fatal(err)
		}
		blocks, bare := map[string]map[string]bool{}, map[string]bool{}
		files := unzip(t, out.Bytes())
		for _, file := range files {
			name := strings.TrimSuffix(file.Name, ".md")
			if base := strings.ToLower(path.Base(name)); bare[base] || base == "" || len(base) > 200 ||
				strings.ContainsAny(base, "#|^[]\\*\"<>?:\x00\n") {
				t.Fatalf("the name %q", file.Name)
			} else {
				bare[base] = true
			}
			blocks[name] = map[string]bool{}
			for _, m := range blockID.FindAllSubmatch(file.Data, -1) {
				if blocks[name][string(m[1])] {
					t.Fatalf("%s has the block %s twice", name, m[1])
				}
				blocks[name][string(m[1])] = true
			}
		}
		for _, file := range files {
			if front, _, found := strings.Cut(strings.TrimPrefix(string(file.Data), "---\n"), "\n---\n"); found &&
				strings.HasSuffix(file.Name, ".md") && file.Name != "Index.md" {
				if err := yaml.Unmarshal([]byte(front), map[string]any{}); err != nil {
					t.Fatalf("%s: %v\n%s", file.Name, err, front)
				}
			}
			for _, m := range wikiLink.FindAllSubmatch(file.Data, -1) {
				target, block, hasBlock := strings.Cut(string(m[1]), "#^")
				if target == "" {
					target = strings.TrimSuffix(file.Name, ".md")
				}
				if _, ok := blocks[target]; !ok && target != "Codex.base" {
					t.Fatalf("%s links to %q, which is not there", file.Name, target)
				}
				if hasBlock && !blocks[target][block] {
					t.Fatalf("%s links to the block %q of %q, which is not there", file.Name, block, target)
				}
			}
		}
	})
}

// TestPostsOfAVaultAreUnchanged: Markdown shows the text of a post unchanged, with links in any places.
func TestPostsOfAVaultAreUnchanged(t *testing.T) {
	t.Parallel()
	tags := regexp.MustCompile(`<[^>]*>`)
	words := func(s string) string {
		return strings.Join(strings.Fields(strings.ReplaceAll(s, "\x00", "\ufffd")), " ")
	}
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.OneOf(
			rapid.StringOf(rapid.SampledFrom([]rune("a1. \n#*_-+>[]()!`<>&\\$%=~^|\"':;/\t"))),
			rapid.StringMatching(`([a-z]{0,3}(\*\*|<b>|\[\[x\]\]|1\. |- |# |> |&amp;|~~|==|%%|\$)){1,6}`),
		).Draw(t, "body")
		var entries []annotator.Entry
		var mentions []exporters.Mention
		for id := range int64(3) {
			entries = append(entries, annotator.Entry{ID: id + 1, Term: fmt.Sprintf("Name %d", id), First: 1})
			start := rapid.IntRange(0, utf8.RuneCountInString(body)).Draw(t, "start")
			end := rapid.IntRange(start, utf8.RuneCountInString(body)).Draw(t, "end")
			if name := string([]rune(body)[start:end]); strings.TrimSpace(name) == name && name != "" &&
				!strings.Contains(name, "\n\n") {
				mentions = append(mentions, exporters.Mention{Entry: id + 1, Start: start, End: end})
			}
		}
		doc := exporters.Build(exporters.Story{}, entries, position)
		codex := &exporters.Codex{Document: &doc, Text: &storyOf{
			threads:  []exporters.Thread{{ID: 1, Title: "One"}},
			posts:    map[int64][]exporters.Post{1: {{Post: annotator.Post{ID: 7, Thread: 1, Body: body}}}},
			mentions: map[annotator.Place][]exporters.Mention{0: mentions},
		}}
		var out, shown bytes.Buffer
		format := named(t, "obsidian")
		if err := format.WriteOne(context.Background(), &out, codex); err != nil {
			t.Fatal(err)
		}
		for _, file := range unzip(t, out.Bytes()) {
			if !strings.HasPrefix(file.Name, "Threads/") {
				continue
			}
			_, note, _ := strings.Cut(string(file.Data), "\n---\n")
			note, _, _ = strings.Cut(blockID.ReplaceAllString(note, ""), "\n%% ")
			note = wikiLink.ReplaceAllString(note, "[$2](x)") // so that Markdown knows it
			if err := goldmark.Convert([]byte(note), &shown); err != nil {
				t.Fatal(err)
			}
			if got, want := words(html.UnescapeString(tags.ReplaceAllString(shown.String(), ""))),
				words(body); got != want {
				t.Fatalf("%q reads %q", want, got)
			}
			if n := strings.Count(shown.String(), "<") - 2*strings.Count(shown.String(), "<p>") -
				2*strings.Count(shown.String(), "<a href="); n != 0 {
				t.Fatalf("%q has markup: %s", body, shown.String())
			}
		}
	})
}

// TestNamesInAVaultAreLinks: the first name of an entry in a scene is a link. It leads to the entry that had the name
// then, or to the one that has it now. A name of two entries leads nowhere, and no link is an embedded note.
func TestNamesInAVaultAreLinks(t *testing.T) {
	t.Parallel()
	doc := exporters.Build(exporters.Story{Title: "T"}, []annotator.Entry{
		{ID: 1, Term: "Mik", Tags: []string{"person"}}, {ID: 2, Term: "Dawn", Tags: []string{"ship"}},
	}, position)
	at := annotator.PlaceAt
	post := func(id int64, scene int, body string) exporters.Post {
		return exporters.Post{
			Post: annotator.Post{ID: id, Thread: 1, Body: body}, Scene: scene,
			Place: at(annotator.Order(scene), int(id)),
		}
	}
	then, now := map[annotator.Place][]exporters.Mention{}, map[annotator.Place][]exporters.Mention{}
	story := &thenAndNow{storyOf{threads: []exporters.Thread{{ID: 1, Title: "One"}}, mentions: now}, then}
	story.posts = map[int64][]exporters.Post{1: {
		post(1, 1, "A *storm*.\n\n  Ah!Mik's\n  dawn, said Mik."), post(2, 1, "Mik and Sorrel."),
		post(3, 2, "Sorrel, Mik."), post(4, 3, "The lady."),
	}}
	then[at(1, 1)] = []exporters.Mention{{1, 17, 20}, {2, 25, 29}, {1, 36, 39}}
	then[at(1, 2)] = []exporters.Mention{{1, 0, 3}, {9, 8, 14}} // entry 9 was merged
	then[at(2, 3)] = []exporters.Mention{{9, 0, 6}, {2, 8, 11}}
	now[at(2, 3)] = []exporters.Mention{{1, 0, 6}, {1, 8, 11}}
	then[at(3, 4)] = []exporters.Mention{{1, 4, 8}, {2, 4, 8}}
	var out bytes.Buffer
	format := named(t, "obsidian")
	if err := format.WriteOne(t.Context(), &out, &exporters.Codex{Document: &doc, Text: story}); err != nil {
		t.Fatal(err)
	}
	for _, file := range unzip(t, out.Bytes()) {
		if !strings.HasPrefix(file.Name, "Threads/") {
			continue
		}
		_, got, _ := strings.Cut(string(file.Data), "\n---\n")
		want := "\nA \\*storm\\*. ^post-1\n\nAh\\!" + `[[Codex/People/Mik|Mik]]'s` + "\n" +
			`[[Codex/Objects/Dawn|dawn]], said Mik.` + "\n\nMik and Sorrel. ^post-2\n\n" +
			`[[Codex/People/Mik|Sorrel]], [[Codex/Objects/Dawn|Mik]]. ^post-3` + "\n\nThe lady. ^post-4\n"
		if got, _, _ = strings.Cut(got, "\n%% "); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// thenAndNow is a story whose names once were those of other entries.
type thenAndNow struct {
	storyOf
	then map[annotator.Place][]exporters.Mention
}

func (s *thenAndNow) MentionsThen(context.Context, int64) (map[annotator.Place][]exporters.Mention, error) {
	return s.then, nil
}

func TestQuotationsLeadToTheirParagraph(t *testing.T) {
	t.Parallel()
	doc := exporters.Build(exporters.Story{Title: "T"},
		[]annotator.Entry{{ID: 1, Term: "Dawn", Tags: []string{"ship"}, Claims: []annotator.Claim{
			{
				ID: 1, Text: "She sinks.", Kind: annotator.Narrated, From: 1,
				Evidence: []annotator.Evidence{{Post: 7, Start: 12, End: 20, Quote: "it sinks"}},
			},
		}}}, position)
	codex := &exporters.Codex{Document: &doc, Text: &storyOf{
		threads: []exporters.Thread{{ID: 1, Title: "One: it / begins"}},
		posts: map[int64][]exporters.Post{1: {{Post: annotator.Post{
			ID: 7, Thread: 1,
			Body: "A storm.\n\nAh it sinks.\n\nThe end.",
		}, Place: annotator.PlaceAt(3, 0), Scene: 3}}},
	}}
	var out bytes.Buffer
	format := named(t, "obsidian")
	if err := format.WriteOne(t.Context(), &out, codex); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range unzip(t, out.Bytes()) {
		fmt.Fprintf(&all, "== %s\n%s", file.Name, file.Data)
	}
	for _, want := range []string{
		"> [!quote]- [[Threads/001 One- it begins#^post-7-2|scene 3, post 7]]\n> it sinks\n",
		"Ah it sinks. ^post-7-2\n", "== Codex/Objects/Dawn.md\n", "She sinks. ^claim-1\n",
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %q in\n%s", want, all.String())
		}
	}
}

// TestLinksOfAVaultShowTheirTexts: Markdown shows a fact unchanged, with the texts of its links. Links to notes are the
// only markup. No text is a comment of Obsidian or a template of a plugin.
func TestLinksOfAVaultShowTheirTexts(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom([]string{
		"Mik", "%%", "%%%", "<script>x()</script>", "<% tp.x %>", "{{title}}", "*bold*",
		"a_b_c", "`x`", "1. ", "- ", "==x==", "$x$", "\\", "ship", "^a", "]",
	})
	wiki, tags := regexp.MustCompile(`\[\[[^\[\]|]+\|([^\[\]|]*)\]\]`),
		regexp.MustCompile(`</?(p|a|em)( href="[^"]*")?>`)
	rapid.Check(t, func(t *rapid.T) {
		phrase := rapid.Map(rapid.SliceOfN(words, 1, 4), func(list []string) string { return strings.Join(list, " ") })
		name := strings.ReplaceAll(phrase.Draw(t, "name"), "]", "x")
		before, shown, after := phrase.Draw(t, "before"), strings.ReplaceAll(phrase.Draw(t, "shown"), "]", "x"),
			phrase.Draw(t, "after")
		doc := exporters.Build(exporters.Story{},
			[]annotator.Entry{{
				ID: 1, Term: name, Aliases: []annotator.Alias{{Name: name}, {Name: "x" + name}},
				Claims: []annotator.Claim{
					{
						ID: 1, Text: before + " [[" + name + "|" + shown + "]] " + after + ".",
						Kind: annotator.Narrated,
						From: 1,
					},
				},
			}}, position)
		for _, file := range unzip(t, export(t, named(t, "obsidian"), &doc)) {
			if !strings.HasPrefix(file.Name, "Codex/") {
				continue
			}
			text := string(file.Data)
			if _, body, _ := strings.Cut(text[4:], "\n---\n"); strings.Count(body, "%%") != 2 ||
				strings.Contains(text, "<%") || strings.Contains(text, "{{") ||
				strings.Contains(strings.ReplaceAll(body, `\<`, ""), "<") {
				t.Fatalf("%s", text)
			}
			front, body, _ := strings.Cut(text[4:], "\n---\n")
			var properties struct{ Aliases []string }
			if err := yaml.Unmarshal([]byte(front), &properties); err != nil || len(properties.Aliases) != 1 ||
				properties.Aliases[0] != "x"+name {
				t.Fatalf("%v, %q", err, properties)
			}
			fact, _, _ := strings.Cut(body, " ^claim-1")
			var out bytes.Buffer
			if err := goldmark.Convert([]byte(wiki.ReplaceAllString(fact, "$1")), &out); err != nil {
				t.Fatal(err)
			}
			want := strings.Join(strings.Fields(before+" "+shown+" "+after+"."), " ")
			if got := strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(out.String(), ""))),
				" "); got != want {
				t.Fatalf("%q reads %q", want, got)
			}
		}
	})
}

// TestNotesAreFilesOnAllSystems: a name that Windows or macOS does not allow, or does not distinguish from another, is
// changed.
func TestNotesAreFilesOnAllSystems(t *testing.T) {
	t.Parallel()
	notes := []struct{ term, want string }{
		{"CON", "CON -"},
		{"aux.", "aux -"},
		{"Nul.45 ", "Nul.45 -"},
		{"Prn .45", "Prn .45 -"},
		{"com¹", "com¹ -"},
		{"LPT0", "LPT0 -"},
		{"Conin$", "Conin$ -"},
		{"Connor", "Connor"},
		{"Why? Because: no", "Why Because- no"},
		{"C:\\aux", "C-aux"},
		{"Etc. . .", "Etc"},
		{"Strasse", "Strasse"},
		{"Straße", "Straße (13)"},
		{"Ὀδυσσεύς", "Ὀδυσσεύς"},
		{"ὈΔΥΣΣΕΎΣ", "ὈΔΥΣΣΕΎΣ (15)"},
		{"Haydée", "Haydée"},
		{"Hayde\u0301e", "Hayde\u0301e (17)"},
		{"\u212aelvin", "\u212aelvin"},
		{"kelvin", "kelvin (19)"},
	}
	doc := exporters.Document{}
	for i, note := range notes {
		doc.Entries = append(doc.Entries, exporters.Entry{ID: int64(i + 1), Term: note.term})
	}
	var out bytes.Buffer
	format := named(t, "obsidian")
	if err := format.WriteOne(t.Context(), &out, &exporters.Codex{Document: &doc, Text: &storyOf{}}); err != nil {
		t.Fatal(err)
	}
	files := unzip(t, out.Bytes())
	for i, note := range notes {
		if base := path.Base(files[i].Name); base != note.want+".md" {
			t.Errorf("the note of %q is %q, want %q", note.term, base, note.want+".md")
		}
	}
}

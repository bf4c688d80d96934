package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/exporters"
	"annotator/view"
	"annotator/web"

	"github.com/google/go-cmp/cmp"
)

// TestEachPageShowsItsSubject reads a page of each kind, and expects its main content.
func TestEachPageShowsItsSubject(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	e := s.entry("Ysolde Marrow")
	q := e.Claims[0].Evidence[0]
	for path, texts := range map[string][]string{
		"/lanterns/": {
			"The Lanterns of Hallowmere", "You have read to the end", "People", "Places", "The last chapters",
			"The codex covers",
		},
		"/lanterns/run":                               {"Latest scenes", "The story is read to its end"},
		"/lanterns/where":                             {"I have not begun", "Now: to the end"},
		"/lanterns/entries?sort=name":                 {`aria-current="true">name</a>`},
		"/lanterns/entries?sort=first":                {`aria-current="true">where they appear first</a>`},
		"/lanterns/entries?letter=l":                  {`aria-current="true">L</a>`},
		"/lanterns/entries?q=who+is+Ysolde+Marrow%3F": {"Ysolde Marrow"},
		"/lanterns/entries":                           {"person", "how often they appear"},
		"/lanterns/entries?q=ysolde":                  {"Ysolde Marrow"},
		"/lanterns/entries?status=merged":             {"merged"},
		"/lanterns/names?sort=first&tag=person":       {"Ysolde Marrow", "Also called", `<option selected>person`},
		"/lanterns/names?sort=weight":                 {"Mentions", "appear most"},
		fmt.Sprintf("/lanterns/entry/%d", e.ID): {
			"Ysolde Marrow", "What the story tells", "First seen", "Last seen", "In the same scenes",
			"in their sentences",
		},
		fmt.Sprintf("/lanterns/entry/%d?record=1", e.ID):   {"narrated", "its history", "revisions"},
		fmt.Sprintf("/lanterns/entry/%d/mentions", e.ID):   {"<mark>", "in its place"},
		fmt.Sprintf("/lanterns/entry/%d/card?at=80", e.ID): {"Ysolde Marrow", "First in"},
		fmt.Sprintf("/lanterns/entry/%d/history", e.ID): {
			"oldest first", "quotation",
			"/lanterns/row/",
		},
		fmt.Sprintf("/lanterns/entry/%d/claim/%d", e.ID, e.Claims[0].ID): {"oldest first"},
		fmt.Sprintf("/lanterns/revision/%d", e.Revision):                 {"Made by"},
		"/lanterns/cast":          {"<svg", "Who appears with whom", "The same as a table"},
		"/lanterns/timeline":      {"<h1>Timeline", "Where things stand"},
		"/lanterns/standing":      {"<h1>Where things stand", "Timeline"},
		"/lanterns/story":         {"scene"},
		"/lanterns/snapshots":     {"checkpoint"},
		"/lanterns/snapshot/5":    {"No endpoint is configured"},
		"/lanterns/plots":         {"<svg", "The same as a table", "compaction"},
		"/lanterns/audit":         {"glossary_create", "Verify now"},
		"/lanterns/audit?scene=3": {"Calls to the model"},
		"/lanterns/turn/3":        {"row-", "glossary_"},
	} {
		s.want(path, http.StatusOK, texts...)
	}
	chapter := s.redirected("/lanterns/scene/3", "all")
	quoted := s.redirected(fmt.Sprintf("/lanterns/scene/%d?quote=%d-%d-%d", int(e.First.Order()/annotator.OrderStep),
		q.Post, q.Start, q.End), "all")
	for got, texts := range map[*response][]string{
		&chapter: {`id="scene-3"`, "Who is in this chapter", "first in a scene", `class="margin"`},
		&quoted:  {`<mark id="quote">`},
	} {
		for _, text := range texts {
			if !strings.Contains(got.body, text) {
				t.Errorf("%s has no %q", got.Request.URL, text)
			}
		}
	}
	for _, row := range regexp.MustCompile(`/lanterns/row/[0-9]+`).
		FindAllString(s.get(fmt.Sprintf("/lanterns/entry/%d/history", e.ID)).body, -1) {
		if to := s.get(row); to.StatusCode == http.StatusSeeOther { // of a turn; else it is the curator's
			s.want(to.Header.Get("Location"), http.StatusOK, `id="row-`+path.Base(row)+`"`)
		} else {
			s.want(row, http.StatusOK, "curator", `id="row-`+path.Base(row)+`"`)
		}
	}
	if strings.Contains(s.want("/lanterns/snapshot/80", http.StatusOK, "Ask the model"), annotator.NoStory) {
		t.Error("a snapshot shows that the offline model tells no story")
	}
	compactions, err := view.At(s.db, view.Moment{}).Compactions(s.Context())
	if err != nil || len(compactions) == 0 {
		t.Fatalf("%d compactions, %v", len(compactions), err)
	}
	if page := s.want(fmt.Sprintf("/lanterns/row/%d", compactions[0].Trace), http.StatusOK,
		"compaction"); strings.Count(page, `id="row-`) != 1 {
		t.Error("a compaction is shown with rows that are not its own")
	}
	for _, path := range []string{
		"/nothing/", "/lanterns/entry/99999", "/lanterns/entry/x", "/lanterns/scene/9999",
		"/lanterns/scene/99999999999999999999", "/lanterns/post/12345678",
		"/lanterns/revision/0", "/lanterns/snapshot/9999", "/lanterns/turn/9999", "/lanterns/chapter/424242",
		"/lanterns/entry/1/claim/99",
	} {
		s.want(path, http.StatusNotFound)
	}
	s.want("/lanterns/entries?as-of=nonsense", http.StatusBadRequest)
	if got := s.get("/"); got.Header.Get("Location") != "/lanterns/" {
		t.Errorf("the only database is not shown at once: %s", got.Header.Get("Location"))
	}
}

// TestUnreadableDatabases reads the list of databases, with the reasons why some cannot be read. Every page has a link
// to the list.
func TestUnreadableDatabases(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *web.Options) {
		o.Unreadable = []web.Unreadable{{File: "newer<b>.annotator.db", Err: annotator.Errorf(annotator.Misused,
			"it has schema 999").WithAdvice("use the newer annotator")}}
	})
	s.want("/", http.StatusOK, `href="/lanterns/"`, "newer&lt;b&gt;.annotator.db",
		"it has schema 999; use the newer annotator")
	s.want("/lanterns/story", http.StatusOK, `href="/">All codexes</a>`)
}

func TestJSON(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	e := s.entry("Ysolde Marrow")
	var one exporters.Entry
	if err := json.Unmarshal([]byte(s.get(fmt.Sprintf("/lanterns/entry/%d?format=json", e.ID)).body),
		&one); err != nil || one.Term != e.Term {
		t.Errorf("entry: %v %q", err, one.Term)
	}
	var list struct {
		Total   int
		Entries []exporters.Entry
	}
	if err := json.Unmarshal([]byte(s.get("/lanterns/entries?q=ysolde&format=json").body), &list); err != nil ||
		list.Total != len(list.Entries) || list.Total == 0 {
		t.Errorf("entries: %v %d %d", err, list.Total, len(list.Entries))
	}
}

// TestQuotesLinkToTheirPosts follows the link of each quotation of an entry, and expects it marked.
func TestQuotesLinkToTheirPosts(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for id := int64(1); id <= 12; id++ {
		e, err := s.db.Glossary.Entry(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range e.Claims {
			for _, q := range c.Evidence {
				to := s.get(fmt.Sprintf("/lanterns/post/%d?start=%d&end=%d&as-of=all", q.Post, q.Start,
					q.End)).Header.Get("Location")
				if !strings.HasSuffix(to, "#quote") {
					t.Fatalf("post %d leads to %q", q.Post, to)
				}
				if got := marked(s.get(to).body); oneLine(got) != oneLine(q.Quote) {
					t.Errorf("%s marks %q, want %q", to, got, q.Quote)
				}
			}
		}
	}
}

// oneLine joins the paragraphs of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), "") }

// marked returns the text of the marks of a page.
func marked(html string) string {
	var text strings.Builder
	for {
		_, rest, found := strings.Cut(html, "<mark")
		if !found {
			return text.String()
		}
		_, rest, _ = strings.Cut(rest, ">")
		inside, after, _ := strings.Cut(rest, "</mark>")
		text.WriteString(unescape(tags.ReplaceAllString(inside, "")))
		html = after
	}
}

func unescape(html string) string {
	return strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&#43;", "+", "&amp;", "&").
		Replace(html)
}

// TestNamesAreLinks counts the links in a scene: to all names, to the first of each entry, to none.
func TestNamesAreLinks(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	links := func(scene int, names string) (to []string) {
		body := s.redirected(fmt.Sprintf("/lanterns/scene/%d?names=%s&facts=none", scene, names), "all").body
		_, body, _ = strings.Cut(body, fmt.Sprintf(`<section class="scene" id="scene-%d"`, scene))
		body, _, _ = strings.Cut(body, "</section>")
		for _, m := range regexp.MustCompile(`<a class="name[^>]*href="([^"]*)"`).FindAllStringSubmatch(body, -1) {
			to = append(to, m[1])
		}
		slices.Sort(to)
		return to
	}
	repeated := 0
	for scene := 1; scene <= 30; scene++ {
		all, first, none := links(scene, "all"), links(scene, "first"), links(scene, "none")
		if repeated += len(all) - len(first); len(none) > 0 {
			t.Errorf("scene %d without names has %q", scene, none)
		}
		if diff := cmp.Diff(slices.Compact(all), first); diff != "" {
			t.Errorf("scene %d (-names, +first names):\n%s", scene, diff)
		}
	}
	if repeated == 0 {
		t.Error("no name is linked twice in any scene")
	}
}

// TestNamesThatAreMarkupAreText reads pages of entries with names that are markup, and very long. No name becomes a
// tag, and no page fails.
func TestNamesThatAreMarkupAreText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Zz", 5000)
	names := []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(2)>`, `javascript:alert(3)`, long, `{{.StoryTitle}}`,
		"a\u202egnp", `[[<b>x</b>]]`,
	}
	path := copySample(t)
	ids := addEntries(t, path, names)
	s := serve(t, path, nil)
	for i, id := range ids {
		pages := []string{
			fmt.Sprintf("/lanterns/entry/%d", id), fmt.Sprintf("/lanterns/entry/%d/history", id),
			fmt.Sprintf("/lanterns/entry/%d/claim/1", id),
			"/lanterns/entries?q=" + url.QueryEscape(names[i]), "/lanterns/entries?tag=" + url.QueryEscape(names[i]),
			"/lanterns/audit",
		}
		for _, page := range pages {
			status := http.StatusOK
			if names[i] == long && strings.Contains(page, "?tag=") {
				status = http.StatusBadRequest // no tag is that long
			}
			body := s.want(page, status)
			for _, tag := range []string{"<script>", "<img", "<b>x", `href="javascript:`} {
				if strings.Contains(body, tag) {
					t.Errorf("%s contains %s", page, tag)
				}
			}
			if strings.Count(body, "<script ") != 1 {
				t.Errorf("%s has %d scripts", page, strings.Count(body, "<script "))
			}
		}
	}
}

// TestAnswerKeepsTheLimit asks a snapshot by the form, within the limit and beyond it.
func TestAnswerKeepsTheLimit(t *testing.T) {
	t.Parallel()
	asked := &asker{answer: "She is the keeper [post 1] and <b>more</b> [posts 3, 999999]."}
	s := open(t, func(o *web.Options) { o.Asker = asked })
	post := func(path, question string) response {
		return s.do(s.request(http.MethodPost, path, url.Values{"question": {question}}))
	}
	first, err := s.db.Scenes.Get(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	asked.answer = fmt.Sprintf("She is the keeper [post %d] and <b>more</b> [posts 999999].", first.Posts[0])
	got := post("/lanterns/snapshot/5?as-of=scene:6", "Who is Ysolde?")
	for _, text := range []string{
		"Who is Ysolde?", fmt.Sprintf("/lanterns/post/%d?as-of=scene%%3A6", first.Posts[0]),
		"&lt;b&gt;more", "[post 999999]",
	} {
		if got.StatusCode != http.StatusOK || !strings.Contains(got.body, text) {
			t.Errorf("the answer has no %q (status %d)", text, got.StatusCode)
		}
	}
	if got := post("/lanterns/snapshot/5?as-of=scene:4", "Who?"); got.StatusCode != http.StatusNotFound {
		t.Errorf("beyond the limit: status %d", got.StatusCode)
	}
	if got := post("/lanterns/snapshot/5?as-of=all", "  "); got.StatusCode != http.StatusBadRequest {
		t.Errorf("without a question: status %d", got.StatusCode)
	}
	if len(asked.questions) != 1 {
		t.Errorf("the model was asked %q", asked.questions)
	}
	asked.err = annotator.Errorf(annotator.Unreachable, "no <server> answers")
	if got := post("/lanterns/snapshot/5?as-of=all", "Who?"); got.StatusCode != http.StatusBadGateway ||
		!strings.Contains(got.body, "no &lt;server&gt; answers") {
		t.Errorf("a model that is gone: %d", got.StatusCode)
	}
	s = open(t, nil)
	if got := post("/lanterns/snapshot/5?as-of=all", "Who?"); got.StatusCode != http.StatusBadRequest {
		t.Errorf("without an endpoint: status %d", got.StatusCode)
	}
}

func TestVerifyShowsTheChecks(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	got := s.do(s.request(http.MethodPost, "/lanterns/verify?as-of=all", url.Values{}))
	if got.StatusCode != http.StatusOK || !strings.Contains(got.body, "the codex is the sum of its revisions") ||
		strings.Contains(got.body, "violation") {
		t.Errorf("status %d:\n%s", got.StatusCode, got.body)
	}
	if got := s.do(s.request(http.MethodPost, under("/lanterns/verify", 3),
		url.Values{})); got.StatusCode != http.StatusNotFound {
		t.Errorf("under a limit: status %d", got.StatusCode)
	}
}

package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/internal/longtest"
	"annotator/view"
	"annotator/web"
)

// TestLimitIsRemembered sets the limit by the form. It reads pages with the cookie, with a limit in the URL, which
// takes precedence, and without either.
func TestLimitIsRemembered(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	set := func(form url.Values) (to string, cookie *http.Cookie) {
		got := s.do(s.request(http.MethodPost, "/lanterns/limit", form))
		for _, c := range got.Cookies() {
			cookie = c
		}
		return got.Header.Get("Location"), cookie
	}
	to, cookie := set(url.Values{"as-of": {"scene:10"}, "back": {"/lanterns/entry/4?fact=1&as-of=scene:9"}})
	if to != "/lanterns/entry/4?as-of=scene%3A10&fact=1" || cookie == nil || cookie.Value != "scene:10" ||
		!cookie.HttpOnly || cookie.Path != "/lanterns/" {
		t.Fatalf("set to %q, %+v", to, cookie)
	}
	with := func(path string) string {
		r := s.request(http.MethodGet, path, nil)
		r.AddCookie(cookie)
		return s.do(r).body
	}
	for path, says := range map[string]string{
		"/lanterns/story":                 "scene 10" + inPlace,
		"/lanterns/story?as-of=scene:12":  "scene 12" + inPlace,
		"/lanterns/story?as-of=all":       "the end" + inPlace,
		"/lanterns/story?as-of=start":     "not begun" + inPlace,
		"/lanterns/story?as-of=thread:1x": "is no point of this story",
	} {
		if !strings.Contains(with(path), says) {
			t.Errorf("%s does not say %q", path, says)
		}
	}
	if to, cookie = set(url.Values{"as-of": {"all"}, "back": {"/lanterns/story?as-of=scene:3"}}); to !=
		"/lanterns/story?as-of=all" || cookie.Value != "all" {
		t.Errorf("reset to %q, %+v", to, cookie)
	}
	if !strings.Contains(with("/lanterns/story"), "the end"+inPlace) {
		t.Error("that the story is finished is not remembered")
	}
	for _, back := range []string{
		"https://evil.test/lanterns/", "//evil.test/lanterns/", "/other/", "/lanterns/../x",
		`/lanterns/\evil`, "javascript:alert(1)", "/lanterns/%2e%2e//evil.test", "",
	} {
		if to, _ := set(url.Values{"as-of": {"scene:5"}, "back": {back}}); to != "/lanterns/?as-of=scene%3A5" {
			t.Errorf("back to %q leads to %q", back, to)
		}
	}
}

// inPlace ends what the header says of how far the reader has read.
const inPlace = "</span></a>"

// TestFirstVisitAsks: before the reader has said how far, every address shows the question and nothing of the story. An
// answer leads to the page that was asked for.
func TestFirstVisitAsks(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	l := laterThan(s, 0)
	for _, path := range append(s.everyPage(), "/lanterns/where", "/lanterns/where?chapter=2", "/lanterns/nothing",
		"/lanterns/chapter/99", "/lanterns/entry/1/card?at=3") {
		got := s.do(s.request(http.MethodGet, path, nil))
		if text := l.found(strings.ReplaceAll(got.body, "The Lanterns of Hallowmere", "")); text != "" {
			t.Errorf("%s shows %q", path, text)
		}
		program := strings.Contains(path, "format=json") || strings.HasSuffix(path, "/live")
		if asks := strings.Contains(got.body, "How far have you read?"); asks == program && got.StatusCode < 404 {
			t.Errorf("%s: status %d, asks: %v", path, got.StatusCode, asks)
		}
	}
	asked := s.do(s.request(http.MethodGet, "/lanterns/entries?q=lamp&page=1", nil))
	if !strings.Contains(asked.body, `name="back" value="/lanterns/entries?q=lamp&amp;page=1"`) {
		t.Errorf("the question forgets the page: %s", asked.body)
	}
	for chapter, status := range map[string]int{
		"1": http.StatusSeeOther, "0": http.StatusBadRequest, "9999": http.StatusBadRequest, "x": http.StatusBadRequest,
	} {
		got := s.do(s.request(http.MethodPost, "/lanterns/limit",
			url.Values{"chapter": {chapter}, "back": {"/lanterns/entries?q=lamp"}}))
		if got.StatusCode != status {
			t.Errorf("chapter %s: status %d", chapter, got.StatusCode)
		}
		if to := got.Header.Get("Location"); status == http.StatusSeeOther &&
			(!strings.Contains(to, "q=lamp") || !strings.Contains(to, "as-of=scene")) {
			t.Errorf("chapter %s leads to %q", chapter, to)
		}
	}
}

// TestQuestionDoesNotCountChapters: who knows the whole story chooses from its chapters. All others name one, and are
// not shown how many there are.
func TestQuestionDoesNotCountChapters(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for path, listed := range map[string]bool{
		"/lanterns/where?as-of=all": true, "/lanterns/where?as-of=scene:5": false, "/lanterns/where?as-of=start": false,
	} {
		if n := strings.Count(s.want(path, http.StatusOK), "<option"); listed != (n == 6) || !listed && n > 0 {
			t.Errorf("%s lists %d chapters", path, n)
		}
	}
	for chapter, limit := range map[string]string{"#2": "scene%3A27", "moth and flame": "scene%3A52", "#9": ""} {
		got := s.do(s.request(http.MethodPost, "/lanterns/limit",
			url.Values{"chapter": {chapter}, "back": {"/lanterns/story"}}))
		if to := got.Header.Get("Location"); limit == "" && got.StatusCode != http.StatusBadRequest ||
			!strings.HasSuffix(to, limit) {
			t.Errorf("the chapter %q leads to %q, with status %d", chapter, to, got.StatusCode)
		}
	}
}

// TestReadOn reads the story from its beginning to its end by the button alone. Each step shows the text that follows,
// and nothing after it.
func TestReadOn(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	run, err := s.db.Run.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	button := regexp.MustCompile(`(?s)<form class="read-on".*?name="back" value="([^"]*)".*?name="as-of" ` +
		`value="([^"]*)"`)
	path, last := "/lanterns/?as-of=start", 0
	for steps := 0; ; steps++ {
		body := s.want(path, http.StatusOK)
		found := button.FindStringSubmatch(body)
		if found == nil {
			break
		}
		got := s.do(s.request(http.MethodPost, "/lanterns/limit",
			url.Values{"as-of": {found[2]}, "back": {unescape(found[1])}}))
		to := s.get(got.Header.Get("Location")).Header.Get("Location")
		path, _, _ = strings.Cut(to, "#")
		if !strings.HasSuffix(to, fmt.Sprintf("#scene-%d", last+1)) {
			t.Fatalf("after scene %d: %s", last, to)
		}
		if _, err := fmt.Sscanf(found[2], "scene:%d", &last); err != nil || steps > run.Corpus.Scenes {
			t.Fatalf("%q, %v", found[2], err)
		}
		if body = s.want(path, http.StatusOK, fmt.Sprintf(`id="scene-%d"`, last)); strings.Contains(body,
			fmt.Sprintf(`id="scene-%d"`, last+1)) {
			t.Errorf("%s shows more than scene %d", path, last)
		}
	}
	if last != run.Corpus.Scenes {
		t.Errorf("the way ends at scene %d of %d", last, run.Corpus.Scenes)
	}
}

// TestUnknownLimit sends a cookie with a limit that does not exist, as of an earlier run. Each page shows only a form
// that sets another.
func TestUnknownLimit(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	lost := &http.Cookie{Name: "as-of", Value: "snapshot:99999"}
	for _, path := range []string{"/lanterns/", "/lanterns/story", "/lanterns/entry/2?format=json", "/lanterns/live"} {
		r := s.request(http.MethodGet, path, nil)
		r.AddCookie(lost)
		got := s.do(r)
		if got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "this browser has it") ||
			strings.Contains(got.body, "/lanterns/entries") {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
	}
	for point, to := range map[string]string{
		"all": "/lanterns/story?as-of=all", "start": "/lanterns/story?as-of=start",
	} {
		r := s.request(http.MethodPost, "/lanterns/limit", url.Values{
			"as-of": {point}, "back": {"/lanterns/story"},
		})
		r.AddCookie(lost)
		if got := s.do(r); got.Header.Get("Location") != to {
			t.Errorf("%q leads to %q, want %q", point, got.Header.Get("Location"), to)
		}
	}
}

// later holds texts that a page under a limit must not contain. They are names, facts, quotations and titles from after
// the limit that do not occur before it.
type later struct {
	texts []string
	told  string // lower case
}

// laterThan collects the texts from after the end of a scene.
func laterThan(s *site, scene int) *later {
	s.Helper()
	ctx := context.Background()
	l := &later{}
	var told strings.Builder
	run, err := s.db.Run.Status(ctx)
	if err != nil {
		s.Fatal(err)
	}
	var bodies []string
	for n := 1; n <= run.Corpus.Scenes; n++ {
		row, err := s.db.Scenes.Get(ctx, n)
		if err != nil {
			s.Fatal(err)
		}
		posts, err := s.story.Scene(ctx, row.Thread.ID, row.Posts)
		if err != nil {
			s.Fatal(err)
		}
		for i := range posts {
			if n <= scene {
				told.WriteString(posts[i].Body + "\n" + row.Thread.Title + "\n" + posts[i].Subject + "\n" +
					posts[i].Name + "\n")
			} else {
				bodies = append(bodies, posts[i].Body, row.Thread.Title)
			}
		}
	}
	l.told = strings.ToLower(told.String())
	for e, err := range s.db.Glossary.All(ctx) {
		if err != nil {
			s.Fatal(err)
		}
		for _, a := range e.Aliases {
			if int(a.From.Order()/annotator.OrderStep) > scene {
				l.add(a.Name)
			}
		}
		for _, c := range e.Claims {
			if int(c.From.Order()/annotator.OrderStep) > scene {
				l.add(c.Text)
			}
			for _, q := range c.Evidence {
				if slices.ContainsFunc(bodies, func(b string) bool { return strings.Contains(b, q.Quote) }) {
					l.add(q.Quote)
				}
			}
		}
	}
	for _, body := range bodies {
		for sentence := range strings.SplitSeq(body, ". ") {
			l.add(sentence)
		}
	}
	return l
}

// add adds a text if it is long and does not occur before the limit. It removes quotation marks around the text,
// because JSON has them around every name.
func (l *later) add(text string) {
	text = strings.ToLower(strings.Trim(text, " \t\r\n\"'“”‘’.,;:!?"))
	if len(text) >= 5 && !strings.Contains(text, "\n") && !strings.Contains(l.told, text) {
		l.texts = append(l.texts, text)
	}
}

var (
	tags   = regexp.MustCompile(`<[^>]*>`)
	hrefs  = regexp.MustCompile(`(?:href|action)="([^"]*)"`)
	urlIDs = regexp.MustCompile(`as-of=scene%3A(\d+)`)
)

// found returns the first later text that a page contains.
func (l *later) found(body string) string {
	text := strings.ToLower(unescape(tags.ReplaceAllString(body, "")))
	for _, t := range l.texts {
		if strings.Contains(text, t) && strings.Contains(" "+strings.Join(wordsOf(text), " ")+" ",
			" "+strings.Join(wordsOf(t), " ")+" ") {
			return t
		}
	}
	return ""
}

// wordsOf returns the words of a text: a later name may be a part of an earlier word.
func wordsOf(text string) []string {
	return strings.FieldsFunc(codex.Normalize(text), func(r rune) bool {
		return (r < 'a' || 'z' < r) &&
			(r < '0' || '9' < r) && r < 128
	})
}

// TestPagesShowNothingLater follows all links from the first page under a limit, and searches each page for later
// texts. It also reads addresses without links: later entries, scenes, posts, revisions and snapshots.
func TestPagesShowNothingLater(t *testing.T) {
	t.Parallel()
	for _, scene := range longtest.Pick([]int{7}, []int{7, 30}) {
		t.Run(fmt.Sprint(scene), func(t *testing.T) {
			t.Parallel()
			s := open(t, func(o *web.Options) { o.Asker = &asker{answer: "Nobody knows."} })
			l := laterThan(s, scene)
			if len(l.texts) < 50 {
				t.Fatalf("only %d texts are later than scene %d", len(l.texts), scene)
			}
			queue, seen := beyond(s, scene), map[string]bool{}
			queue = append(queue, under("/lanterns/", scene))
			most := longtest.Pick(900, 8_000) // the lists have a link for each order, kind and letter
			for pages := 0; len(queue) > 0 && pages < most; pages++ {
				path := queue[0]
				queue = queue[1:]
				if seen[path] {
					continue
				}
				seen[path] = true
				got := s.get(path)
				if got.StatusCode >= 500 {
					t.Fatalf("%s: status %d", path, got.StatusCode)
				}
				body := got.body
				if asked, err := url.Parse(path); err == nil && asked.Query().Get("q") != "" {
					// what the reader asked for, and not what was found
					body = strings.ReplaceAll(unescape(body), asked.Query().Get("q"), "")
				}
				if text := l.found(body); text != "" {
					t.Fatalf("%s under scene %d shows %q", path, scene, text)
				}
				if to := got.Header.Get("Location"); to != "" {
					queue = append(queue, to)
				}
				for _, m := range hrefs.FindAllStringSubmatch(got.body, -1) {
					to, _, _ := strings.Cut(unescape(m[1]), "#")
					if !strings.HasPrefix(to, "/lanterns/") || strings.Contains(to, "/live") {
						continue
					}
					if limit := urlIDs.FindStringSubmatch(to); limit == nil &&
						!strings.Contains(to, "as-of=snapshot") || limit != nil && limit[1] != fmt.Sprint(scene) {
						t.Fatalf("%s leads to %s, without the limit", path, to)
					}
					queue = append(queue, to)
				}
			}
			t.Logf("%d pages under scene %d, looked through for %d texts", len(seen), scene, len(l.texts))
		})
	}
}

// beyond returns the addresses of items after a scene.
func beyond(s *site, scene int) (paths []string) {
	s.Helper()
	for e, err := range s.db.Glossary.All(s.Context()) {
		if err != nil {
			s.Fatal(err)
		}
		if int(e.First.Order()/annotator.OrderStep) > scene {
			paths = append(paths, under(fmt.Sprintf("/lanterns/entry/%d", e.ID), scene),
				under(fmt.Sprintf("/lanterns/entry/%d/history", e.ID), scene),
				under("/lanterns/entries", scene)+"&q="+url.QueryEscape(e.Term),
				under("/lanterns/names", scene)+"&sort=first&q="+url.QueryEscape(e.Term))
		}
		// other pages lead to long lists only
		paths = append(paths, under(fmt.Sprintf("/lanterns/entry/%d/named", e.ID), scene),
			under(fmt.Sprintf("/lanterns/entry/%d/mentions", e.ID), scene),
			under(fmt.Sprintf("/lanterns/entry/%d/card", e.ID), scene),
			under(fmt.Sprintf("/lanterns/entry/%d/card", e.ID), scene)+fmt.Sprintf("&at=%d", scene+1))
		if int(e.Last.Order()/annotator.OrderStep) > scene {
			paths = append(paths, under(fmt.Sprintf("/lanterns/revision/%d", e.Revision), scene),
				under(fmt.Sprintf("/lanterns/entry/%d", e.ID), scene)+"&format=json")
		}
	}
	calls, err := view.At(s.db, view.Moment{}).Calls(s.Context(), 0, 0, 1<<20)
	if err != nil {
		s.Fatal(err)
	}
	for i := range calls {
		if calls[i].Scene > scene && calls[i].Trace != 0 {
			paths = append(paths, under(fmt.Sprintf("/lanterns/row/%d", calls[i].Trace), scene))
		}
	}
	for n := scene + 1; n < scene+20; n++ {
		row, err := s.db.Scenes.Get(s.Context(), n)
		if annotator.KindOf(err) == annotator.NotFound {
			break
		}
		paths = append(paths, under(fmt.Sprintf("/lanterns/scene/%d", n), scene),
			under(fmt.Sprintf("/lanterns/post/%d", row.Posts[0]), scene),
			under(fmt.Sprintf("/lanterns/chapter/%d", row.Thread.ID), scene),
			under(fmt.Sprintf("/lanterns/turn/%d", row.Turn), scene),
			under(fmt.Sprintf("/lanterns/snapshot/%d", n), scene), under("/lanterns/audit", scene)+
				fmt.Sprintf("&scene=%d", n))
	}
	return paths
}

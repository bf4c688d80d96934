package web_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/codex"
	"annotator/view"
	"annotator/web"
)

var cardNames = regexp.MustCompile(`<a class="term" href="/lanterns/entry/([0-9]+)`)

// idsIn returns the ids of the entries whose cards a page shows, in their order.
func idsIn(t *testing.T, body string) (ids []int64) {
	t.Helper()
	for _, m := range cardNames.FindAllStringSubmatch(body, -1) {
		var id int64
		if _, err := fmt.Sscan(m[1], &id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// TestOrdersOfEntries compares the lists of entries with their mentions, their names and their ages, under a limit and
// without one.
func TestOrdersOfEntries(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for _, limit := range []string{"all", "scene:30"} {
		m := view.Moment{}
		if limit != "all" {
			var err error
			if m, err = view.LimitAt(t.Context(), s.db, view.Point{Kind: view.PointScene, ID: 30}); err != nil {
				t.Fatal(err)
			}
		}
		v := view.At(s.db, m)
		list := func(query string) []int64 { return idsIn(t, s.want("/lanterns/entries?as-of="+limit+query, 200)) }
		for _, tag := range []string{"", "person"} {
			weighed := list("&sort=weight&tag=" + tag)
			weights, err := v.Weights(t.Context(), weighed)
			if err != nil || len(weighed) < 5 || !slices.IsSortedFunc(weighed, func(a, b int64) int {
				return weights[b] - weights[a]
			}) {
				t.Errorf("%s, %q: by weight %v are %v, %v", limit, tag, weighed, weights, err)
			}
		}
		aged := list("&sort=first")
		if !slices.IsSorted(aged) || len(aged) < 20 {
			t.Errorf("%s: by first appearance %v", limit, aged)
		}
		named := list("&sort=name")
		entries, err := v.Headings(t.Context(), named)
		if err != nil || !slices.IsSortedFunc(named, func(a, b int64) int {
			return strings.Compare(codex.Normalize(entries[a].Term), codex.Normalize(entries[b].Term))
		}) {
			t.Errorf("%s: by name %v, %v", limit, named, err)
		}
		for _, id := range list("&letter=s") {
			if e, err := v.Entry(t.Context(), id); err != nil || !strings.HasPrefix(codex.Normalize(e.Term), "s") {
				t.Errorf("%s: %v begins with s, %v", limit, e, err)
			}
		}
	}
}

// TestQuestionsFindWhoTheyName asks for each of the first entries in words that many facts have.
func TestQuestionsFindWhoTheyName(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	asked := 0
	for id := int64(1); id <= 40; id++ {
		e, err := s.db.Glossary.Entry(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if !e.Status.Live() || len(strings.Fields(e.Term)) < 2 {
			continue
		}
		asked++
		q := url.QueryEscape("who is the one of " + e.Term + "?")
		if found := idsIn(t, s.want("/lanterns/entries?q="+q, 200)); len(found) == 0 || found[0] != id {
			t.Errorf("%q finds %v, not %d", e.Term, found, id)
		}
	}
	if asked < 5 {
		t.Errorf("only %d entries were asked for", asked)
	}
}

// TestNamesAreSuggested types the beginnings of the words of names. A limit that does not know a name does not suggest
// it.
func TestNamesAreSuggested(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	suggested := func(typed, limit string) []string {
		var found struct{ Names []string }
		body := s.want("/lanterns/entries?format=json&begins="+url.QueryEscape(typed)+"&as-of="+limit, 200)
		if err := json.Unmarshal([]byte(body), &found); err != nil {
			t.Fatal(err)
		}
		return found.Names
	}
	for id := int64(1); id <= 30; id++ {
		e, err := s.db.Glossary.Entry(t.Context(), id)
		if err != nil || !e.Status.Live() {
			continue
		}
		if found := suggested(e.Term, "all"); len(found) == 0 || codex.Normalize(found[0]) != codex.Normalize(e.Term) {
			t.Errorf("%q suggests %q", e.Term, found)
		}
		words := strings.Fields(e.Term)
		last := []rune(words[len(words)-1])
		if found := suggested(string(last[:len(last)-1]), "all"); len(last) > 3 && len(found) == 0 {
			t.Errorf("%q suggests nothing", string(last[:len(last)-1]))
		}
		if scene := int(e.First.Order()/annotator.OrderStep) - 1; scene > 0 {
			if found := suggested(e.Term, fmt.Sprintf("scene:%d", scene)); slices.Contains(found, e.Term) {
				t.Errorf("%q is suggested before it is known", e.Term)
			}
		}
	}
	if found := suggested(`"*`, "all"); len(found) > 0 {
		t.Errorf("marks suggest %q", found)
	}
}

// TestNewSinceTheLastVisit visits the first page twice, hours apart, and reads on in between. The second visit names
// what has appeared since the first, and only that.
func TestNewSinceTheLastVisit(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := open(t, func(o *web.Options) { o.Now = func() time.Time { return now } })
	var remembered *http.Cookie
	visit := func(scene int) string {
		r := s.request(http.MethodGet, under("/lanterns/", scene), nil)
		if remembered != nil {
			r.AddCookie(remembered)
		}
		got := s.do(r)
		for _, c := range got.Cookies() {
			remembered = c
		}
		_, after, _ := strings.Cut(got.body, "New since your last visit")
		after, _, _ = strings.Cut(after, "</section>")
		return after
	}
	const first, second = 20, 40
	if body := visit(first); body != "" {
		t.Errorf("the first visit has news: %s", body)
	}
	now = now.Add(time.Minute)
	if body := visit(second); body != "" {
		t.Errorf("the same visit has news: %s", body)
	}
	now = now.Add(5 * time.Hour)
	if body := visit(first); body != "" {
		t.Errorf("who goes back has news: %s", body)
	}
	now = now.Add(5 * time.Hour)
	body := visit(second)
	found := regexp.MustCompile(`/lanterns/entry/([0-9]+)`).FindAllStringSubmatch(body, -1)
	if len(found) < 3 {
		t.Fatalf("news are %s", body)
	}
	for _, m := range found {
		var id int64
		if _, err := fmt.Sscan(m[1], &id); err != nil {
			t.Fatal(err)
		}
		seen, err := view.At(s.db, view.Moment{}).Seen(t.Context(), []int64{id})
		if at := int(seen[id].First.Order() / annotator.OrderStep); err != nil || at <= first || at > second {
			t.Errorf("entry %d of scene %d is new, %v", id, at, err)
		}
	}
}

// TestCardIsOfItsScene asks for the cards of all names in a chapter. None tells what is told after its scene.
func TestCardIsOfItsScene(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	link := regexp.MustCompile(`class="name" href="/lanterns/entry/([0-9]+)[^"]*"(?: data-entry="([0-9]+)")?`)
	cards := 0
	for _, scene := range []int{3, 9, 15} {
		l := laterThan(s, scene)
		body := s.redirected(fmt.Sprintf("/lanterns/scene/%d?names=all&facts=none", scene), "all").body
		_, body, _ = strings.Cut(body, fmt.Sprintf(`<section class="scene" id="scene-%d"`, scene))
		body, _, _ = strings.Cut(body, "</section>")
		for _, m := range link.FindAllStringSubmatch(body, -1) {
			cards++
			id := cmp.Or(m[2], m[1])
			card := s.want(fmt.Sprintf("/lanterns/entry/%s/card?at=%d", id, scene), 200, `class="card-name"`)
			if text := l.found(card); text != "" {
				t.Errorf("the card of entry %s in scene %d tells %q", id, scene, text)
			}
		}
	}
	if cards < 3 {
		t.Errorf("only %d cards were read", cards)
	}
}

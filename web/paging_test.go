package web_test

import (
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/storage"
	"annotator/web"
)

// TestListsArePaged follows the links of long lists to their end: every fact, revision and naming fact is on one page.
func TestListsArePaged(t *testing.T) {
	t.Parallel()
	const facts = 130
	path := copySample(t)
	ids := addEntriesWith(t, path, []string{"Zorvath", "Quillon"}, func(name string) (texts []string) {
		for i := range facts {
			if name == "Quillon" {
				texts = append(texts, fmt.Sprintf("Quillon meets Zorvath on road %d, and zorvath is no word.", i+1))
			}
		}
		return texts
	})
	s := serve(t, path, nil)
	named, long := fmt.Sprintf("/lanterns/entry/%d", ids[0]), fmt.Sprintf("/lanterns/entry/%d", ids[1])
	all := func(n int) (list []int) {
		for i := range n {
			list = append(list, i+1)
		}
		return list
	}
	for _, c := range []struct {
		path, pattern string
		want          []int
	}{
		{long, `<li id="fact-([0-9]+)"`, all(facts)},
		{named + "/named", fmt.Sprintf(`href="%s\?fact=([0-9]+)`, long), all(facts)},
	} {
		found, pages := s.follow(c.path, "next", regexp.MustCompile(c.pattern))
		if !slices.Equal(found, c.want) || pages < 3 {
			t.Errorf("%s: %d pages list %v, not %v", c.path, pages, found, c.want)
		}
	}
	revisions, pages := s.follow(long+"/history", "next", regexp.MustCompile(`/revision/([0-9]+)`))
	if len(revisions) != facts+3 || !slices.IsSorted(revisions) || pages != 2 {
		t.Errorf("%d pages list %d revisions", pages, len(revisions))
	}
	last := "?after=" + strconv.Itoa(facts-1)
	if _, pages := s.follow(long+last, "prev", regexp.MustCompile(`fact-([0-9]+)`)); pages < 3 {
		t.Errorf("%d pages lead back to the first", pages)
	}
	s.want(long+"?fact=77", 200, `id="fact-77"`, "51 to 100 of 130 facts", ">Zorvath</a>")
	s.want(named, 200, "In the facts of", ">Quillon</a>", named+"/named")
}

// TestPagesOfFactsAgree reads an entry with facts on three pages. Its states and events are of all of them, and are the
// same on each page.
func TestPagesOfFactsAgree(t *testing.T) {
	t.Parallel()
	path := copySample(t)
	names := []string{"Zorvath", "event", "battle", "incident"} // which are their tags, too
	ids := addRevised(t, path, names, func(name string) (more []annotator.Revision) {
		facts := map[int]annotator.Claim{
			1:   {Text: "Zorvath was at the [[event]]."},
			2:   {Text: "Zorvath is poor.", State: true, Until: 1, Ended: annotator.EndOver},
			75:  {Text: "Zorvath, they say, was at the [[battle]].", Kind: annotator.Claimed},
			129: {Text: "Zorvath is rich.", State: true},
		}
		if name != "Zorvath" {
			return []annotator.Revision{newClaim(annotator.Claim{ID: 1, Text: "It was a day of rain."})}
		}
		for i := range 130 {
			c, told := facts[i]
			if !told {
				c.Text = fmt.Sprintf("Zorvath walks on road %d.", i)
			}
			c.ID, c.Ord = int64(i+1), i
			more = append(more, newClaim(c))
		}
		return more
	})
	s := serve(t, path, nil)
	entry := fmt.Sprintf("/lanterns/entry/%d", ids[0])
	events := regexp.MustCompile(`(?s)<h2>Events</h2>.*?</section>`)
	glance := regexp.MustCompile(`(?s)<dt>Now</dt>.*?</dl>`)
	first := s.want(entry, 200)
	for _, fact := range []string{"?fact=2", "?fact=76", "?fact=130"} {
		page := s.want(entry+fact, 200)
		if events.FindString(page) != events.FindString(first) || glance.FindString(page) != glance.FindString(first) {
			t.Errorf("%s says something else at a glance than the first page", fact)
		}
	}
	for _, want := range []string{
		`<dt>Now</dt><dd><ul><li><a href="` + entry + `?fact=130#fact-130">Zorvath is rich.</a>`,
		`<dt>Before</dt><dd><ul><li><a href="` + entry + `?fact=3#fact-3">Zorvath is poor.</a>`, ">event</a>",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if strings.Contains(events.FindString(first), "battle") {
		t.Error("what somebody says makes an event")
	}
}

// TestOutdatedStatementHasItsScene: a page says of a statement before the last change of a state at which scene it was
// so.
func TestOutdatedStatementHasItsScene(t *testing.T) {
	t.Parallel()
	path := copySample(t)
	states := []annotator.Revision{
		newClaim(annotator.Claim{ID: 1, Text: "Zorvath is poor.", State: true}),
		{Field: annotator.FieldPresent, New: "Zorvath has nothing."},
		newClaim(annotator.Claim{ID: 2, Ord: 1, Text: "Zorvath is rich.", State: true}),
	}
	ids := addRevised(t, path, []string{"Zorvath", "Quillon"}, func(name string) []annotator.Revision {
		if name == "Quillon" {
			return states[:2]
		}
		return states
	})
	s := serve(t, path, nil)
	for i, want := range []string{"How it stood at ", "How it stands at "} {
		s.want(fmt.Sprintf("/lanterns/entry/%d", ids[i]), 200, " has nothing.</div>", want+`<a href="/lanterns/scene/`)
	}
}

// TestLongChapterHasParts reads a chapter that is too long for a page, with and without a limit inside it.
func TestLongChapterHasParts(t *testing.T) {
	t.Parallel()
	const scenes = 45
	s := serve(t, oneThread(t, scenes), func(o *web.Options) { o.Databases[0].Story = nil })
	list := regexp.MustCompile(`id="scene-([0-9]+)"`)
	for _, c := range []struct {
		path         string
		scenes, page int
	}{
		{"/lanterns/chapter/7", scenes, 5},
		{"/lanterns/chapter/7?as-of=scene:40", 40, 4},
		{"/lanterns/chapter/7?as-of=scene:41", 41, 5},
		{"/lanterns/chapter/7?as-of=scene:7", 7, 1},
	} {
		found, pages := s.follow(c.path, "next", list)
		want := make([]int, c.scenes)
		for i := range want {
			want[i] = i + 1
		}
		if !slices.Equal(found, want) || pages != c.page {
			t.Errorf("%s: %d pages show %v", c.path, pages, found)
		}
	}
	s.want("/lanterns/chapter/7?part=99", 200, `rel="prev"`, "scenes 41 to 45")
	s.want("/lanterns/chapter/424242", 404)
	if to := s.get("/lanterns/scene/23").Header.Get("Location"); to != "/lanterns/chapter/7?part=3#scene-23" {
		t.Errorf("scene 23 is at %s", to)
	}
}

// oneThread creates the database of a story with one thread, without recorded scenes.
func oneThread(t *testing.T, scenes int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "annotator.db")
	db, err := storage.OpenWriter(t.Context(), path, "test", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Run.Begin(t.Context(), storage.Corpus{Title: "One thread"},
		func(yield func(*annotator.Scene, error) bool) {
			for i := range scenes {
				post := annotator.Post{ID: int64(i + 1), Thread: 7, Body: strings.Repeat("Dawn. ", 1000)}
				scene := &annotator.Scene{
					N: i + 1, Thread: annotator.Thread{ID: 7, Order: 1}, Index: i,
					Posts: []annotator.Post{post},
				}
				if !yield(scene, nil) {
					return
				}
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// follow reads a page and the pages of its links of one kind. It returns the numbers on them that match a pattern.
func (s *site) follow(path, rel string, pattern *regexp.Regexp) (found []int, pages int) {
	s.Helper()
	next := regexp.MustCompile(`rel="` + rel + `" href="([^"]+)"`)
	for path != "" && pages < 100 {
		body := s.want(path, 200)
		pages++
		for _, m := range pattern.FindAllStringSubmatch(body, -1) {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				s.Fatal(err)
			}
			found = append(found, n)
		}
		path = ""
		if m := next.FindStringSubmatch(body); m != nil {
			path = html.UnescapeString(m[1])
		}
	}
	return found, pages
}

// TestNamedByIsTheInverseOfLinks compares the links of all entries of the sample: if A links to B, A is in the list of
// entries that name B.
func TestNamedByIsTheInverseOfLinks(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	to, from := map[[2]int64]bool{}, map[[2]int64]bool{}
	link := regexp.MustCompile(`/lanterns/entry/([0-9]+)"`)
	for id := int64(1); s.get(fmt.Sprintf("/lanterns/entry/%d", id)).StatusCode == 200; id++ {
		facts := s.want(fmt.Sprintf("/lanterns/entry/%d", id), 200)
		_, facts, _ = strings.Cut(facts, `class="told"`)
		facts, _, _ = strings.Cut(facts, "<aside")
		for _, m := range link.FindAllStringSubmatch(facts, -1) {
			n, _ := strconv.ParseInt(m[1], 10, 64)
			to[[2]int64{id, n}] = true
		}
		for _, m := range link.FindAllStringSubmatch(s.listOf(id), -1) {
			n, _ := strconv.ParseInt(m[1], 10, 64)
			if n != id {
				from[[2]int64{n, id}] = true
			}
		}
	}
	for pair := range to {
		if !from[pair] {
			t.Errorf("entry %d links to %d, and is not among those that name it", pair[0], pair[1])
		}
	}
	if len(to) < 20 {
		t.Errorf("only %d links were compared", len(to))
	}
}

// listOf returns the pages of the facts that name an entry.
func (s *site) listOf(id int64) string {
	s.Helper()
	var all strings.Builder
	next := regexp.MustCompile(`rel="next" href="([^"]+)"`)
	for path := fmt.Sprintf("/lanterns/entry/%d/named", id); path != ""; {
		body := s.want(path, 200)
		_, main, _ := strings.Cut(body, "<main")
		all.WriteString(main)
		path = ""
		if m := next.FindStringSubmatch(main); m != nil {
			path = html.UnescapeString(m[1])
		}
	}
	return all.String()
}

package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"annotator/web"
)

// hiddenFields are those of the form of a question.
var hiddenFields = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

// question returns the fields of the form of the question on a page.
func question(page string) url.Values {
	form := url.Values{}
	_, page, _ = strings.Cut(page, `class="answers"`)
	for _, m := range hiddenFields.FindAllStringSubmatch(page, 5) {
		form.Set(m[1], unescape(m[2]))
	}
	return form
}

// TestReviewByForms answers questions without script: an answer applies its operation, the next question follows, and
// the decision can be undone. A stale form changes nothing. Under an earlier limit the decision is not listed.
func TestReviewByForms(t *testing.T) {
	t.Parallel()
	path := copySample(t)
	s := serve(t, path, func(o *web.Options) { o.Editor, o.Databases[0].Name = writer{path}, "copy" })
	const review = "/copy/review?as-of=all"
	first := s.get(review)
	form := question(first.body)
	if first.StatusCode != http.StatusOK || form.Get("key") == "" {
		t.Fatalf("status %d, the form is %v", first.StatusCode, form)
	}
	form.Set("letter", "l")
	post := func(path string, form url.Values) response { return s.do(s.request(http.MethodPost, path, form)) }
	if got := post(review, form); got.StatusCode != http.StatusSeeOther {
		t.Fatalf("later: status %d", got.StatusCode)
	}
	if got := post(review, form); got.StatusCode != http.StatusConflict {
		t.Errorf("the same answer again: status %d", got.StatusCode)
	}
	second := question(s.get(review).body)
	if second.Get("key") == form.Get("key") {
		t.Fatal("it asks the same again")
	}
	second.Set("digest", "other")
	second.Set("letter", "n")
	if got := post(review, second); got.StatusCode != http.StatusConflict {
		t.Errorf("a form whose question has changed: status %d", got.StatusCode)
	}
	slight := question(s.get(review + "&kind=slight").body)
	slight.Set("letter", "y")
	if got := post(review, slight); got.StatusCode != http.StatusSeeOther {
		t.Fatalf("yes: status %d, %s", got.StatusCode, got.body)
	}
	decisions := func(query string) int {
		return strings.Count(s.get("/copy/review?as-of="+query).body, "/review/undo/")
	}
	if n := decisions("all"); n != 2 {
		t.Errorf("%d decisions are listed, want 2", n)
	}
	if n := decisions("scene:9"); n != 0 {
		t.Errorf("%d decisions are listed under an earlier limit", n)
	}
	undone := post("/copy/review/undo/2?as-of=all", url.Values{"back": {review}})
	if undone.StatusCode != http.StatusSeeOther {
		t.Errorf("undo: status %d", undone.StatusCode)
	}
	if n := decisions("all"); n != 1 {
		t.Errorf("%d decisions are listed after one was undone", n)
	}
	if again := question(s.get(review + "&kind=slight").body); again.Get("key") != slight.Get("key") {
		t.Errorf("after undo it asks about %s, not %s", again.Get("key"), slight.Get("key"))
	}
	if got := post(review, url.Values{"key": {slight.Get("key")}}); got.StatusCode != http.StatusConflict {
		t.Errorf("a form without an answer: status %d", got.StatusCode)
	}
}

// TestReviewWithoutEdits: where no edits are taken, the page has no forms, and takes none.
func TestReviewWithoutEdits(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	got := s.get("/lanterns/review?as-of=all")
	if got.StatusCode != http.StatusOK || strings.Contains(got.body, `name="letter"`) {
		t.Errorf("status %d, with forms: %v", got.StatusCode, strings.Contains(got.body, `name="letter"`))
	}
	form := url.Values{"key": {"slight/1"}, "letter": {"n"}}
	if got := s.do(s.request(http.MethodPost, "/lanterns/review?as-of=all", form)); got.StatusCode !=
		http.StatusBadRequest {
		t.Errorf("an answer: status %d", got.StatusCode)
	}
}

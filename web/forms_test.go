package web_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/storage"
	"annotator/view"
	"annotator/web"
)

// writer applies operations to a database.
type writer struct{ path string }

func (e writer) Edit(ctx context.Context, db *storage.DB, op *annotator.Operation) (row int64, err error) {
	if err := db.Edits.Check(ctx, *op); err != nil {
		return 0, err
	}
	w, err := storage.OpenWriter(ctx, e.path, "test", time.Now)
	if annotator.KindOf(err) == annotator.InUse {
		return 0, storage.FileEdit(ctx, e.path, time.Now, op)
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = w.Close() }()
	done, err := w.Edits.Apply(ctx, *op)
	if err != nil {
		return 0, err
	}
	return done.Row, nil
}

const formToken = "a secret of the server"

// editSite is a site whose readers may edit.
func editSite(t *testing.T, change func(*web.Options)) *site {
	t.Helper()
	path := copySample(t)
	return serve(t, path, func(o *web.Options) {
		o.Editor, o.FormToken = writer{path}, formToken
		if change != nil {
			change(o)
		}
	})
}

// post sends a form with the token of forms, as a reader who has finished the story unless the address has a limit.
func (s *site) post(path string, pairs ...string) response {
	s.Helper()
	form := url.Values{"form": {formToken}, "back": {path}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	r := s.request(http.MethodPost, path, form)
	r.AddCookie(&http.Cookie{Name: "as-of", Value: "all"})
	return s.do(r)
}

// TestEditsByForms renames an entry and takes it back by the button that the notice has.
func TestEditsByForms(t *testing.T) {
	t.Parallel()
	s := editSite(t, nil)
	e := s.entry("Ysolde Marrow")
	page := "/lanterns/entry/" + fmt.Sprint(e.ID)
	got := s.post(page+"/edit", "do", "rename", "name", "Ysolde Marrow the Tall", "back", page)
	to := got.Header.Get("Location")
	if got.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, page+"?edited=rename&row=") {
		t.Fatalf("a rename leads with status %d to %q: %s", got.StatusCode, to, got.body)
	}
	s.want(to, http.StatusOK, "Ysolde Marrow the Tall", "The entry has another name.", `action="/lanterns/undo"`)
	_, row, _ := strings.Cut(to, "row=")
	got = s.post("/lanterns/undo", "row", row, "back", to)
	if want := page + "?edited=undo&row="; !strings.HasPrefix(got.Header.Get("Location"), want) {
		t.Fatalf("an undo leads with status %d to %q", got.StatusCode, got.Header.Get("Location"))
	}
	if body := s.want(page, http.StatusOK, "<h1>"+e.Term); strings.Contains(body, "Ysolde Marrow the Tall") {
		t.Error("the name was not taken back")
	}
	if got = s.post("/lanterns/undo", "row", row); got.StatusCode != http.StatusConflict {
		t.Errorf("a second undo of the same edit: status %d", got.StatusCode)
	}
}

// TestNamesAreEditedInTheirTable changes an entry by each form of a row, which only readers get who may edit.
func TestNamesAreEditedInTheirTable(t *testing.T) {
	t.Parallel()
	s := editSite(t, nil)
	const page = "/lanterns/names?q=marrow"
	e := s.entry("Ysolde Marrow")
	to := fmt.Sprintf("/lanterns/entry/%d/edit", e.ID)
	s.want(page, http.StatusOK, `action="`+to+`"`, "<td class=\"num\">")
	for _, form := range [][]string{
		{"do", "rename", "name", "Ysolde of the Watch"},
		{"do", "add", "name", "the Tall"},
		{"do", "retag", "tags", "person, captain"},
	} {
		got := s.post(to, append(form, "back", page)...)
		if back := got.Header.Get("Location"); got.StatusCode != http.StatusSeeOther ||
			!strings.HasPrefix(back, "/lanterns/names?") {
			t.Errorf("%v leads with status %d to %q", form, got.StatusCode, back)
		}
	}
	s.want(page, http.StatusOK, "Ysolde of the Watch", "the Tall", ">captain</a>", "Ysolde Marrow")
	body := open(t, nil).want(page, http.StatusOK, "Ysolde Marrow")
	if strings.Contains(body, "<form method=\"post\"") {
		t.Error("there are forms without --allow-edits")
	}
}

// TestEditsNeedPermission: without --allow-edits, the token of forms or the server's token, nothing changes.
func TestEditsNeedPermission(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte("k"), web.ShareKeySize)
	s := editSite(t, func(o *web.Options) {
		o.Token = "a token of the owner"
		o.Databases[0].ShareKey = key
	})
	closed := open(t, nil)
	e := s.entry("Ysolde Marrow")
	path := "/lanterns/entry/" + fmt.Sprint(e.ID)
	share := web.SharedPath("lanterns", key, view.Point{Kind: view.PointScene, ID: 30})
	_, query, _ := strings.Cut(share, "?")
	owner := func(r *http.Request) { r.Header.Set("Authorization", "Bearer a token of the owner") }
	foreign := func(r *http.Request) { owner(r); r.Header.Set("Origin", "https://evil.test") }
	nobody := func(*http.Request) {}
	for name, c := range map[string]struct {
		site   *site
		query  string
		token  string
		change func(*http.Request)
		status int
	}{
		"closed":        {closed, "", formToken, nobody, http.StatusBadRequest},
		"no token":      {s, "", formToken, nobody, http.StatusUnauthorized},
		"a shared link": {s, "&" + query, formToken, nobody, http.StatusUnauthorized},
		"another site":  {s, "", formToken, foreign, http.StatusForbidden},
		"a forged form": {s, "&form=" + url.QueryEscape(formToken), "", owner, http.StatusConflict},
	} {
		form := url.Values{"form": {c.token}, "do": {"rename"}, "name": {"Changed"}, "back": {path}}
		r := c.site.request(http.MethodPost, path+"/edit?as-of=all"+c.query, form)
		c.change(r)
		if got := c.site.do(r); got.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d", name, got.StatusCode, c.status)
		}
	}
	if got := s.entry("Ysolde Marrow"); got.Name() != e.Name() || got.Revisions != e.Revisions {
		t.Errorf("the entry was changed to %q", got.Name())
	}
}

// TestEditsKeepTheLimit: under a limit, an edit is about what the limit shows, and earlier limits do not show it.
func TestEditsKeepTheLimit(t *testing.T) {
	t.Parallel()
	s := editSite(t, nil)
	shown, err := view.LimitAt(t.Context(), s.db, view.Point{Kind: view.PointScene, ID: 9})
	if err != nil {
		t.Fatal(err)
	}
	var early, late *annotator.Entry
	for e, err := range view.At(s.db, view.Moment{}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		then, _ := view.At(s.db, shown).Headings(t.Context(), []int64{e.ID})
		switch {
		case then[e.ID] == nil:
			late = e
		case early == nil && e.Status.Live() && e.First.Order() < shown.Order()-3:
			early = e
		}
	}
	if early == nil || late == nil {
		t.Fatal("the story has no entry before the limit, or none after it")
	}
	page := func(e *annotator.Entry) string { return "/lanterns/entry/" + fmt.Sprint(e.ID) }
	for _, pairs := range [][]string{{"do", "rename"}, {"do", "hide"}, {"do", "add", "text", "It is."}} {
		got := s.post(under(page(late)+"/edit", 9), append(pairs, "name", "X")...)
		if got.StatusCode != http.StatusNotFound {
			t.Errorf("%v of an entry after the limit: status %d", pairs, got.StatusCode)
		}
	}
	got := s.post(under(page(early)+"/edit", 9), "do", "merge", "other", late.Name())
	if got.StatusCode != http.StatusConflict || !strings.Contains(got.body, "There is no entry with this name.") {
		t.Errorf("a merge with an entry after the limit: status %d", got.StatusCode)
	}
	got = s.post(under(page(early)+"/edit", 9), "do", "add", "text", "Someone wrote these words.", "back", page(early))
	if got.StatusCode != http.StatusSeeOther {
		t.Fatalf("a fact is added with status %d: %s", got.StatusCode, got.body)
	}
	const words = "Someone wrote these words."
	if body := s.get(under(page(early), 8)).body; strings.Contains(body, words) {
		t.Error("an earlier limit shows what was written under a later one")
	}
	s.want(under(page(early), 9), http.StatusOK, words)
	s.want(page(early), http.StatusOK, words)
}

// TestFormsOfAnEntry sends the forms of an entry's page as the page has them, and undoes each edit.
func TestFormsOfAnEntry(t *testing.T) {
	t.Parallel()
	s := editSite(t, nil)
	e, other := s.entry("Ysolde Marrow"), s.entry("Hadrian Thesk")
	page := "/lanterns/entry/" + fmt.Sprint(e.ID)
	fact := fmt.Sprint(e.Claims[0].ID)
	if body := open(t, nil).get(page).body; strings.Contains(body, `method="post"`) {
		t.Error("a page that takes no edits has forms")
	}
	scene := fmt.Sprint(s.scene(e.Claims[0].Evidence[0].Post))
	for _, edit := range []struct {
		pairs []string
		shows string
	}{
		{[]string{"do", "edit", "fact", fact, "text", "These are other words."}, "These are other words."},
		{
			[]string{
				"do", "edit", "fact", fact, "text", e.Claims[0].Text, "relation", "keeper of", "object", "the wind",
			},
			`keeper of</dt>`,
		},
		{
			[]string{
				"do", "edit", "fact", fact, "text", "New words.", "relation", "rival of", "object", other.Name(),
			},
			"rival of</a>",
		},
		{
			[]string{"do", "add", "text", "She has a rival.", "relation", "rival of", "object", other.Name()},
			"rival of</a>",
		},
		{[]string{"do", "lock", "fact", fact}, "Unlock"},
		{[]string{"do", "reject", "fact", fact}, "It is taken out"},
		{[]string{"do", "add", "text", "She is left-handed.", "identity", "on"}, "She is left-handed."},
		{
			[]string{"do", "add", "text", "She is quoted.", "quote", e.Claims[0].Evidence[0].Quote, "scene", scene},
			"She is quoted.",
		},
		{[]string{"do", "rename", "name", "The Keeper of All"}, "<h1>The Keeper of All"},
		{[]string{"do", "add", "name", "The Keeper of All"}, "<li>The Keeper of All"},
		{[]string{"do", "retag", "tags", "keeper, harbour folk"}, ">harbour folk</a>"},
		{[]string{"do", "merge", "other", other.Name()}, "This is now part of"},
		{[]string{"do", "never", "other", other.Name()}, "never merged"},
		{[]string{"do", "hide"}, "This was taken out of the codex."},
		{[]string{"do", "lock"}, "Only a person can change it."},
	} {
		got := s.post(page+"/edit", append(edit.pairs, "back", page)...)
		to := got.Header.Get("Location")
		if got.StatusCode != http.StatusSeeOther {
			t.Errorf("%v: status %d: %s", edit.pairs, got.StatusCode, got.body)
			continue
		}
		s.want(to, http.StatusOK, edit.shows)
		_, row, _ := strings.Cut(to, "row=")
		if got := s.post("/lanterns/undo", "row", row); got.StatusCode != http.StatusSeeOther {
			t.Errorf("undo %v: status %d: %s", edit.pairs, got.StatusCode, got.body)
		}
	}
	if now := s.entry("Ysolde Marrow"); now.Name() != e.Name() || len(now.Locks) > 0 {
		t.Errorf("after all was undone, the entry is %s with the locks %v", now.Name(), now.Locks)
	}
	s.post(page+"/edit", "do", "merge", "other", other.Name())
	s.want(page, http.StatusOK, `value="split"`)
	s.want("/lanterns/entry/"+fmt.Sprint(other.ID), http.StatusOK, "Part of it since a merge")
	if got := s.post(page+"/edit", "do", "split"); got.StatusCode != http.StatusSeeOther {
		t.Errorf("a split: status %d: %s", got.StatusCode, got.body)
	}
	for _, wrong := range [][]string{
		{"do", "edit", "fact", fact, "text", ""},
		{"do", "edit", "fact", fact, "text", "X.", "relation", "", "object", "Nobody"},
		{"do", "add", "text", "X.", "quote", "no such words", "scene", "1"},
		{"do", "merge", "other", "Nobody at all"},
		{"do", "rename", "name", other.Name()},
		{"do", "unlock"},
	} {
		if got := s.post(page+"/edit", wrong...); got.StatusCode != http.StatusConflict {
			t.Errorf("%v: status %d", wrong, got.StatusCode)
		}
	}
}

// scene returns the number of the scene of a post.
func (s *site) scene(post int64) int {
	s.Helper()
	place, err := s.db.Scenes.PlaceOf(s.Context(), post)
	if err != nil {
		s.Fatal(err)
	}
	scene, err := s.db.Scenes.At(s.Context(), place.Order())
	if err != nil {
		s.Fatal(err)
	}
	return scene.N
}

package web_test

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"annotator/view"
	"annotator/web"

	"pgregory.net/rapid"
)

// shareSite is a site that needs a token, with a link that shares it up to scene 9.
func shareSite(t *testing.T) (s *site, link string) {
	key := bytes.Repeat([]byte("k"), web.ShareKeySize)
	s = open(t, func(o *web.Options) {
		o.Token = "a token of the owner"
		o.Databases[0].ShareKey = key
	})
	return s, web.SharedPath("lanterns", key, view.Point{Kind: view.PointScene, ID: 9})
}

// TestSharedLinkShowsItsLimit opens a shared link without the token. Pages are shown up to its limit, whatever limit
// the reader sets, and nothing but pages.
func TestSharedLinkShowsItsLimit(t *testing.T) {
	t.Parallel()
	s, link := shareSite(t)
	if got := s.get("/lanterns/story"); got.StatusCode != http.StatusUnauthorized {
		t.Fatalf("without link and token: status %d", got.StatusCode)
	}
	got := s.get(link)
	if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/lanterns/" || len(got.Cookies()) != 1 {
		t.Fatalf("the link: status %d, %q, %v", got.StatusCode, got.Header.Get("Location"), got.Cookies())
	}
	cookie := got.Cookies()[0]
	send := func(method, path string, form url.Values) response {
		r := s.request(method, path, form)
		r.AddCookie(cookie)
		return s.do(r)
	}
	later := laterThan(s, 9)
	for path, want := range map[string]int{
		"/lanterns/": 200, "/lanterns/story": 200, "/lanterns/story?as-of=all": 200,
		"/lanterns/entries?as-of=scene:5": 200,
		"/lanterns/scene/9":               303, "/lanterns/scene/10": 404, "/lanterns/story?as-of=scene:10": 400,
		"/lanterns/scene/10?as-of=scene:30": 400, "/lanterns/entry/2?as-of=all&format=json": 200,
		"/": 401, "/other/": 401,
	} {
		got := send(http.MethodGet, path, nil)
		if got.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, got.StatusCode, want)
		}
		if text := later.found(got.body); text != "" {
			t.Errorf("%s shows %q", path, text)
		}
	}
	if got := send(http.MethodPost, "/lanterns/limit", url.Values{"as-of": {"scene:5"}}); got.StatusCode != 303 {
		t.Errorf("an earlier limit: status %d", got.StatusCode)
	}
	for _, path := range []string{"/lanterns/verify", "/lanterns/snapshot/1"} {
		if got := send(http.MethodPost, path, url.Values{"question": {"Who?"}}); got.StatusCode != 401 {
			t.Errorf("POST %s: status %d", path, got.StatusCode)
		}
	}
}

// TestEditedLinksAreRefused: no change of a shared link opens a page, neither as a link nor as a cookie.
func TestEditedLinksAreRefused(t *testing.T) {
	t.Parallel()
	s, link := shareSite(t)
	parsed, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	value := parsed.Query().Get("share")
	refused := func(t interface{ Errorf(string, ...any) }, edited string) {
		if got := s.get("/lanterns/story?share=" + url.QueryEscape(edited)); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("the link %q: status %d", edited, got.StatusCode)
		}
		r := s.request(http.MethodGet, "/lanterns/story", nil)
		r.AddCookie(&http.Cookie{Name: "share", Value: url.QueryEscape(edited)})
		if got := s.do(r); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("the cookie %q: status %d", edited, got.StatusCode)
		}
	}
	point, signature, _ := strings.Cut(value, "~")
	for _, edited := range []string{
		"", "~", point, point + "~", "all~" + signature, "scene:10~" + signature, "scene:99~" + signature,
		"9~" + signature,
		" " + value, value + " ", value + "=", "snapshot:1~" + signature, "scene:9~scene:10~" + signature,
	} {
		refused(t, edited)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(value)-1).Draw(t, "at")
		by := rapid.ByteRange(' ', '~').Draw(t, "by")
		if value[at] != by {
			refused(t, value[:at]+string(by)+value[at+1:])
		}
	})
}

package web_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
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

// TestSharePage makes links with the token, to a page under several limits. Without the token, a link shows its page up
// to the limit under which it was made. A reader with such a link makes none.
func TestSharePage(t *testing.T) {
	t.Parallel()
	s, link := shareSite(t)
	owner := func(path string) response {
		r := s.request(http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer a token of the owner")
		return s.do(r)
	}
	offered := regexp.MustCompile(`id="shared" readonly value="http://[^/]*([^"]*)"`)
	for _, scene := range []int{1, 9, 40} {
		page := owner(fmt.Sprintf("/lanterns/story?as-of=scene:%d", scene)).body
		offer := regexp.MustCompile(`href="(/lanterns/share[^"]*)">Share this page`).FindStringSubmatch(page)
		if offer == nil {
			t.Fatal("the page offers no link")
		}
		made := offered.FindStringSubmatch(owner(unescape(offer[1])).body)
		if made == nil || strings.Contains(made[1], "as-of") {
			t.Fatalf("the link is %q", made)
		}
		opened := s.get(unescape(made[1]))
		if to := opened.Header.Get("Location"); to != "/lanterns/story" {
			t.Fatalf("%s leads to %q", made[1], to)
		}
		for path, want := range map[string]int{
			"/lanterns/story": 200, fmt.Sprintf("/lanterns/scene/%d", scene): 303,
			fmt.Sprintf("/lanterns/scene/%d", scene+1): 404,
			"/lanterns/share":                          404, "/lanterns/share?as-of=all": 404,
		} {
			r := s.request(http.MethodGet, path, nil)
			r.AddCookie(opened.Cookies()[0])
			got := s.do(r)
			if got.StatusCode != want {
				t.Errorf("up to scene %d, %s: status %d, want %d", scene, path, got.StatusCode, want)
			}
			if text := laterThan(s, scene).found(got.body); text != "" {
				t.Errorf("up to scene %d, %s shows %q", scene, path, text)
			}
		}
	}
	if last := offered.FindStringSubmatch(owner("/lanterns/share?as-of=all&back=//elsewhere/x").body); last == nil ||
		!strings.HasPrefix(unescape(last[1]), "/lanterns/?share=scene%3A83~") {
		t.Errorf("to the end: %q", last)
	}
	if got := s.get(link); strings.Contains(got.body, "Share this page") {
		t.Error("a shared page offers a link")
	}
	if open := open(t, nil); strings.Contains(open.get("/lanterns/story").body, "Share this page") {
		t.Error("a server without a token offers a link")
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

package web_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"annotator/web"
)

// TestHeadersForbidScriptsAndStyles: every answer has a restrictive policy, and no page has an inline script or style.
func TestHeadersForbidScriptsAndStyles(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for _, path := range []string{"/lanterns/", "/lanterns/plots", "/nothing/", "/static/app.css", "/static/nothing"} {
		got := s.get(path)
		for name, part := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "same-origin",
		} {
			if !strings.Contains(got.Header.Get(name), part) {
				t.Errorf("%s: %s is %q", path, name, got.Header.Get(name))
			}
		}
		for _, inline := range []string{"<script>", "<style", " style=", " onclick=", " onload="} {
			if strings.Contains(got.body, inline) {
				t.Errorf("%s contains %s", path, inline)
			}
		}
	}
}

// TestForeignHostNamesAreRefused: the server answers only to its own names, which prevents DNS rebinding.
func TestForeignHostNamesAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *web.Options) { o.Hosts = []string{"codex.example"} })
	for host, known := range map[string]bool{
		"localhost:8420": true, "localhost": true, "127.0.0.1:1": true, "[::1]:8420": true, "192.168.1.20:8420": true,
		"codex.example":     true,
		"CODEX.example.:80": true, "evil.test": false, "localhost.evil.test": false, "codex.example.evil.test": false,
		"javascript:alert(1)": false,
		"127.0.0.1.evil.test": false,
	} {
		r := s.request(http.MethodGet, "/lanterns/", nil)
		r.Host = host
		if got := s.do(r); (got.StatusCode == http.StatusOK) != known {
			t.Errorf("%s: status %d", host, got.StatusCode)
		}
	}
}

// TestForeignAndLongFormsAreRefused: forms of other sites, long bodies and other methods are refused.
func TestForeignAndLongFormsAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for _, path := range []string{"/lanterns/limit", "/lanterns/verify", "/lanterns/snapshot/5", "/lanterns/undo"} {
		r := s.request(http.MethodPost, path, url.Values{"scene": {"3"}})
		r.Header.Set("Origin", "https://evil.test")
		if got := s.do(r); got.StatusCode != http.StatusForbidden {
			t.Errorf("%s from another site: status %d", path, got.StatusCode)
		}
		r = s.request(http.MethodPost, path, url.Values{"scene": {"3"}})
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		if got := s.do(r); got.StatusCode != http.StatusForbidden {
			t.Errorf("%s from another site: status %d", path, got.StatusCode)
		}
	}
	if got := s.do(s.request(http.MethodPost, "/lanterns/limit",
		url.Values{"scene": {"3"}, "back": {strings.Repeat("x", 1<<20)}})); got.StatusCode != http.StatusBadRequest {
		t.Errorf("a long form: status %d", got.StatusCode)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		if got := s.do(s.request(method, "/lanterns/entries", nil)); got.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s of a page: status %d", method, got.StatusCode)
		}
	}
}

// TestWithoutTokenOnlyTheFormIsShown: without the token, all pages are the sign-in form.
func TestWithoutTokenOnlyTheFormIsShown(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	s := open(t, func(o *web.Options) { o.Token = token })
	for _, path := range []string{"/", "/lanterns/", "/lanterns/entries?format=json", "/lanterns/live", "/nothing/"} {
		if got := s.get(path); got.StatusCode != http.StatusUnauthorized || strings.Contains(got.body, "Lanterns") {
			t.Errorf("%s without the token: status %d", path, got.StatusCode)
		}
	}
	r := s.request(http.MethodGet, "/lanterns/", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	if got := s.do(r); got.StatusCode != http.StatusOK {
		t.Errorf("with the token in a header: status %d", got.StatusCode)
	}
	if got := s.do(s.request(http.MethodPost, "/sign-in",
		url.Values{"token": {"wrong"}})); got.StatusCode != http.StatusUnauthorized || len(got.Cookies()) > 0 {
		t.Errorf("a wrong token: status %d", got.StatusCode)
	}
	got := s.do(s.request(http.MethodPost, "/sign-in", url.Values{"token": {token}}))
	if got.StatusCode != http.StatusSeeOther || len(got.Cookies()) != 1 ||
		strings.Contains(got.Cookies()[0].Value, token) {
		t.Fatalf("the token: status %d, %v", got.StatusCode, got.Cookies())
	}
	if asked := s.get("/lanterns/scene/4?as-of=scene:9"); !strings.Contains(asked.body,
		`value="/lanterns/scene/4?as-of=scene:9"`) {
		t.Errorf("the form forgets the page: %s", asked.body)
	}
	for back, want := range map[string]string{
		"/lanterns/scene/4?as-of=scene:9": "/lanterns/scene/4?as-of=scene:9", "": "/", "//evil.test/x": "/",
		"https://evil.test/": "/", `/\evil.test`: "/",
		"javascript:alert(1)": "/", "/%2f/evil.test": "/", "lanterns": "/",
	} {
		if got := s.do(s.request(http.MethodPost, "/sign-in",
			url.Values{"token": {token}, "back": {back}})); got.Header.Get("Location") != want {
			t.Errorf("back to %q leads to %q, want %q", back, got.Header.Get("Location"), want)
		}
	}
	r = s.request(http.MethodGet, "/lanterns/", nil)
	r.AddCookie(got.Cookies()[0])
	if got := s.do(r); got.StatusCode != http.StatusOK {
		t.Errorf("with the cookie: status %d", got.StatusCode)
	}
}

// TestSlowFormsDelayNoPage begins forms that are never complete. Other pages are made in the meantime.
func TestSlowFormsDelayNoPage(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for range runtime.GOMAXPROCS(0) {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.WriteString(c, "POST /lanterns/limit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nExpect: 100-continue\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		// the form is being read
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "100") {
			t.Fatalf("%q, %v", line, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	got, err := s.client.Do(s.request(http.MethodGet, "/lanterns/entries", nil).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	_ = got.Body.Close()
}

package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// policy lets a page load only what this server sends, and run no inline script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// protect wraps the pages: headers, the names of this server, other sites' forms, the size of a body, and the token.
func (s *Server) protect(next http.Handler) http.Handler {
	next = http.NewCrossOriginProtection().Handler(s.authorise(next))
	next = http.MaxBytesHandler(next, maxBody)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "private, no-cache")
		if !s.knowsHost(r.Host) {
			http.Error(w, "this server is not known by that name; the command line that starts it can allow it", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// knowsHost reports whether a Host header names this server. A page of another site can have its own name resolve to this
// machine, and then reads what it is sent; it cannot do so with an address or with localhost.
func (s *Server) knowsHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || slices.Contains(s.Hosts, host)
}

// sessionCookie is the cookie of a reader who has given the token.
const sessionCookie = "annotator-session"

// sessionOf returns the value of that cookie. It does not tell the token.
func sessionOf(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(sessionCookie))
	return hex.EncodeToString(mac.Sum(nil))
}

// authorise lets only readers who know the token pass: by the header Authorization, or by the cookie of the form.
func (s *Server) authorise(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isOpen := s.Token == "" || strings.HasPrefix(r.URL.Path, "/static/") || r.URL.Path == "/sign-in"
		if isOpen || s.isAuthorised(r) {
			next.ServeHTTP(w, r)
			return
		}
		back := r.URL.RequestURI()
		if r.Method != http.MethodGet { // what was sent is lost, the limit is not
			back = (&url.URL{Path: "/", RawQuery: r.URL.RawQuery}).String()
		}
		s.askToken(w, r, signing{Back: back})
	})
}

// signing is the form that asks for the token.
type signing struct {
	Wrong bool   // the token that was given
	Back  string // the page that was asked for
}

func (s *Server) askToken(w http.ResponseWriter, r *http.Request, form signing) {
	s.write(&request{Request: r, w: w}, &page{template: "signin", Title: "Sign in", status: http.StatusUnauthorized, Data: form})
}

// ownPage returns the address of a page of this server that a form names; the first page for anything else.
func ownPage(named string) string {
	back, err := url.Parse(named)
	if err != nil || back.Host != "" || back.Scheme != "" || back.Opaque != "" || !strings.HasPrefix(back.Path, "/") ||
		strings.HasPrefix(back.Path, "//") || strings.Contains(named, "\\") {
		return "/"
	}
	return (&url.URL{Path: back.Path, RawPath: back.RawPath, RawQuery: back.RawQuery}).String()
}

func (s *Server) isAuthorised(r *http.Request) bool {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return same(sessionOf(token), s.session)
	}
	c, err := r.Cookie(sessionCookie)
	return err == nil && same(c.Value, s.session)
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// signIn checks the token that a form sends.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	if !same(sessionOf(strings.TrimSpace(r.PostFormValue("token"))), s.session) {
		s.askToken(w, r, signing{true, ownPage(r.PostFormValue("back"))})
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: s.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	http.Redirect(w, r, ownPage(r.PostFormValue("back")), http.StatusSeeOther)
}

// contextOf returns the context of every request, which ends with the server's.
func contextOf(ctx context.Context) func(net.Listener) context.Context {
	return func(net.Listener) context.Context { return ctx }
}

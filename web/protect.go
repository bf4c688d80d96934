package web

import (
	"cmp"
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

// policy restricts pages to resources of this server, without inline scripts.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// protect adds headers to all answers. It checks the host name, the origin of forms, the size of bodies, and the token.
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
		if !s.isOwnHost(r.Host) {
			http.Error(w, "this server is not known by that name; the command line that starts it can allow it",
				http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isOwnHost reports whether a Host header names this server. The check prevents DNS rebinding: the name of another site
// may resolve to this machine. An address or localhost cannot.
func (s *Server) isOwnHost(host string) bool {
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

// sessionOf returns the value of that cookie. It does not reveal the token.
func sessionOf(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(sessionCookie))
	return hex.EncodeToString(mac.Sum(nil))
}

// authorise requires the token, in the header Authorization, or the session cookie. A shared link is enough for the
// pages of its database.
func (s *Server) authorise(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isOpen := s.Token == "" || strings.HasPrefix(r.URL.Path, "/static/") || r.URL.Path == "/sign-in" ||
			r.URL.Path == healthPath
		if isOpen || s.isAuthorised(r) {
			next.ServeHTTP(w, r)
			return
		}
		if s.mayShare(r) {
			if !s.keepShare(w, r) {
				next.ServeHTTP(w, r)
			}
			return
		}
		back := r.URL.RequestURI()
		if r.Method != http.MethodGet { // the form is lost, the limit is kept
			back = (&url.URL{Path: "/", RawQuery: r.URL.RawQuery}).String()
		}
		s.askToken(w, r, signInForm{Back: back})
	})
}

// signInForm is the form that asks for the token.
type signInForm struct {
	Wrong bool   // the token that was given
	Back  string // the requested page
}

func (s *Server) askToken(w http.ResponseWriter, r *http.Request, form signInForm) {
	s.write(&request{Request: r, w: w}, &page{
		template: "signin", Title: "Sign in", status: http.StatusUnauthorized,
		Data: form,
	})
}

// localURL parses the address of a page of this server; nil for any other address.
func localURL(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil || u.Host != "" || u.Scheme != "" || u.Opaque != "" || !strings.HasPrefix(u.Path, "/") ||
		strings.HasPrefix(u.Path, "//") || strings.Contains(u.Path, "\\") || strings.Contains(address, "\\") {
		return nil
	}
	return &url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}
}

// returnURL returns the page from which a form was sent; the first page for an address of another server.
func returnURL(address string) string { return cmp.Or(localURL(address), &url.URL{Path: "/"}).String() }

func (s *Server) isAuthorised(r *http.Request) bool {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return same(sessionOf(token), s.session)
	}
	c, err := r.Cookie(sessionCookie)
	return err == nil && same(c.Value, s.session)
}

// same compares secrets in constant time.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// signIn checks the token that a form sends.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	if !same(sessionOf(strings.TrimSpace(r.PostFormValue("token"))), s.session) {
		s.askToken(w, r, signInForm{true, returnURL(r.PostFormValue("back"))})
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: s.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil,
	})
	http.Redirect(w, r, returnURL(r.PostFormValue("back")), http.StatusSeeOther)
}

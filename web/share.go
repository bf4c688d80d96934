package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"annotator/view"
)

// shareName is the query parameter of a shared link, and the cookie that keeps its value. The value is a limit with a
// signature. It opens the pages of one database without the token, up to the limit.
const shareName = "share"

// ShareKeySize is the size of Database.ShareKey, in bytes.
const ShareKeySize = 32

// SharedPath returns the path and the query of a shared link to a database, up to a limit.
func SharedPath(name string, key []byte, limit view.Point) string {
	values := url.Values{shareName: {signed(key, limit)}}
	return "/" + url.PathEscape(name) + "/?" + values.Encode()
}

// signed returns a limit with its signature.
func signed(key []byte, limit view.Point) string {
	point := limit.String()
	return point + "~" + signature(key, point)
}

// sharePage offers a link to a page for readers without the token.
type sharePage struct {
	Link string // to the page, up to the limit
	Here string // how far the link shows the story
	Back string // the page
}

// showShare offers a link to the page that it was opened from, up to how far the reader has read.
func showShare(r *request) (*page, error) {
	if !r.canShare() {
		return nil, notFound()
	}
	limit, err := r.shareLimit()
	if err != nil {
		return nil, err
	}
	shown := &sharePage{Back: r.back()}
	if shown.Here, err = r.placeLabel(); err != nil {
		return nil, err
	}
	to, err := url.Parse(shown.Back)
	if err != nil {
		return nil, notFound()
	}
	if !strings.HasPrefix(to.EscapedPath(), "/"+url.PathEscape(r.db.Name)+"/") {
		to = &url.URL{Path: "/" + r.db.Name + "/"}
	}
	values := to.Query()
	values.Del(asOf)
	values.Set(shareName, signed(r.db.ShareKey, limit))
	to.Scheme, to.Host, to.RawQuery = "http", r.Host, values.Encode()
	if r.TLS != nil {
		to.Scheme = "https"
	}
	shown.Link = to.String()
	return &page{template: "share", Title: "Share", Section: "share", Data: shown}, nil
}

// canShare reports whether the reader can make links: with the token, where links are signed.
func (r *request) canShare() bool {
	s := r.db.server
	return r.db.ShareKey != nil && s.Token != "" && s.isAuthorised(r.Request)
}

// shareLimit returns the limit of a link: that of the reader, or of the server, or the last scene that there is now.
func (r *request) shareLimit() (view.Point, error) {
	if r.limit.point != "" && r.limit.point != noLimit {
		return view.ParsePoint(r.limit.point)
	}
	if r.db.bounded() {
		return r.db.Point, nil
	}
	n, err := r.view.lastScene(r.Context())
	if n == 0 {
		return view.Point{Kind: view.PointStart}, err
	}
	return view.Point{Kind: view.PointScene, ID: int64(n)}, err
}

// ShareLink returns the address that offers a link to the page; empty if there can be none.
func (p *page) ShareLink() string {
	if p.Method != http.MethodGet || p.Section == "share" || p.Section == "where" || p.status != 0 || !p.canShare() {
		return ""
	}
	return p.Link("share", "?", "back", p.back())
}

// signature returns the signature of a limit.
func signature(key []byte, point string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("annotator share\x00" + point))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// sharedPoint returns the limit of a shared link. It reports false unless the value was signed with the key.
func sharedPoint(key []byte, value string) (view.Point, bool) {
	point, signed, _ := strings.Cut(value, "~")
	if len(key) != ShareKeySize || !same(signed, signature(key, point)) {
		return view.Point{}, false
	}
	p, err := view.ParsePoint(point)
	return p, err == nil
}

// shared returns the limit of a reader who has a shared link to a database in place of the token.
func (d *servedDatabase) shared(r *http.Request) (view.Point, bool) {
	if p, ok := sharedPoint(d.ShareKey, r.URL.Query().Get(shareName)); ok {
		return p, true
	}
	if c, err := r.Cookie(shareName); err == nil {
		if value, err := url.QueryUnescape(c.Value); err == nil {
			return sharedPoint(d.ShareKey, value)
		}
	}
	return view.Point{}, false
}

// mayShare reports whether a shared link is enough for a request: it reads pages of the database and sets its limit. It
// asks no model and verifies nothing.
func (s *Server) mayShare(r *http.Request) bool {
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if r.Method != http.MethodGet && r.Method != http.MethodHead && rest != "limit" {
		return false
	}
	for _, d := range s.served {
		if d.Name == name {
			_, ok := d.shared(r)
			return ok
		}
	}
	return false
}

// boundedFor returns the database as the reader of a request is shown it. With a shared link in place of the token, its
// limit is that of the link. A link that names no point of the story shows nothing.
func (d *servedDatabase) boundedFor(r *http.Request) (*servedDatabase, error) {
	if d.server.Token == "" || d.server.isAuthorised(r) {
		return d, nil
	}
	p, ok := d.shared(r)
	if !ok {
		return nil, notFound()
	}
	limit, err := d.all().LimitAt(r.Context(), p)
	if err != nil {
		return nil, err
	}
	database := *d.Database
	database.Limit, database.Point = limit, p
	return &servedDatabase{
		Database: &database, server: d.server, live: d.live, verify: d.verify, editing: d.editing, review: d.review,
	}, nil
}

// keepShare stores the value of a shared link in a cookie, and redirects to the address without it: links of pages do
// not carry it. It reports whether it has answered.
func (s *Server) keepShare(w http.ResponseWriter, r *http.Request) bool {
	values := r.URL.Query()
	value := values.Get(shareName)
	if value == "" || r.Method != http.MethodGet {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	http.SetCookie(w, &http.Cookie{
		Name: shareName, Value: url.QueryEscape(value), Path: "/" + name + "/", MaxAge: cookieAge, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil,
	})
	values.Del(shareName)
	to := &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: values.Encode()}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
	return true
}
